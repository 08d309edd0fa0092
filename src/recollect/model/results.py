"""What the engine returns: search results, and receipts for what was remembered."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from recollect.model.memory import Memory
from recollect.model.work import Message


@dataclass(frozen=True, slots=True)
class Hit:
    memory: Memory
    score: float
    why: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a search."""

    results: tuple[Hit, ...]
    partial: bool  # something was left out: no vectors, or no time
    took_ms: float
    notes: tuple[str, ...] = ()  # why it is partial, for people


@dataclass(frozen=True, slots=True)
class MessageHit:
    message: Message
    score: float
    why: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Redaction:
    """A secret that was removed from a text before it was stored."""

    type: str


@dataclass(frozen=True, slots=True)
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
