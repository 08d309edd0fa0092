"""What the engine returns: search results, and receipts for what was remembered."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from recollect.frozen import frozen
from recollect.model.memory import Memory
from recollect.model.work import Message


@frozen
class Hit:
    memory: Memory
    score: float
    why: Mapping[str, Any]


@frozen
class Answer:
    """The result of a search."""

    results: tuple[Hit, ...]
    partial: bool  # something was left out: no vectors, or no time
    took_ms: float
    notes: tuple[str, ...] = ()  # why it is partial, for people


@frozen
class MessageHit:
    message: Message
    score: float
    why: Mapping[str, Any]


@frozen
class SessionHit:
    session: str
    score: float
    why: Mapping[str, Any]
    best: tuple[MessageHit, ...]  # its messages that fit best


class Outcome(StrEnum):
    STORED = "stored"
    REINFORCED = "reinforced"
    SUPERSEDED = "superseded"
    CONFLICT = "conflict"


@frozen
class Redaction:
    """A secret that was removed from a text before it was stored."""

    type: str


@frozen
class Receipt:
    """The result of `remember`. The keys are those of `remember --json`."""

    id: str
    outcome: Outcome
    is_duplicate: bool
    redactions: tuple[Redaction, ...]
    supersedes: tuple[str, ...]
    conflicts_with: tuple[str, ...]
    message: str
    notes: tuple[str, ...] = ()  # what else the writer should know: no vector yet…


@frozen
class CloseMemory:
    """A memory that is near in meaning to one that was just stored, for its author to judge how they relate."""

    memory: Memory
    by: str = ""  # the name of another person whose it is

    @property
    def said_by(self) -> str:
        """Who said it: another person's name, "user", or "agent:NAME"."""
        return self.by or self.memory.created_by
