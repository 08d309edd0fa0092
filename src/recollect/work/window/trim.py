"""A single item that is too large, cut short; the whole of it can be had again by its id."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recollect.text import tokens
from recollect.work.window.item import (
    OVERHEAD,
    Call,
    ContextItem,
    Image,
    Other,
    Part,
    Result,
    Text,
    Thought,
    short,
    weigh,
)
from recollect.work.window.outputs import cut


def trimmed(item: ContextItem, most: int, restorable: bool = True) -> ContextItem:
    """With about `most` tokens, in the same parts: an API sees the same calls and results, only shorter."""
    note = f"[shortened; the whole is {short(item.id)}]" if restorable else "[shortened]"
    room = most - OVERHEAD
    shrunk = item
    for _ in range(4):  # names and brackets weigh too, so it may take another try
        shrunk = item.having(
            _trimmed(part, max(room, 1) * weigh((part,)) // item.tokens, note) for part in item.parts
        )
        if shrunk.tokens <= most:
            break
        room -= shrunk.tokens - most + 4
    return replace(shrunk, cut=True)


def _trimmed(part: Part, budget: int, note: str) -> Part:
    match part:
        case Text(text):
            return Text(cut(text, budget, note)) if tokens.count(text) > budget else part
        case Result(call, text, failed):
            return Result(call, cut(text, max(budget - OVERHEAD, 1), note), failed)
        case Call(name, tool, given):
            longest = max(1, len(list(_strings(given))))
            return Call(name, tool, _shorter(given, max(budget - OVERHEAD, 1) // longest))
        case Image() | Other() | Thought():
            return part if weigh((part,)) <= budget else Text(note)


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [each for inner in value.values() for each in _strings(inner)]
    return [each for inner in value for each in _strings(inner)] if isinstance(value, list) else []


def _shorter(value: Any, budget: int) -> Any:
    """With every text in it clipped, and a list of many things left as its first."""
    if isinstance(value, str):
        return tokens.clip(value, budget)
    if isinstance(value, Mapping):
        return {name: _shorter(each, budget) for name, each in value.items()}
    if isinstance(value, list):
        return [_shorter(each, budget) for each in value[:20]]
    return value
