"""Lossless conversion from and to messages of OpenAI's chat API. The SDK is not needed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import recollect.model as m
from recollect.errors import Refused
from recollect.work.window.forms import (
    OPENAI,
    PLAIN,
    arguments,
    by_message,
    messages_in,
    name_for_api,
    role_of,
)
from recollect.work.window.item import (
    ContentPart,
    ContextItem,
    Image,
    ItemType,
    Other,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    readable,
    token_count,
)

_TYPES = {
    "system": ItemType.SYSTEM,
    "developer": ItemType.SYSTEM,
    "user": ItemType.USER,
    "assistant": ItemType.ASSISTANT,
    "tool": ItemType.TOOL_RESULT,
}
_LONGEST_CALL, _LONGEST_NAME = 40, 64
_IN_PARTS = (
    "content",
    "tool_calls",
    "tool_call_id",
)  # fields that become parts; all others are kept as they are
_LISTED = "content"  # a key in an item's fields: a content that was neither a text nor a list


def items_of(messages: Sequence[Any], now: datetime, task: str | None = None) -> list[ContextItem]:
    """Return one item per message. Raise `Refused` for an invalid message."""
    return [_item(message, now, task) for message in messages_in(messages)]


def messages_of(items: Iterable[ContextItem]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for group in by_message(items, OPENAI):
        if role_of(group[0]) == "assistant":
            messages += [message for item in group if (message := _assistant(item))]
            continue
        for item in group:
            if item.answers:
                messages.append(_tool(item))
            elif message := _user_or_system(item):
                messages.append(message)
    return messages


def _item(message: Mapping[str, Any], now: datetime, task: str | None) -> ContextItem:
    role, content = message["role"], message.get("content")
    if role not in _TYPES:
        raise Refused(
            f"OpenAI's API has no role {role!r}.",
            "Use `tool` instead of `function`.",
        )
    fields = {name: value for name, value in message.items() if name not in _IN_PARTS}
    if "content" in message and not isinstance(content, str | list):
        fields[_LISTED] = content
    if isinstance(content, str):
        fields[PLAIN] = True
        content = [{"type": "text", "text": content}] if content or role != "assistant" else []
    parts: list[ContentPart] = [_part(block) for block in content or []]
    if role == "tool":
        text = "\n".join(readable(part) for part in parts)
        result = ToolResult(message.get("tool_call_id", ""), text)
        parts = [result if fields.get(PLAIN) else ToolResult(result.call, text, raw={"content": content})]
    parts += [_call(call) for call in message.get("tool_calls") or []]
    return ContextItem(
        m.new_id(),
        _TYPES[role],
        tuple(parts),
        now,
        token_count(parts),
        task=task,
        sticky=_TYPES[role] is ItemType.SYSTEM,
        form=OPENAI,
        message=m.new_id(),
        fields=fields,
    )


def _part(block: Mapping[str, Any]) -> ContentPart:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text, None if block == _written(Text(text)) else block)
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return Image(url, None if block == _written(Image(url)) else block)
        case _:
            return Other(block)


def _call(call: Mapping[str, Any]) -> ToolCall:
    match call:
        case {"id": str(name), "type": "function", "function": {"name": str(tool), "arguments": str(text)}}:
            parsed = ToolCall(name, tool, arguments(text))
        case {"id": str(name), "custom": {"name": str(tool), "input": str(text)}}:
            parsed = ToolCall(name, tool, {"input": text})
        case _:
            raise Refused(
                "A tool call in the list lacks an id, a name or arguments.", "Pass it as the API returned it."
            )
    return parsed if _written(parsed) == call else ToolCall(parsed.id, parsed.name, parsed.input, raw=call)


def _assistant(item: ContextItem) -> dict[str, Any] | None:
    """Return the message of a response, or None if nothing is left in it."""
    blocks, calls = [], []
    for part in item.parts:
        if isinstance(part, ToolCall):
            calls.append(_block(part, item))
        elif block := _block(part, item):
            blocks.append(block)
    fields = item.fields if item.form == OPENAI else {"role": "assistant", PLAIN: True}
    message = {name: value for name, value in fields.items() if name not in (PLAIN, _LISTED)}
    texts = [block["text"] for block in blocks if block.keys() == {"type", "text"}]
    if blocks:
        is_text = fields.get(PLAIN) and len(texts) == len(blocks)
        message["content"] = "\n".join(texts) if is_text else blocks
    elif _LISTED in fields or (calls and item.form != OPENAI):
        message["content"] = None
    elif fields.get(PLAIN):
        message["content"] = ""
    if calls:
        message["tool_calls"] = calls
    return message if blocks or calls or message.keys() - {"role", "content"} else None


def _tool(item: ContextItem) -> dict[str, Any]:
    result = next(part for part in item.parts if isinstance(part, ToolResult))
    ours = item.form == OPENAI
    content = result.raw["content"] if ours and result.raw else result.text
    others = (
        {name: value for name, value in item.fields.items() if name != PLAIN} if ours else {"role": "tool"}
    )
    call = result.call if ours else name_for_api(result.call, _LONGEST_CALL)
    return {**others, "tool_call_id": call, "content": content}


def _user_or_system(item: ContextItem) -> dict[str, Any] | None:
    """Return the message of an item, or None if nothing is left in it."""
    blocks = [block for part in item.parts if (block := _block(part, item))]
    fields = item.fields if item.form == OPENAI else {"role": role_of(item), PLAIN: True}
    message = {name: value for name, value in fields.items() if name not in (PLAIN, _LISTED)}
    texts = [block["text"] for block in blocks if block.keys() == {"type", "text"}]
    if not blocks:
        return {**message, "content": ""} if item.form == OPENAI else None
    is_text = fields.get(PLAIN) and len(texts) == len(blocks)
    return {**message, "content": "\n".join(texts) if is_text else blocks}


def _block(part: ContentPart, item: ContextItem) -> dict[str, Any] | None:
    """Return a part as a block, or None if this API has no such block or would reject it."""
    if item.form == OPENAI and part.raw is not None:
        return dict(part.raw)
    match part:
        case Thought():
            return None
        case Other():
            return _written(Text(readable(part)))
        case Image() if item.type is not ItemType.USER:
            return _written(Text(readable(part)))
        case ToolCall(name, tool, given):
            return _written(
                ToolCall(name_for_api(name, _LONGEST_CALL), name_for_api(tool, _LONGEST_NAME), given)
            )
        case Text(text) if item.form != OPENAI and not text.strip():
            return None
        case _:
            return _written(part)


def _written(part: ContentPart) -> dict[str, Any] | None:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(url):
            return {"type": "image_url", "image_url": {"url": url}}
        case ToolCall(name, tool, given):
            function = {"name": tool, "arguments": json.dumps(given, ensure_ascii=False)}
            return {"id": name, "type": "function", "function": function}
    return None
