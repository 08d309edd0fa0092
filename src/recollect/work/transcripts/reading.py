"""One file being read: its events are numbered, its calls named, and what is not told is reported."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect.work.transcripts import injected as put_there
from recollect.work.transcripts.event import ASSISTANT, TOOL, USER, Event
from recollect.work.transcripts.report import Report

_REMEMBERED_CALLS = 4096  # whose tools are known by name when the answer comes
_REMEMBERED_WORDS = 64  # of what may be told a second time


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when something happened."""

    session: str
    at: datetime | None = None
    cwd: str = ""
    branch: str = ""
    agent: str = ""


Reader = Callable[[Path, "Reading"], Iterator[Event]]


def _no_member(name: str, value: Mapping[str, Any], seen: Set[str]) -> bool:
    return False


@dataclass(frozen=True, slots=True)
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


class Reading:
    def __init__(self, path: Path, report: Report) -> None:
        self.path = path
        self.report = report
        self.line = 0
        self.accounted = 0  # grows whenever a line is told, left out or skipped
        self._orders: Counter[str] = Counter()
        self._tools: dict[tuple[str, str], str] = {}
        self._expected: deque[int] = deque(maxlen=_REMEMBERED_WORDS)

    @property
    def name(self) -> str:
        """The file without its endings: the name of a session that has none."""
        return self.path.name.partition(".")[0] or self.path.name

    def said(self, place: Place, author: str, text: str, *, injected: bool = False) -> Iterator[Event]:
        """What was said; a user's turn is split where a host put words of its own into it."""
        if not text.strip():
            self.leave_out("blank")
        elif injected or author != USER:
            yield self._event(place, author=author, text=text, injected=injected)
        else:
            for part, foreign in put_there.parts(text):
                yield self._event(place, author=author, text=part, injected=foreign)

    def called(
        self, place: Place, tool: str, given: Mapping[str, Any], call: str = "", *, author: str = ASSISTANT
    ) -> Event:
        tool = tool or "unnamed"
        if call:
            if len(self._tools) >= _REMEMBERED_CALLS:
                del self._tools[next(iter(self._tools))]
            self._tools[place.session, call] = tool
        return self._event(place, author=author, tool=tool, input=given, call=call)

    def answered(self, place: Place, text: str, call: str, failed: bool | None, tool: str = "") -> Event:
        tool = tool or self._tools.get((place.session, call), "")
        return self._event(place, author=TOOL, text=text, tool=tool, call=call, failed=failed)

    def expect(self, who: str, text: str) -> None:
        """These words were told now and may come again from `who`: hosts write some messages down twice."""
        self._expected.append(_fingerprint(who, text))

    def is_echo(self, who: str, text: str) -> bool:
        """Whether these words were expected, and so told already. An expectation holds once."""
        try:
            self._expected.remove(_fingerprint(who, text))
        except ValueError:
            return False
        self.leave_out("told twice")
        return True

    def leave_out(self, kind: str) -> None:
        self.accounted += 1
        self.report.left_out[kind] += 1

    def skip(self, reason: str) -> None:
        self.accounted += 1
        self.report.skipped += 1
        self.report.note(str(self.path), self.line, reason)

    def mend(self, reason: str) -> None:
        self.report.mended += 1
        self.report.note(str(self.path), self.line, reason)

    def _event(self, place: Place, **fields: Any) -> Event:
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
