"""Read one transcript: number its events, match results with calls, and report what was not read."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect.frozen import frozen
from recollect.work.transcripts import injected as put_there
from recollect.work.transcripts.event import ASSISTANT, TOOL, USER, Event

_REMEMBERED_CALLS = 4096  # whose tool is still known when the result comes
_REMEMBERED_MESSAGES = 64  # that may be repeated


SHOWN_PROBLEMS = 20  # kept with their line; further ones are only counted


@frozen
class Problem:
    """A line that was skipped or repaired, and why."""

    file: str
    line: int  # from 1; 0 = the file as a whole
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}" if self.line else f"{self.file}: {self.reason}"


@dataclass(slots=True)
class Report:
    """The result of reading. Every line is read, ignored or skipped, and counted. One report may serve many files."""

    events: int = 0
    lines: int = 0  # lines of a file of lines, items of a JSON document
    skipped: int = 0  # unknown, broken or too long: not read
    left_out: Counter[str] = field(default_factory=Counter)  # known and ignored, by kind
    sessions: Counter[str] = field(default_factory=Counter)  # events per session
    problems: list[Problem] = field(default_factory=list)  # the first of what was skipped or repaired

    def note(self, file: str, line: int, reason: str) -> None:
        if len(self.problems) < SHOWN_PROBLEMS:
            self.problems.append(Problem(file, line, reason))


@frozen
class EventOrigin:
    """The session, time and place of an event."""

    session: str
    at: datetime | None = None
    cwd: str = ""
    branch: str = ""
    agent: str = ""


Reader = Callable[[Path, "TranscriptReading"], Iterator[Event]]


def _no_member(name: str, value: Mapping[str, Any], seen: Set[str]) -> bool:
    return False


@frozen
class TranscriptFormat:
    """How a transcript is recognised, by its content and never by its name, and how it is read."""

    name: str
    read_lines: Reader
    read_document: Reader  # the same as one JSON document
    # Whether a line, or an item of a list, is in this format.
    is_record: Callable[[Mapping[str, Any]], bool]
    # Whether a member of the document, given its name and the names seen so far, shows that it is.
    is_member: Callable[[str, Mapping[str, Any], Set[str]], bool] = _no_member
    text_mark: str = ""  # what a line of a plain-text format begins with
    magic: bytes = b""  # what a file of a binary format begins with


class TranscriptReading:
    def __init__(self, path: Path, report: Report, session: str = "") -> None:
        self.path = path
        self.report = report
        self.session = session  # the only one wanted, of a file that holds many; empty = all
        self.line = 0
        self.accounted = 0  # grows whenever a line is read, ignored or skipped
        self._orders: Counter[str] = Counter()
        self._tools: dict[tuple[str, str], str] = {}
        self._expected: deque[int] = deque(maxlen=_REMEMBERED_MESSAGES)

    @property
    def name(self) -> str:
        """The file without its endings: the name of a session that has none."""
        return self.path.name.partition(".")[0] or self.path.name

    def message(
        self, place: EventOrigin, author: str, text: str, *, injected: bool = False
    ) -> Iterator[Event]:
        """Yield a message; a user's message is split where the host inserted text of its own."""
        if not text.strip():
            self.ignore("blank")
        elif injected or author != USER:
            yield self._event(place, author=author, text=text, injected=injected)
        else:
            for part, foreign in put_there.parts(text):
                yield self._event(place, author=author, text=part, injected=foreign)

    def tool_call(
        self,
        place: EventOrigin,
        tool: str,
        given: Mapping[str, Any],
        call: str = "",
        *,
        author: str = ASSISTANT,
    ) -> Event:
        tool = tool or "unnamed"
        if call:
            if len(self._tools) >= _REMEMBERED_CALLS:
                del self._tools[next(iter(self._tools))]
            self._tools[place.session, call] = tool
        return self._event(place, author=author, tool=tool, input=given, call=call)

    def tool_result(
        self, place: EventOrigin, text: str, call: str, failed: bool | None, tool: str = ""
    ) -> Event:
        tool = tool or self._tools.get((place.session, call), "")
        return self._event(place, author=TOOL, text=text, tool=tool, call=call, failed=failed)

    def expect(self, who: str, text: str) -> None:
        """Note a message that may come again from `who`: hosts write some messages twice."""
        self._expected.append(_fingerprint(who, text))

    def is_echo(self, who: str, text: str) -> bool:
        """Return whether a message was expected, and so read already. An expectation holds once."""
        try:
            self._expected.remove(_fingerprint(who, text))
        except ValueError:
            return False
        self.ignore("repeated")
        return True

    def ignore(self, kind: str) -> None:
        self.accounted += 1
        self.report.left_out[kind] += 1

    def skip(self, reason: str) -> None:
        self.accounted += 1
        self.report.skipped += 1
        self.report.note(str(self.path), self.line, reason)

    def repair(self, reason: str) -> None:
        """Note that a line was read after a repair: it had NULs, or bytes that are not UTF-8."""
        self.report.note(str(self.path), self.line, reason)

    def _event(self, place: EventOrigin, **fields: Any) -> Event:
        session = place.session or self.name
        order = self._orders[session]
        self._orders[session] += 1
        self.accounted += 1
        self.report.events += 1
        self.report.sessions[session] += 1
        fields.setdefault("text", "")
        return Event(
            session=session,
            order=order,
            at=place.at,
            cwd=place.cwd,
            branch=place.branch,
            agent=place.agent,
            **fields,
        )


def _fingerprint(who: str, text: str) -> int:
    return hash((who, " ".join(text.split())))
