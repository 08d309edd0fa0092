"""OpenAI's chat completions, as OpenCode uses them."""

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
    tools = tuple(
        OfferedTool(str(tool["function"]["name"]), tool["function"]) for tool in body.get("tools") or ()
    )
    return ModelRequest("chat", path, body, tuple(_parts(body)), tools, bool(body.get("stream")))


def _parts(body: Mapping[str, Any]) -> Iterator[RequestPart]:
    for message in body.get("messages") or ():
        author, content = str(message.get("role")), message.get("content")
        if author == "tool":
            yield RequestPart("user", RESULT, as_text(content), str(message.get("tool_call_id")))
            continue
        yield from content_parts(author, content)
        for call in message.get("tool_calls") or ():
            function = call.get("function") or {}
            yield RequestPart(author, CALL, str(function.get("arguments")), str(function.get("name")))


def answer(request: ModelRequest, reply: ModelReply) -> bytes:
    """Return the response's body: a stream of chunks, or one completion."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.tool:
        function = {"name": reply.tool, "arguments": json.dumps(dict(reply.arguments or {}))}
        message["tool_calls"] = [
            {"index": 0, "id": f"call_{request.number:06d}", "type": "function", "function": function}
        ]
    finish = "tool_calls" if reply.tool else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    common = {
        "id": f"chat_{request.number:06d}",
        "created": int(request.at),
        "model": request.body.get("model"),
    }
    if not request.streamed:
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return json.dumps(
            {**common, "object": "chat.completion", "choices": [choice], "usage": usage}
        ).encode()
    common["object"] = "chat.completion.chunk"
    chunks: list[dict[str, Any]] = [
        {**common, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**common, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**common, "choices": [], "usage": usage},
    ]
    return ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n").encode()
