"""What is asked of whoever judges and words things: rules, a model on a server, or the user's own command."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import recollect.model as m
from recollect.memory.write.judge import Judge


@dataclass(frozen=True, slots=True)
class Verified:
    """Which of the memories shown bear on the context, and what they have to do with one another."""

    relevant: tuple[str, ...]  # ids, best first
    relations: tuple[tuple[str, str, m.Relation], ...] = ()


@dataclass(frozen=True, slots=True)
class Learnt:
    """A statement worth keeping, as a model words it."""

    content: str
    kind: str
    importance: float = 0.5
    file_paths: tuple[str, ...] = ()
    first: int | None = None  # order of the first event that bears it out; None = the model does not say
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Sketch:
    """A module of a codebase as far as it is known without understanding it."""

    name: str
    description: str
    files: tuple[str, ...]  # the most important first


@dataclass(frozen=True, slots=True)
class Title:
    """What a model calls the module it was shown."""

    place: int  # among those shown, from 0
    name: str
    description: str


class Sidecar(Judge, Protocol):
    """Never raises and never hangs: what cannot be answered in time, or at all, is None. Calls may come from any thread."""

    name: str

    def verify(self, context: str, hits: Sequence[m.Hit]) -> Verified | None:
        """Relevant to this context, actionable, not trivia."""

    def extract(self, transcript: str, gaps: Sequence[str]) -> list[Learnt] | None:
        """What is worth keeping of a session, told in about 2,000 tokens; `gaps` are what memory lacked."""

    def classify(self, text: str, labels: Sequence[str]) -> str | None:
        """The label that fits best."""

    def name_modules(self, modules: Sequence[Sketch]) -> list[Title] | None:
        """What a maintainer would call them, and what each is for; those it knows nothing of are left out."""

    def summarise(self, text: str, lines: int) -> str | None:
        """In that many lines at most, as bullets."""
