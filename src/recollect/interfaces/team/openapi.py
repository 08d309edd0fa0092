"""The OpenAPI document of the server, made from the table of operations."""

from typing import Any

from pydantic import TypeAdapter

from recollect import __version__
from recollect.remote.operations import OPERATIONS, Operation
from recollect.remote.wire import ACTOR_HEADER, API, IDEMPOTENCY_HEADER, PREFIX, ClientVectors, Place

_REF = "#/components/schemas/{model}"
ERRORS = {
    "400": "The request is not valid JSON or has other fields than these.",
    "401": "The token is missing, unknown, expired or revoked.",
    "403": "The token, the role or the project does not allow it.",
    "404": "There is no such thing that the caller may see.",
    "409": "It is refused, or the idempotency key was used for another request.",
    "413": "The body is too large.",
    "424": "The client makes the vectors and has to send more of them.",
    "422": "The arguments are not valid, or the text may not be stored.",
    "426": "The client is too old for this server.",
    "429": "A limit is reached for now.",
    "503": "The database does not answer.",
}


def document() -> dict[str, Any]:
    """Return the document."""
    schemas: dict[str, Any] = {
        "Error": {
            "type": "object",
            "required": ["error"],
            "properties": {
                "error": {
                    "type": "object",
                    "required": ["type", "message", "hint"],
                    "properties": {name: {"type": "string"} for name in ("type", "message", "hint")},
                }
            },
        }
    }
    paths = {
        f"{PREFIX}/{operation.name}": {"post": _route(operation, schemas)}
        for operation in OPERATIONS.values()
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Recollect team server",
            "version": __version__,
            "description": f"Memories that a team shares. Version {API} of the interface.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _route(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    arguments = _schema(TypeAdapter(operation.arguments), "validation", schemas)
    result = _schema(operation.result, "serialization", schemas)
    place = _schema(TypeAdapter(Place), "validation", schemas)
    vectors = _schema(TypeAdapter(ClientVectors | None), "validation", schemas)
    body = {
        "type": "object",
        "additionalProperties": False,
        "required": ["arguments"],
        "properties": {"place": place, "arguments": arguments, "vectors": vectors},
    }
    headers = [_header(ACTOR_HEADER, "agent:NAME if one of the person's agents acts; user by default")]
    if operation.is_write:
        headers.append(_header(IDEMPOTENCY_HEADER, "the same for each attempt: it is written once"))
    answers: dict[str, Any] = {"200": {"description": "The result.", "content": _json(result)}}
    for status, why in ERRORS.items():
        answers[status] = {"description": why, "content": _json({"$ref": "#/components/schemas/Error"})}
    return {
        "operationId": operation.name,
        "summary": operation.description.partition(". ")[0].rstrip(".") + ".",
        "description": f"{operation.description}\n\nThe token must allow: {operation.action}.",
        "parameters": headers,
        "requestBody": {"required": True, "content": _json(body)},
        "responses": answers,
    }


def _header(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "string", "maxLength": 100, "pattern": "^[!-~]*$"}
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}


def _json(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _schema(adapter: "TypeAdapter[Any]", mode: Any, schemas: dict[str, Any]) -> Any:
    found = adapter.json_schema(mode=mode, ref_template=_REF)
    schemas |= {name: value for name, value in found.pop("$defs", {}).items() if name not in schemas}
    return found
