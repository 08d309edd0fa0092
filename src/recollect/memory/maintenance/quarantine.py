"""Quarantine: what a program decided to keep is a candidate until it was used; what was not in a day counts for less, once."""

from dataclasses import replace
from datetime import datetime

import recollect.model as m
from recollect.kinds import DOUBTED, QUARANTINE

_PEOPLE = (m.Source.USER_STATED, m.Source.USER_CORRECTED)


def settled(memory: m.Memory, now: datetime) -> m.Memory | None:
    """The memory as its quarantine leaves it; None while that lasts, or where nothing is left to decide."""
    if (
        memory.state is not m.State.ACTIVE
        or memory.standing is not m.Standing.CANDIDATE
        or memory.promoted_at is None
        or now - memory.promoted_at < QUARANTINE
    ):
        return None
    if memory.access_count > 0 or is_stated(memory):
        return replace(memory, standing=m.Standing.CONFIRMED, settled_at=now, updated_at=now)
    if memory.settled_at is None:
        importance = round(memory.importance * DOUBTED, 6)
        return replace(memory, importance=importance, settled_at=now, updated_at=now)
    return None


def is_stated(memory: m.Memory) -> bool:
    """Whether a person said it, at first or again."""
    return any(each.source in _PEOPLE for each in memory.provenance)
