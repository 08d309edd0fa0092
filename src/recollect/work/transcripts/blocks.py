"""Messages as the Anthropic and OpenAI APIs write them: a role, and content as a string or in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recollect.work.transcripts.event import ASSISTANT, Event
from recollect.work.transcripts.fields import arguments, identifier, mapping, plain, string
from recollect.work.transcripts.reading import Place, Reading

_REASONING = {"thinking", "redacted_thinking", "reasoning", "reasoning_content"}
_CALLS = {"tool_use", "server_tool_use", "mcp_tool_use"}


def tell(
    content: Any, author: str, place: Place, reading: Reading, *, injected: bool = False, spare: str = ""
) -> Iterator[Event]:
    """What a message holds, block by block. `spare` is the answer where an answer's own block is empty."""
    if not isinstance(content, list):
        content = [content]
    for block in content:
        if isinstance(block, str):
            yield from reading.said(place, author, block, injected=injected)
            continue
        if block is None:
            reading.leave_out("no content")
            continue
        if not isinstance(block, dict):
            reading.skip(f"unknown content {str(block)[:40]!r}")
            continue
        kind = string(block.get("type"))
        if kind in _CALLS:
            call = identifier(block.get("id"))
            yield reading.called(place, string(block.get("name")), arguments(block.get("input")), call)
        elif kind.endswith("tool_result"):
            call = identifier(block.get("tool_use_id"))
            failed = block.get("is_error")
            answer = plain(block.get("content")) or spare
            yield reading.answered(place, answer, call, failed if isinstance(failed, bool) else None)
        elif kind in _REASONING:
            reading.leave_out("reasoning")
        else:
            yield from reading.said(place, author, plain([block]), injected=injected)


def tell_calls(message: Mapping[str, Any], place: Place, reading: Reading) -> Iterator[Event]:
    """OpenAI keeps calls beside the content."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = mapping(mapping(call).get("function"))
        name, given = string(function.get("name")), arguments(function.get("arguments"))
        yield reading.called(place, name, given, identifier(mapping(call).get("id")))
    older = mapping(message.get("function_call"))
    if older:
        yield reading.called(
            place, string(older.get("name")), arguments(older.get("arguments")), author=ASSISTANT
        )
