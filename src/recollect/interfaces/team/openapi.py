"""The OpenAPI document of the server, made from the table of operations and the few routes beside it."""

from typing import Any

from pydantic import TypeAdapter

from recollect import __version__
from recollect.interfaces.team.bodies import JoinBody, SignInBody
from recollect.remote.operations import OPERATIONS, Operation
from recollect.remote.results import IdentityProvider, Joined
from recollect.remote.wire import ACTOR_HEADER, API, IDEMPOTENCY_HEADER, PREFIX, ClientVectors, Place

_REF = "#/components/schemas/{model}"
ERRORS = {
    "400": "The request is not valid JSON or has other fields than these.",
    "401": "The token is missing, unknown, expired or revoked.",
    "403": "The token, the role or the project does not allow it.",
    "404": "There is no such thing that the caller may see.",
    "408": "The body did not come in time.",
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
    paths |= _routes_without_operation(schemas)
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
    answers |= _errors()
    return {
        "operationId": operation.name,
        "summary": operation.description.partition(". ")[0].rstrip(".") + ".",
        "description": f"{operation.description}\n\nThe token must allow: {operation.action}.",
        "parameters": headers,
        "requestBody": {"required": True, "content": _json(body)},
        "responses": answers,
    }


def _routes_without_operation(schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the routes for signing in, live updates and whoever runs the server."""
    joined = _schema(TypeAdapter(Joined), "serialization", schemas)
    provider = _schema(TypeAdapter(IdentityProvider), "serialization", schemas)
    join, sign_in = (_schema(TypeAdapter(body), "validation", schemas) for body in (JoinBody, SignInBody))
    text = {"type": "string"}
    status = {"type": "object", "additionalProperties": {"type": ["string", "boolean"]}}
    return {
        f"{PREFIX}/join": {
            "post": _open_route(
                "join", "Exchange an invitation code for a token.", _json(joined), _json(join)
            )
        },
        f"{PREFIX}/sign-in": {
            "get": _open_route("provider", "Say where people sign in.", _json(provider)),
            "post": _open_route(
                "sign_in", "Exchange an ID token for a token.", _json(joined), _json(sign_in)
            ),
        },
        f"{PREFIX}/events": {
            "get": {
                **_open_route(
                    "events",
                    "Follow what changes, as server-sent events.",
                    {"text/event-stream": {"schema": text}},
                ),
                "security": [{"token": []}],
            }
        },
        "/health": {"get": _open_route("health", "Say that the process runs.", _json(status))},
        "/ready": {"get": _open_route("ready", "Say whether the database answers.", _json(status))},
        "/metrics": {
            "get": _open_route("metrics", "Return figures for Prometheus.", {"text/plain": {"schema": text}})
        },
    }


def _open_route(name: str, summary: str, result: Any, body: Any = None) -> dict[str, Any]:
    """Return a route that needs no token."""
    answers: dict[str, Any] = {"200": {"description": "The result.", "content": result}}
    if name == "ready":
        answers["503"] = {"description": ERRORS["503"], "content": result}
    elif name not in ("health", "metrics"):
        answers |= _errors()
    route: dict[str, Any] = {"operationId": name, "summary": summary, "security": [], "responses": answers}
    return route | ({"requestBody": {"required": True, "content": body}} if body else {})


def _errors() -> dict[str, Any]:
    content = _json({"$ref": "#/components/schemas/Error"})
    return {status: {"description": why, "content": content} for status, why in ERRORS.items()}


def _header(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "string", "maxLength": 100, "pattern": "^[!-~]*$"}
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}


def _json(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _schema(adapter: "TypeAdapter[Any]", mode: Any, schemas: dict[str, Any]) -> Any:
    found = adapter.json_schema(mode=mode, ref_template=_REF)
    schemas |= {name: value for name, value in found.pop("$defs", {}).items() if name not in schemas}
    return found
