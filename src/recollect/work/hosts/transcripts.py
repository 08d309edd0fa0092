"""The transcripts we can read: `detect` names the format of a file, `read` returns its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from recollect.errors import Refused, UnknownName
from recollect.work.hosts.registry import HOSTS
from recollect.work.transcripts.aider import AIDER
from recollect.work.transcripts.document import members
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.fields import mapping
from recollect.work.transcripts.lines import lines, opened, parsed
from recollect.work.transcripts.messages import MESSAGES
from recollect.work.transcripts.openhands import OPENHANDS
from recollect.work.transcripts.reading import Report, TranscriptFormat, TranscriptReading
from recollect.work.transcripts.swe_agent import SWE_AGENT

# In the order in which they are tried: `messages` fits most, and comes last.
FORMATS: Mapping[str, TranscriptFormat] = {
    format.name: format
    for format in (
        *(host.transcript for host in HOSTS.values() if host.transcript is not None),
        SWE_AGENT,
        OPENHANDS,
        AIDER,
        MESSAGES,
    )
}

_LOOKED_AT = 200  # lines or items, before a file counts as unknown
_LONGEST_MAGIC = 32  # bytes
_LOOKED_AT_TEXT = 20_000  # lines: aider's first mark may be far down


def read(
    path: Path, format: str | None = None, report: Report | None = None, *, session: str = ""
) -> Iterator[Event]:
    """Return the events of a transcript in the order of the file, as it is read; `report` fills up on the way.

    With `session`, a file that holds many sessions is read for that one alone.

    Raise `Refused` for a file that is in no known format or cannot be opened.
    """
    if format is not None and format not in FORMATS:
        raise UnknownName("transcript format", format, list(FORMATS))
    return _read(path, format, Report() if report is None else report, session)


def _read(path: Path, format: str | None, report: Report, session: str) -> Iterator[Event]:
    detected, is_document = _look(path)
    if detected == "" and is_document is None:
        report.note(str(path), 0, "the file is empty")
        return
    name = format or detected
    if not name:
        raise _unknown(path)
    reader = FORMATS[name].read_document if is_document else FORMATS[name].read_lines
    yield from reader(path, TranscriptReading(path, report, session))


def detect(path: Path) -> str:
    """Return the format of a transcript, by its content and never by its name. Raise `Refused` if it is unknown."""
    detected, is_document = _look(path)
    if not detected and is_document is None:
        raise Refused(f"{str(path)!r} is empty.", "There is nothing to read in it.")
    if not detected:
        raise _unknown(path)
    return detected


def _look(path: Path) -> tuple[str, bool | None]:
    """Return the format, "" if unknown; and whether the file is one JSON document, None if it is empty."""
    is_document: bool | None = None
    aside = TranscriptReading(path, Report())
    with opened(path) as stream:
        if name := _format_of_magic(stream):
            return name, False
        json_seen = 0
        for line in islice(lines(stream, aside), _LOOKED_AT_TEXT):
            start = line.lstrip(b"\xef\xbb\xbf\0 \t\r")[:1]
            if not start:
                continue
            record = parsed(line, aside) if start == b"{" else None
            if is_document is None:
                is_document = start == b"[" or (start == b"{" and record is None)
                if is_document and (name := _format_of_document(path)):
                    return name, True
            if name := _format_of_text(line):
                return name, False
            if record is not None:
                json_seen += 1
                if name := _format_of_record(record):
                    return name, {"session", "items"} <= record.keys()
                if json_seen >= _LOOKED_AT:
                    break
    if aside.report.skipped and is_document is None and (name := _format_of_document(path)):
        return name, True  # one line, and longer than a line may be
    if is_document is None and aside.report.skipped:
        is_document = False
    return "", is_document


def _format_of_magic(stream: BinaryIO) -> str:
    """Return the binary format that the stream begins with; "" leaves the stream at its beginning."""
    beginning = stream.read(_LONGEST_MAGIC)
    stream.seek(0)
    binary = (each for each in FORMATS.values() if each.magic and beginning.startswith(each.magic))
    return next((each.name for each in binary), "")


def _format_of_text(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    marked = (each for each in FORMATS.values() if each.text_mark and text.startswith(each.text_mark))
    return next((each.name for each in marked), "")


def _format_of_document(path: Path) -> str:
    seen: set[str] = set()
    with opened(path) as stream:
        for name, value in islice(members(stream, TranscriptReading(path, Report())), _LOOKED_AT):
            seen.add(name)
            item = mapping(value)
            for format in FORMATS.values():
                if format.is_member(name, item, seen):
                    return format.name
            if name in ("", "messages", "history") and (found := _format_of_record(item)):
                return found
    return ""


def _format_of_record(record: Mapping[str, Any]) -> str:
    return next((format.name for format in FORMATS.values() if format.is_record(record)), "")


def _unknown(path: Path) -> Refused:
    return Refused(
        f"{str(path)!r} is not a transcript in a known format.",
        f"Known: {', '.join(FORMATS)}. If it is one of these, name it as the format.",
    )
