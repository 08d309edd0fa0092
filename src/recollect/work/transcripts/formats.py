"""The transcripts we can read: `detect` says which one a file is, `read` tells its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from recollect.errors import Refused, UnknownName
from recollect.work.transcripts import aider, claude_code, codex, gemini, messages, openhands, swe_agent
from recollect.work.transcripts.document import members
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.fields import items, mapping, string
from recollect.work.transcripts.lines import lines, opened, parsed
from recollect.work.transcripts.reading import Reading
from recollect.work.transcripts.report import Report

CLAUDE_CODE = "claude-code"
CODEX = "codex"
GEMINI = "gemini"
SWE_AGENT = "swe-agent"
OPENHANDS = "openhands"
AIDER = "aider"
MESSAGES = "messages"

Reader = Callable[[Path, Reading], Iterator[Event]]

# For each, how it is read as lines and how as one JSON document.
FORMATS: Mapping[str, tuple[Reader, Reader]] = {
    CLAUDE_CODE: (claude_code.read, claude_code.read_document),
    CODEX: (codex.read, codex.read_document),
    GEMINI: (gemini.read, gemini.read_document),
    SWE_AGENT: (swe_agent.read, swe_agent.read),
    OPENHANDS: (openhands.read, openhands.read_document),
    AIDER: (aider.read, aider.read),
    MESSAGES: (messages.read, messages.read_document),
}

_LOOKED_AT = 200  # lines or items, before we say that we do not know it
_LOOKED_AT_TEXT = 20_000  # lines: aider's first mark may be far down


def read(path: Path, format: str | None = None, report: Report | None = None) -> Iterator[Event]:
    """What happened, in the order of the file, as it is read. `report` fills up on the way.

    Raises `Refused` for a file that is none of these formats, or cannot be opened.
    """
    if format is not None and format not in FORMATS:
        raise UnknownName("transcript format", format, list(FORMATS))
    return _read(path, format, Report() if report is None else report)


def _read(path: Path, format: str | None, report: Report) -> Iterator[Event]:
    reading = Reading(path, report)
    found, is_document = _look(path)
    if found == "" and is_document is None:
        report.note(str(path), 0, "the file is empty")
        return
    known = format or found
    if not known:
        raise _unknown(path)
    as_lines, as_document = FORMATS[known]
    yield from (as_document if is_document else as_lines)(path, reading)


def detect(path: Path) -> str:
    """The format of a transcript, by what is in it and never by its name. Raises `Refused`."""
    found, is_document = _look(path)
    if not found and is_document is None:
        raise Refused(f"{str(path)!r} is empty.", "There is nothing to read in it.")
    if not found:
        raise _unknown(path)
    return found


def _look(path: Path) -> tuple[str, bool | None]:
    """The format, "" if unknown; and whether the file is one JSON document, None if it is empty."""
    is_document: bool | None = None
    aside = Reading(path, Report())
    with opened(path) as stream:
        json_seen = 0
        for line in islice(lines(stream, aside), _LOOKED_AT_TEXT):
            start = line.lstrip(b"\xef\xbb\xbf\0 \t\r")[:1]
            if not start:
                continue
            record = parsed(line, aside) if start == b"{" else None
            if is_document is None:
                is_document = start == b"[" or (start == b"{" and record is None)
                if is_document and (found := _look_inside(path)):
                    return found, True
            if line.decode("utf-8", "replace").startswith(aider.STARTED):
                return AIDER, False
            if record is not None:
                json_seen += 1
                if found := _format_of(record):
                    return found, found == CODEX and "items" in record
                if json_seen >= _LOOKED_AT:
                    break
    if aside.report.skipped and is_document is None and (found := _look_inside(path)):
        return found, True  # one line, and longer than a line may be
    if is_document is None and aside.report.skipped:
        is_document = False
    return "", is_document


def _look_inside(path: Path) -> str:
    names: set[str] = set()
    with opened(path) as stream:
        for name, value in islice(members(stream, Reading(path, Report())), _LOOKED_AT):
            names.add(name)
            item = mapping(value)
            if name == "trajectory" or (name == "history" and "role" in item):
                return SWE_AGENT
            if "projectHash" in names or (name == "messages" and "type" in item and "role" not in item):
                return GEMINI
            if name == "items" and "session" in names:
                return CODEX
            if name in ("", "messages", "history") and (found := _format_of(item)):
                return found
    return ""


def _format_of(record: Mapping[str, Any]) -> str:
    """By the marks that a line or an item of each format bears."""
    kind = string(record.get("type"))
    if "$set" in record or "$rewindTo" in record or {"sessionId", "projectHash"} <= record.keys():
        return GEMINI
    if (kind in codex.ENVELOPES and "payload" in record) or {"session", "items"} <= record.keys():
        return CODEX
    if isinstance(record.get("trajectory"), list):
        return SWE_AGENT
    if {"instance_id", "history"} <= record.keys() or (
        "source" in record and record.keys() & {"action", "observation"}
    ):
        return OPENHANDS
    if kind in _CLAUDE_KINDS and record.keys() & {"uuid", "sessionId", "leafUuid", "messageId"}:
        return CLAUDE_CODE
    if kind == "gemini" or (kind == "user" and {"id", "content"} <= record.keys()):
        return GEMINI
    if kind in codex.ITEMS and (kind != "message" or _is_of_codex(record)):
        return CODEX
    if "record_type" in record or (not kind and {"id", "timestamp", "instructions"} <= record.keys()):
        return CODEX
    if isinstance(record.get("messages"), list):
        return MESSAGES
    if "role" in record and record.keys() & {"content", "message", "tool_calls"}:
        return MESSAGES
    return ""


def _is_of_codex(message: Mapping[str, Any]) -> bool:
    """Anthropic's API calls its messages so too, but names their blocks otherwise."""
    return any(
        mapping(block).get("type") in ("input_text", "output_text") for block in items(message.get("content"))
    )


_CLAUDE_KINDS = {"user", "assistant", "system", "queue-operation", "attachment"} | claude_code.BOOKKEEPING


def _unknown(path: Path) -> Refused:
    return Refused(
        f"{str(path)!r} is no transcript we know.",
        f"Known: {', '.join(FORMATS)}. If it is one of these, name it as the format.",
    )
