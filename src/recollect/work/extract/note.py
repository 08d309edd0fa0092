"""What a rule noticed, before it becomes a finding."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.model import Source

# What promotion counts.
USER_INTENT = "user-intent"  # said by the person as something to hold on to
USER_CORRECTION = "user-correction"  # said by the person about what the agent did
RESOLVED_ERROR = "error-resolution"


@dataclass(frozen=True, slots=True)
class Note:
    """A statement that a stranger can use, and the events that bear it out."""

    kind: str
    content: str
    source: Source
    first: int  # the order of the event that begins it
    last: int
    importance: float
    confidence: float
    signals: frozenset[str] = frozenset()
    file_paths: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()  # of a procedure
