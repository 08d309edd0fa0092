"""Shorten a single item that is too large. The whole text stays available by its id."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recollect.text import tokens
from recollect.text.redact import redact
from recollect.work.window.item import (
    OVERHEAD,
    ContentPart,
    ContextItem,
    Image,
    Other,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    short,
    token_count,
)
from recollect.work.window.outputs import cut


def trimmed(item: ContextItem, most: int, restorable: bool = True) -> ContextItem:
    """Return an item of about `most` tokens with the same parts: an API sees the same calls and results, shortened."""
    note = f"[shortened; the whole text is {short(item.id)}]" if restorable else "[shortened]"
    room = most - OVERHEAD
    shrunk = item
    for _ in range(4):  # names and brackets take tokens too, so one pass may not be enough
        shrunk = item.with_parts(
            _trimmed(part, max(room, 1) * token_count((part,)) // item.tokens, note) for part in item.parts
        )
        if shrunk.tokens <= most:
            break
        room -= shrunk.tokens - most + 4
    return replace(shrunk, cut=True)


def _trimmed(part: ContentPart, budget: int, note: str) -> ContentPart:
    match part:
        case Text(text):
            return Text(cut(text, budget, note)) if tokens.count(text) > budget else part
        case ToolResult(call, text, failed):
            return ToolResult(call, cut(text, max(budget - OVERHEAD, 1), note), failed)
        case ToolCall(name, tool, given):
            longest = max(1, len(list(_strings(given))))
            return ToolCall(name, tool, _shorter(given, max(budget - OVERHEAD, 1) // longest))
        case Image() | Other() | Thought():
            return part if token_count((part,)) <= budget else Text(note)


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for inner in value.values() for text in _strings(inner)]
    return [text for inner in value for text in _strings(inner)] if isinstance(value, list) else []


def _shorter(value: Any, budget: int) -> Any:
    """Return `value` with every text clipped, without its secrets, and lists cut to their first 20 entries."""
    if isinstance(value, str):
        return value if tokens.fits(value, budget) else tokens.clip(redact(value)[0], budget)
    if isinstance(value, Mapping):
        return {name: _shorter(item, budget) for name, item in value.items()}
    if isinstance(value, list):
        return [_shorter(item, budget) for item in value[:20]]
    return value
