"""Gemini's generateContent and streamGenerateContent, as Gemini CLI uses them."""

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
        OfferedTool(str(function["name"]), function)
        for tool in body.get("tools") or ()
        for function in tool.get("functionDeclarations") or ()
    )
    return ModelRequest("gemini", path, body, tuple(_parts(body)), tools, "streamGenerateContent" in path)


def _parts(body: Mapping[str, Any]) -> Iterator[RequestPart]:
    yield from content_parts("system", (body.get("systemInstruction") or {}).get("parts"))
    for content in body.get("contents") or ():
        author = "assistant" if content.get("role") == "model" else "user"
        for part in content.get("parts") or ():
            if call := part.get("functionCall"):
                yield RequestPart(author, CALL, json.dumps(call.get("args")), str(call.get("name")))
            elif result := part.get("functionResponse"):
                answered = result.get("response") or {}
                yield RequestPart(
                    author, RESULT, as_text(answered.get("output", answered)), str(result.get("name"))
                )
            else:
                yield from content_parts(author, [part])


def answer(request: ModelRequest, reply: ModelReply) -> bytes:
    """Return the response's body: a stream with one event, or one response."""
    parts: list[dict[str, Any]] = [{"text": reply.text}] if reply.text else []
    if reply.tool:
        parts.append({"functionCall": {"name": reply.tool, "args": dict(reply.arguments or {})}})
    # Gemini CLI compresses no chat whose summary would have more tokens than this.
    prompt = len(json.dumps(request.body)) // 4
    response = {
        "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": parts}}],
        "usageMetadata": {
            "promptTokenCount": prompt,
            "candidatesTokenCount": 10,
            "totalTokenCount": prompt + 10,
        },
        "modelVersion": "scripted",
    }
    if not request.streamed:
        return json.dumps(response).encode()
    return f"data: {json.dumps(response)}\n\n".encode()
