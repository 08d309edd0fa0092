"""OpenAI's Responses API, as Codex uses it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from livehosts.model_request import (
    CALL,
    RESULT,
    WORDS,
    ModelRequest,
    OfferedTool,
    RequestPart,
    as_text,
    content_parts,
)
from livehosts.reply import ModelReply

SEARCHED = "tool_search_output"  # which tools Codex found; it offers those of MCP servers only then


def read(path: str, body: Mapping[str, Any]) -> ModelRequest:
    return ModelRequest(
        "responses", path, body, tuple(_parts(body)), tuple(_tools(body)), bool(body.get("stream"))
    )


def _tools(body: Mapping[str, Any]) -> Iterator[OfferedTool]:
    """Yield the tools of a request, and those that the model has found with `tool_search`."""
    found = [item.get("tools") or () for item in body.get("input") or () if item.get("type") == SEARCHED]
    for tool in [*(body.get("tools") or ()), *(tool for tools in found for tool in tools)]:
        if tool.get("type") == "namespace":  # the tools of an MCP server, below the server's name
            for inner in tool.get("tools") or ():
                yield OfferedTool(
                    f"{tool.get('name')}{inner.get('name')}", {**inner, "namespace": tool.get("name")}
                )
        else:
            yield OfferedTool(str(tool.get("name") or tool.get("type")), tool)


def _parts(body: Mapping[str, Any]) -> Iterator[RequestPart]:
    yield from content_parts("system", body.get("instructions"))
    for item in body.get("input") or ():
        kind = str(item.get("type") or "message")
        if kind == "message":
            yield from content_parts(str(item.get("role")), item.get("content"))
        elif kind == SEARCHED:
            yield RequestPart("user", WORDS, json.dumps(item.get("tools")))
        elif kind.endswith("_output"):
            yield RequestPart("user", RESULT, as_text(item.get("output")), str(item.get("call_id")))
        elif kind.endswith("_call"):
            given = item.get("arguments", item.get("input", item.get("action")))
            yield RequestPart("assistant", CALL, as_text(given), str(item.get("name") or kind))


def answer(request: ModelRequest, reply: ModelReply) -> bytes:
    """Return the response's body, a stream of events."""
    number = f"{request.number:06d}"
    items: list[dict[str, Any]] = []
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        items.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content})
    if reply.tool:
        items.append(_call(request, reply, number))
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 110,
    }
    response = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": items}
    if not request.streamed:
        return json.dumps({**response, "usage": usage}).encode()
    started = {"id": response["id"], "status": "in_progress"}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": started}]
    for index, item in enumerate(items):
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": item},
            {"type": "response.output_item.done", "output_index": index, "item": item},
        ]
    events.append({"type": "response.completed", "response": {**response, "usage": usage}})
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def _call(request: ModelRequest, reply: ModelReply, number: str) -> dict[str, Any]:
    offered = next((tool for tool in request.tools if tool.name == reply.tool), None)
    item: dict[str, Any] = {"id": f"fc_{number}", "call_id": f"call_{number}", "name": reply.tool}
    if reply.tool == "tool_search":
        found = {"type": "tool_search_call", "status": "completed", "execution": "client"}
        return {**found, "call_id": item["call_id"], "arguments": dict(reply.arguments or {})}
    if reply.custom_input is not None:
        return {**item, "type": "custom_tool_call", "input": reply.custom_input}
    if offered and (namespace := offered.definition.get("namespace")):
        item |= {"name": offered.definition["name"], "namespace": namespace}
    return {**item, "type": "function_call", "arguments": json.dumps(dict(reply.arguments or {}))}
