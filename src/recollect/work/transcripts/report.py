"""What reading a transcript came to: what was told, what was left out, and what could not be read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

SHOWN = 20  # problems kept with their place; the rest are only counted


@dataclass(frozen=True, slots=True)
class Problem:
    file: str
    line: int  # from 1; 0 = the file as a whole
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}" if self.line else f"{self.file}: {self.reason}"


@dataclass(slots=True)
class Report:
    """Every line is told, left out or skipped; none goes missing in silence. One report may serve many files."""

    events: int = 0
    lines: int = 0  # lines of a file of lines, items of a JSON document
    skipped: int = 0  # unknown, broken or too long: not read
    mended: int = 0  # read, but not as they stood: bytes that are no UTF-8, NULs
    left_out: Counter[str] = field(default_factory=Counter)  # known and not told, by kind
    sessions: Counter[str] = field(default_factory=Counter)  # events in each
    problems: list[Problem] = field(default_factory=list)  # the first few of what was skipped or mended

    def note(self, file: str, line: int, reason: str) -> None:
        if len(self.problems) < SHOWN:
            self.problems.append(Problem(file, line, reason))
