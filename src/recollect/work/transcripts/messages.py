"""Messages with a role and content, as Anthropic, OpenAI and Cursor write them: a list, lines, or `{"messages": […]}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.work.transcripts import blocks
from recollect.work.transcripts.document import members
from recollect.work.transcripts.event import ASSISTANT, USER, Event
from recollect.work.transcripts.fields import identifier, items, mapping, moment, plain, string
from recollect.work.transcripts.lines import opened, records
from recollect.work.transcripts.reading import Place, Reading, TranscriptFormat

_SESSION = ("session_id", "sessionId", "conversation_id", "id")
_TIME = ("timestamp", "created_at", "at", "ts")


def read(path: Path, reading: Reading) -> Iterator[Event]:
    """A message a line, or a whole session a line."""
    with opened(path) as stream:
        for line in records(stream, reading):
            if "messages" not in line:
                yield from told(line, _session(line, _SESSION[:3]), reading)
                continue
            session = _session(line, _SESSION) or f"{reading.name}-{reading.line}"
            for message in items(line["messages"]):
                yield from told(mapping(message), session, reading)


def read_document(path: Path, reading: Reading) -> Iterator[Event]:
    session = ""
    with opened(path) as stream:
        for name, value in members(stream, reading, {"", "messages", *_SESSION}):
            if name in _SESSION:
                reading.leave_out("metadata")
                session = session or identifier(value)
            else:
                yield from told(mapping(value), session, reading)


def told(message: Mapping[str, Any], session: str, reading: Reading) -> Iterator[Event]:
    """What one message holds: what was said, calls, answers."""
    role = string(message.get("role"))
    at = next((found for key in _TIME if (found := moment(message.get(key)))), None)
    place = Place(session, at, string(message.get("cwd")))
    content = message.get("content", mapping(message.get("message")).get("content"))
    if role in (USER, ASSISTANT):
        if content is not None:
            yield from blocks.tell(content, role, place, reading)
        yield from blocks.tell_calls(message, place, reading)
    elif role in ("tool", "function"):
        call = identifier(message.get("tool_call_id"))
        failed = message.get("is_error")
        name = string(message.get("name"))
        yield reading.answered(
            place, plain(content), call, failed if isinstance(failed, bool) else None, name
        )
    elif role in ("system", "developer"):
        yield from reading.said(place, USER, plain(content), injected=True)
    else:
        reading.skip(f"unknown role {role[:40]!r}" if role else "no message: it has no role")


def _session(record: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((found for key in keys if (found := identifier(record.get(key)))), "")


def _is_record(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("messages"), list) or (
        "role" in record and bool(record.keys() & {"content", "message", "tool_calls"})
    )


MESSAGES = TranscriptFormat("messages", read, read_document, _is_record)
