"""Procedures: commands that succeed one after another, more than once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from recollect.model import Source
from recollect.text.redact import redact
from recollect.text.sentences import clip
from recollect.work.extract.commands import Command, parse
from recollect.work.extract.observation import Observation
from recollect.work.extract.outcomes import failed
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.tools import EDIT, WRITE, command_of, family_of

_LONGEST = 8  # steps
_DELIVERS = frozenset(("git push", "gh pr", "npm publish"))  # what follows belongs to the next task
_MAX_SEQUENCES = 4000  # a session with more has no procedure
_PENDING = 64  # calls without an answer
_SHOWN = 70  # characters of a step

_WORD = re.compile(r"""(?:'[^']*'|"[^"]*"|\S)+""")


class _CommandStep(NamedTuple):
    head: str  # program and verb
    text: str  # the command
    order: int


@dataclass(slots=True)
class _Sequence:
    """How often a sequence of commands was seen."""

    times: int
    first: int
    last: int
    ends: int  # position of its last step, so that overlapping ones are not counted twice
    steps: list[str]  # what all occurrences have in common


class Procedures:
    """Counts runs of successful commands between edits."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[Command, int]] = {}
        self._row: list[_CommandStep] = []  # commands that succeeded since the last edit or failure
        self._seen: dict[tuple[str, ...], _Sequence] = {}
        self._place = 0

    def read(self, event: Event) -> None:
        if event.is_call:
            if family_of(event) in (EDIT, WRITE):
                self._row.clear()
            elif line := command_of(event):
                self._calls[event.call] = parse(line), event.order
                if len(self._calls) > _PENDING:
                    del self._calls[next(iter(self._calls))]
        elif event.is_answer and (call := self._calls.pop(event.call, None)):
            command, order = call
            if not command.heads or command.is_lookup:
                return
            if failed(event, command) is not False:
                self._row.clear()
            else:
                self._succeeded(command, order, event.order)

    def finish(self) -> Iterator[Observation]:
        """Yield the longest sequence that occurred repeatedly."""
        repeated = [
            (heads, seen)
            for heads, seen in self._seen.items()
            if seen.times >= (2 if len(heads) > 2 else 3)
            and any(not head.startswith("git ") for head in heads)
        ]
        if not repeated:
            return
        _, seen = max(repeated, key=lambda item: (len(item[0]), item[1].times))
        steps = tuple(clip(step, _SHOWN) for step in seen.steps)
        if any(redact(step)[1] for step in steps):
            return
        yield Observation(
            kind="procedure",
            content="After a change, run in this order: "
            + ", then ".join(f"`{step}`" for step in steps)
            + ".",
            source=Source.OBSERVED,
            first=seen.first,
            last=seen.last,
            importance=0.6,
            confidence=min(0.5 + 0.1 * seen.times, 0.8),
            steps=steps,
        )

    def _succeeded(self, command: Command, first: int, last: int) -> None:
        for head, text in zip(command.heads, command.text.split(" && "), strict=False):
            if self._row and self._row[-1].head == head:
                self._row[-1] = self._row[-1]._replace(text=_common(self._row[-1].text, text))
                continue
            self._place += 1
            self._row.append(_CommandStep(head, text, first))
            del self._row[:-_LONGEST]
            for length in range(2, len(self._row) + 1):
                self._count(self._row[-length:], last)
            if head in _DELIVERS:
                self._row.clear()

    def _count(self, row: list[_CommandStep], last: int) -> None:
        heads = tuple(step.head for step in row)
        if len(set(heads)) < len(heads):
            return
        seen = self._seen.get(heads)
        if seen is None:
            if len(self._seen) < _MAX_SEQUENCES:
                self._seen[heads] = _Sequence(1, row[0].order, last, self._place, [step.text for step in row])
        elif self._place - seen.ends >= len(heads):
            seen.times += 1
            seen.last, seen.ends = last, self._place
            seen.steps = [_common(old, step.text) for old, step in zip(seen.steps, row, strict=True)]


def _common(one: str, other: str) -> str:
    """Return the words that both begin with; a quoted string counts as one word."""
    words = []
    for mine, theirs in zip(_WORD.findall(one), _WORD.findall(other), strict=False):
        if mine != theirs:
            break
        words.append(mine)
    return " ".join(words)
