"""aider: `.aider.chat.history.md`, many sessions in one file.

`#### ` begins what the person typed, `> ` what aider printed; anything else is the model's answer. aider ends lines of
the first two with two spaces; a printed line without them continues below, without a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect.work.transcripts.event import ASSISTANT, USER, Event
from recollect.work.transcripts.lines import opened, text_lines
from recollect.work.transcripts.reading import EventOrigin, TranscriptFormat, TranscriptReading

STARTED = "# aider chat started at "
_TYPED = "####"
_PRINTED = "aider"  # the tool that prints what belongs to no call
_MAX = 2**20  # characters; longer texts are split
_COMMAND = re.compile(r"(?:(/run|/test|/git)\s|!)\s*(\S.*)", re.DOTALL)
_EDITED = re.compile(r"Applied edit to (.+)")
_COMMITTED = re.compile(r"Commit ([0-9a-f]{6,40}) (.+)")
_RUNNING = re.compile(r"Running (?!:)(\S.*)")


def read(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    with opened(path) as stream:
        history = _History(reading)
        for line in text_lines(stream, reading):
            yield from history.take(line)
        yield from history.flush()


class _History:
    def __init__(self, reading: TranscriptReading) -> None:
        self.reading = reading
        self.place = EventOrigin(f"{reading.name}-0")
        self.sessions: dict[str, int] = {}
        self.author = ""  # of the text being gathered; "tool" for what aider printed
        self.gathered: list[str] = []
        self.length = 0
        self.goes_on = False  # a printed line that ends further down
        self.fenced = False  # in a code block of the model's answer
        self.calls = 0
        self.open_call = ""  # the command whose output is awaited

    def take(self, line: str) -> Iterator[Event]:
        if line.startswith(STARTED):
            yield from self.flush()
            self._begin(line.removeprefix(STARTED).strip())
            return
        marked = _marked(line)
        if marked and (self.fenced or self.goes_on) and not line.endswith("  "):
            marked = None  # a quote or a heading inside a text
        if self.goes_on and not marked:
            author, text = "tool", line
        elif marked:
            author, text = marked
        elif not line.strip() and self.author != ASSISTANT:
            author, text = "", ""
        else:
            author, text = ASSISTANT, line
        if author != self.author or self.length > _MAX:
            yield from self.flush()
            self.author = author
        if author == ASSISTANT and text.lstrip().startswith("```"):
            self.fenced = not self.fenced
        if author:
            self.gathered.append(text.rstrip())
            self.length += len(text)
        self.goes_on = author == "tool" and not (line.endswith("  ") and line.strip())

    def flush(self) -> Iterator[Event]:
        """Yield the events of the text gathered so far."""
        text, author = "\n".join(self.gathered).strip("\n"), self.author
        lines = self.gathered
        self.gathered, self.length, self.author, self.fenced = [], 0, "", False
        if not text.strip():
            return
        if author == "tool":
            yield from self._printed(lines)
        elif author == USER and (command := _COMMAND.fullmatch(text.strip())):
            line = f"git {command[2]}" if command[1] == "/git" else command[2]
            yield self._call(command[1] or "/run", {"command": line}, author=USER)
        else:
            self.open_call = ""
            yield from self.reading.message(self.place, author, text)

    def _printed(self, lines: list[str]) -> Iterator[Event]:
        gathered: list[str] = []
        for line in lines:
            if edited := _EDITED.fullmatch(line):
                yield from self._output(gathered)
                yield self._call("edit", {"path": edited[1]})
                yield from self._output([line], failed=False)
            elif committed := _COMMITTED.fullmatch(line):
                yield from self._output(gathered)
                yield self._call("commit", {"hash": committed[1], "message": committed[2]})
                yield from self._output([line], failed=False)
            elif running := _RUNNING.fullmatch(line):
                yield from self._output(gathered)
                yield self._call("run", {"command": running[1]})
            else:
                gathered.append(line)
                continue
            gathered = []
        yield from self._output(gathered)

    def _call(self, tool: str, given: dict[str, str], author: str = ASSISTANT) -> Event:
        self.calls += 1
        self.open_call = f"call-{self.calls}"
        return self.reading.tool_call(self.place, tool, given, self.open_call, author=author)

    def _output(self, lines: list[str], failed: bool | None = None) -> Iterator[Event]:
        text = "\n".join(lines).strip("\n")
        if text.strip():
            tool = "" if self.open_call else _PRINTED
            yield self.reading.tool_result(self.place, text, self.open_call, failed, tool)
            self.open_call = ""

    def _begin(self, started: str) -> None:
        name = f"aider {started}"
        self.sessions[name] = self.sessions.get(name, 0) + 1
        if self.sessions[name] > 1:
            name = f"{name} ({self.sessions[name]})"
        self.place = EventOrigin(name, _local(started))
        self.goes_on = False
        self.open_call = ""


def _marked(line: str) -> tuple[str, str] | None:
    if line == _TYPED or line.startswith(_TYPED + " "):
        return USER, line[len(_TYPED) + 1 :]
    if line == ">" or line.startswith("> "):
        return "tool", line[2:]
    return None


def _local(started: str) -> datetime | None:
    """Return the time in the local zone: aider writes local times, and the file is read where it was written."""
    try:
        return datetime.fromisoformat(started).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _is_record(record: Mapping[str, Any]) -> bool:
    return False  # it is no JSON


AIDER = TranscriptFormat("aider", read, read, _is_record, text_mark=STARTED)
