"""The questions that a sidecar answers, and the values it answers with."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import recollect.model as m
from recollect.frozen import frozen


class StatementRelation(StrEnum):
    """How a new statement relates to an old one."""

    DUPLICATE = "duplicate"  # says the same: merge
    MERGEABLE = "mergeable"  # probably the same: link relates_to, leave the merge to consolidation
    CONTRADICTION = "contradiction"  # cannot both be current
    RELATED = "related"  # near, but about something else
    UNRELATED = "unrelated"


@frozen
class Verification:
    """Which of the given memories are relevant to a context, and how they relate to each other."""

    relevant: tuple[str, ...]  # ids, best first
    relations: tuple[tuple[str, str, m.Relation], ...] = ()


@frozen
class LearnedStatement:
    """A statement worth remembering, in a model's words."""

    content: str
    kind: str
    importance: float = 0.5
    file_paths: tuple[str, ...] = ()
    first: int | None = None  # order of the first event that supports it; None = the model does not say
    last: int | None = None


@frozen
class ModuleSketch:
    """A module of a codebase, as far as a scan can describe it."""

    name: str
    description: str
    files: tuple[str, ...]  # the most important first


@frozen
class ModuleTitle:
    """A model's name and description for one of the modules it was shown."""

    place: int  # index among those shown, from 0
    name: str
    description: str


class Judge(Protocol):
    """Compares two statements where the rules are not certain."""

    def relate(self, new: str, old: str) -> StatementRelation | None:
        """Return how `new` relates to `old`, or None if that cannot be decided."""


class Sidecar(Judge, Protocol):
    """Answers questions about texts. Never raises or hangs: an answer that is not available in time is None.

    Calls may come from any thread.
    """

    name: str

    def verify(self, context: str, hits: Sequence[m.Hit]) -> Verification | None:
        """Return which of `hits` are relevant to `context` and actionable."""

    def extract(self, transcript: str, gaps: Sequence[str]) -> list[LearnedStatement] | None:
        """Return what is worth remembering of a session of about 2,000 tokens; `gaps` are questions memory could not answer."""

    def name_modules(self, modules: Sequence[ModuleSketch]) -> list[ModuleTitle] | None:
        """Return the name a maintainer would use for each module and its purpose; unknown ones are left out."""

    def summarise(self, text: str, lines: int) -> str | None:
        """Return a summary of at most `lines` bullets."""
