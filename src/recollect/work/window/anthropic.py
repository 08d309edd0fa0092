"""Lossless conversion from and to messages of Anthropic's API. The SDK is not needed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import groupby
from typing import Any

import recollect.model as m
from recollect.errors import Refused
from recollect.work.window.forms import ANTHROPIC, PLAIN, by_message, messages_in, name_for_api, role_of
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

MOST_MARKERS = 4  # cache markers that a request may have
_TYPES = {"user": ItemType.USER, "assistant": ItemType.ASSISTANT, "system": ItemType.SYSTEM}
_LONGEST_NAME = 64
_DATA = "data:"


def items_of(messages: Sequence[Any], now: datetime, task: str | None = None) -> list[ContextItem]:
    """Return one item per message and one per tool result. Raise `Refused` for an invalid message."""
    return [item for message in messages_in(messages) for item in _items(message, now, task)]


def messages_of(items: Iterable[ContextItem]) -> list[dict[str, Any]]:
    """Return items as messages, without the system prompt (see `system_of`) and with the newest cache markers only."""
    listed = list(items)
    groups = by_message((item for item in listed if not _is_prompt(item)), ANTHROPIC)
    messages = [message for group in groups if (message := _message(group))]
    if messages and messages[-1]["role"] == "assistant":
        _strip_end(messages[-1])
    return _with_markers(messages, MOST_MARKERS - _markers(system_of(listed)))


def system_of(items: Iterable[ContextItem]) -> str | list[dict[str, Any]]:
    """Return the parameter `system`: a text, or blocks if one of them has a cache marker."""
    blocks = [
        block for item in items if _is_prompt(item) for part in item.parts if (block := _block(part, item))
    ]
    if all(block.keys() == {"type", "text"} for block in blocks):
        return "\n\n".join(block["text"] for block in blocks)
    return blocks


def _is_prompt(item: ContextItem) -> bool:
    """Return whether this is the system prompt, not a system message between the others."""
    return item.type is ItemType.SYSTEM and item.form != ANTHROPIC


def _items(message: Mapping[str, Any], now: datetime, task: str | None) -> Iterator[ContextItem]:
    role, content = message["role"], message.get("content")
    if role not in _TYPES:
        raise Refused(
            f"Anthropic's API has no role {role!r}.", "For messages of OpenAI's API, pass form='openai'."
        )
    fields = {name: value for name, value in message.items() if name not in ("role", "content")}
    if isinstance(content, str):
        fields[PLAIN] = True
        content = [{"type": "text", "text": content}]
    parts = [_part(block) for block in content or []]
    message_id = m.new_id()
    for number, group in groupby(
        enumerate(parts), lambda pair: pair[0] if isinstance(pair[1], ToolResult) else -1
    ):
        of_item = tuple(part for _, part in group)
        yield ContextItem(
            m.new_id(),
            ItemType.TOOL_RESULT if number >= 0 else _TYPES[role],
            of_item,
            now,
            token_count(of_item),
            task=task,
            sticky=role == "system",
            form=ANTHROPIC,
            message=message_id,
            fields=fields,
        )


def _part(block: Mapping[str, Any]) -> ContentPart:
    part: ContentPart
    match block:
        case {"type": "text", "text": str(text)}:
            part = Text(text)
        case {"type": "image", "source": {"type": "base64", "media_type": str(kind), "data": str(data)}}:
            part = Image(f"{_DATA}{kind};base64,{data}")
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            part = Image(url)
        case {"type": "tool_use", "id": str(name), "name": str(tool), "input": given}:
            part = ToolCall(name, tool, given)
        case {"type": "tool_result", "tool_use_id": str(call)}:
            part = ToolResult(call, _text_in(block.get("content")), bool(block.get("is_error")))
        case {"type": "thinking" | "redacted_thinking"}:
            return Thought(block)
        case _:
            return Other(block)
    return part if _written(part) == block else type(part)(**{**_values(part), "raw": block})


def _values(part: ContentPart) -> dict[str, Any]:
    return {field.name: getattr(part, field.name) for field in fields(part)}


def _text_in(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content or []
    return "\n".join(text for block in blocks if (text := readable(_part(block))))


def _message(group: Sequence[ContextItem]) -> dict[str, Any] | None:
    """Return the message of a group of items, or None if nothing is left in it."""
    first = group[0]
    pairs = ((part, item) for item in group for part in item.parts)
    blocks = [block for part, item in pairs if (block := _block(part, item))]
    if not blocks:
        return None
    fields = first.fields if first.form == ANTHROPIC else {PLAIN: True}
    content = blocks[0]["text"] if fields.get(PLAIN) and _is_plain(blocks) else blocks
    others = (
        {name: value for name, value in fields.items() if name != PLAIN} if first.form == ANTHROPIC else {}
    )
    return {"role": role_of(first), "content": content, **others}


def _is_plain(blocks: Sequence[Mapping[str, Any]]) -> bool:
    return len(blocks) == 1 and blocks[0].keys() == {"type", "text"}


def _block(part: ContentPart, item: ContextItem) -> dict[str, Any] | None:
    """Return a part as a block, or None if this API has no such block or would reject it."""
    if isinstance(part, Text) and not part.text.strip():
        return None
    if item.form == ANTHROPIC and part.raw is not None:
        return dict(part.raw)
    match part:
        case Thought():
            return None
        case Other():
            return _written(Text(readable(part)))
        case ToolCall(name, tool, given):
            return _written(ToolCall(name_for_api(name, 128), name_for_api(tool, _LONGEST_NAME), given))
        case ToolResult(call, text, failed):
            return _written(ToolResult(name_for_api(call, 128), text, failed))
        case _:
            return _written(part)


def _written(part: ContentPart) -> dict[str, Any] | None:
    match part:
        case Text(text):
            return {"type": "text", "text": text} if text.strip() else None
        case Image(url) if url.startswith(_DATA):
            kind, _, data = url.removeprefix(_DATA).partition(";base64,")
            return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
        case Image(url):
            return {"type": "image", "source": {"type": "url", "url": url}}
        case ToolCall(name, tool, given):
            return {"type": "tool_use", "id": name, "name": tool, "input": dict(given)}
        case ToolResult(call, text, failed):
            block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": text}
            return block | {"is_error": True} if failed else block
    return None


def _strip_end(message: dict[str, Any]) -> None:
    """Remove trailing white space: the API rejects it in an answer that the model is to continue."""
    content = message["content"]
    if isinstance(content, str):
        message["content"] = content.rstrip()
    elif content[-1]["type"] == "text":
        content[-1]["text"] = content[-1]["text"].rstrip()


def _markers(blocks: str | Sequence[Mapping[str, Any]]) -> int:
    return 0 if isinstance(blocks, str) else sum("cache_control" in block for block in blocks)


def _with_markers(messages: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Keep the newest `most` cache markers."""
    for message in reversed(messages):
        content = message["content"]
        if isinstance(content, str):
            continue
        for block in reversed(content):
            if "cache_control" in block:
                most -= 1
                if most < 0:
                    del block["cache_control"]  # safe: `_block` made this copy
    return messages
