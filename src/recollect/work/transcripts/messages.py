"""Messages with a role and content, as the APIs of Anthropic and OpenAI and Cursor have them.

A file is a list of them, lines, or `{"messages": […]}`; `LiveMessages` reads a conversation that is still going on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recollect.work.transcripts.document import members
from recollect.work.transcripts.event import ASSISTANT, USER, Event
from recollect.work.transcripts.fields import arguments, identifier, items, mapping, moment, plain, string
from recollect.work.transcripts.lines import opened, records
from recollect.work.transcripts.reading import EventOrigin, Report, TranscriptFormat, TranscriptReading

_SESSION = ("session_id", "sessionId", "conversation_id", "id")
_TIME = ("timestamp", "created_at", "at", "ts")
_REASONING = {"thinking", "redacted_thinking", "reasoning", "reasoning_content"}
_CALLS = {"tool_use", "server_tool_use", "mcp_tool_use"}


def read(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    """Read a file with one message, or one whole session, per line."""
    with opened(path) as stream:
        for line in records(stream, reading):
            if "messages" not in line:
                yield from message_events(line, _session(line, _SESSION[:3]), reading)
                continue
            session = _session(line, _SESSION) or f"{reading.name}-{reading.line}"
            for message in items(line["messages"]):
                yield from message_events(mapping(message), session, reading)


def read_document(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    session = ""
    with opened(path) as stream:
        for name, value in members(stream, reading, {"", "messages", *_SESSION}):
            if name in _SESSION:
                reading.ignore("metadata")
                session = session or identifier(value)
            else:
                yield from message_events(mapping(value), session, reading)


def message_events(message: Mapping[str, Any], session: str, reading: TranscriptReading) -> Iterator[Event]:
    """Yield the events of one message: text, calls, results."""
    role = string(message.get("role"))
    at = next((found for key in _TIME if (found := moment(message.get(key)))), None)
    place = EventOrigin(session, at, string(message.get("cwd")))
    content = message.get("content", mapping(message.get("message")).get("content"))
    if role in (USER, ASSISTANT):
        if content is not None:
            yield from content_events(content, role, place, reading)
        yield from call_events(message, place, reading)
    elif role in ("tool", "function"):
        call = identifier(message.get("tool_call_id"))
        failed = message.get("is_error")
        name = string(message.get("name"))
        yield reading.tool_result(
            place, plain(content), call, failed if isinstance(failed, bool) else None, name
        )
    elif role in ("system", "developer"):
        yield from reading.message(place, USER, plain(content), injected=True)
    else:
        reading.skip(f"unknown role {role[:40]!r}" if role else "a message without a role")


def content_events(
    content: Any,
    author: str,
    place: EventOrigin,
    reading: TranscriptReading,
    *,
    injected: bool = False,
    spare: str = "",
) -> Iterator[Event]:
    """Yield the events of a message's content, block by block. `spare` is the result if a result's own block is empty."""
    if not isinstance(content, list):
        content = [content]
    for block in content:
        if isinstance(block, str):
            yield from reading.message(place, author, block, injected=injected)
            continue
        if block is None:
            reading.ignore("no content")
            continue
        if not isinstance(block, dict):
            reading.skip(f"unknown content {str(block)[:40]!r}")
            continue
        kind = string(block.get("type"))
        if kind in _CALLS:
            call = identifier(block.get("id"))
            yield reading.tool_call(place, string(block.get("name")), arguments(block.get("input")), call)
        elif kind.endswith("tool_result"):
            call = identifier(block.get("tool_use_id"))
            failed = block.get("is_error")
            answer = plain(block.get("content")) or spare
            yield reading.tool_result(place, answer, call, failed if isinstance(failed, bool) else None)
        elif kind in _REASONING:
            reading.ignore("reasoning")
        else:
            yield from reading.message(place, author, plain([block]), injected=injected)


def call_events(
    message: Mapping[str, Any], place: EventOrigin, reading: TranscriptReading
) -> Iterator[Event]:
    """Yield the calls that OpenAI's messages have beside the content."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = mapping(mapping(call).get("function"))
        name, given = string(function.get("name")), arguments(function.get("arguments"))
        yield reading.tool_call(place, name, given, identifier(mapping(call).get("id")))
    older = mapping(message.get("function_call"))
    if older:
        yield reading.tool_call(
            place, string(older.get("name")), arguments(older.get("arguments")), author=ASSISTANT
        )


def _session(record: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((found for key in keys if (found := identifier(record.get(key)))), "")


class LiveMessages:
    """The new events of a running conversation that is passed in whole at every turn.

    An event's id is made of the session and the position of its message, so that passing it twice does no harm.
    """

    def __init__(self, session: str) -> None:
        self._session = session
        self._reading = TranscriptReading(Path("live"), Report())
        self._seen = 0

    def new(self, messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, Event]]:
        """Return the events of messages that the last call did not have; a shortened conversation goes on from its end."""
        begin, self._seen = min(self._seen, len(messages)), len(messages)
        return [
            (f"{self._session}:{place}.{number}", event)
            for place, message in enumerate(messages[begin:], begin)
            if isinstance(message, Mapping)
            for number, event in enumerate(message_events(message, self._session, self._reading))
        ]


def _is_record(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("messages"), list) or (
        "role" in record and bool(record.keys() & {"content", "message", "tool_calls"})
    )


MESSAGES = TranscriptFormat("messages", read, read_document, _is_record)
