"""Anthropic's Messages API, as Claude Code uses it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from livehosts.model_request import (
    CALL,
    RESULT,
    ModelRequest,
    OfferedTool,
    RequestPart,
    as_text,
    content_parts,
)
from livehosts.reply import ModelReply


def read(path: str, body: Mapping[str, Any]) -> ModelRequest:
    tools = tuple(OfferedTool(str(tool.get("name")), tool) for tool in body.get("tools") or ())
    return ModelRequest("anthropic", path, body, tuple(_parts(body)), tools, bool(body.get("stream")))


def _parts(body: Mapping[str, Any]) -> Iterator[RequestPart]:
    yield from content_parts("system", body.get("system"))
    for message in body.get("messages") or ():
        author, content = str(message.get("role")), message.get("content")
        for block in content if isinstance(content, list) else ({"type": "text", "text": content},):
            if block.get("type") == "tool_use":
                yield RequestPart(author, CALL, json.dumps(block.get("input")), str(block.get("name")))
            elif block.get("type") == "tool_result":
                yield RequestPart(
                    author, RESULT, as_text(block.get("content")), str(block.get("tool_use_id"))
                )
            else:
                yield from content_parts(author, [block])


def answer(request: ModelRequest, reply: ModelReply) -> bytes:
    """Return the response's body: a stream of events, or one message."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    if reply.tool:
        call = {"type": "tool_use", "id": f"toolu_{request.number:06d}", "name": reply.tool}
        blocks.append({**call, "input": dict(reply.arguments or {})})
    message = {
        "id": f"msg_{request.number:06d}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model"),
        "content": blocks,
        "stop_reason": "tool_use" if reply.tool else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }
    if not request.streamed:
        return json.dumps(message).encode()
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    ]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 10}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
