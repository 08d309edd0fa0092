"""How memories decay: pure functions of a memory and a time. The results are never stored."""

import math
from datetime import datetime, timedelta

import recollect.model as m
from recollect.kinds import INFERRED_HALF_LIFE, kind_of

DAY = timedelta(days=1)
WEEK = timedelta(days=7)


def half_life(memory: m.Memory) -> float | None:
    """Return the days until the memory's confidence halves; None if it does not fade."""
    if memory.pinned:
        return None
    days = kind_of(memory.kind).half_life
    if memory.source is m.Source.INFERRED:
        return min(days or INFERRED_HALF_LIFE, INFERRED_HALF_LIFE)
    return days


def freshness(age: timedelta, days: float | None) -> float:
    """Return 1.0 for a new memory and 0.5 after one half-life; a negative age counts as new, because clocks disagree."""
    return 1.0 if days is None else 0.5 ** max(age / (days * DAY), 0.0)


def familiarity(accesses: int) -> float:
    """Return a factor that grows slowly with use, so that it does not outweigh relevance."""
    return 1.0 + 0.1 * math.log(1 + accesses)


def confidence_now(memory: m.Memory, now: datetime) -> float:
    """Return how far the memory is believed at `now`, from 0 to 1."""
    if memory.pinned:
        return min(1.0, memory.confidence * memory.trust)
    fresh = freshness(now - last_confirmed(memory), half_life(memory))
    return min(1.0, memory.confidence * fresh * familiarity(memory.access_count) * memory.trust)


def last_stated(memory: m.Memory) -> datetime:
    """Return when the memory was last stated, at first or again."""
    return memory.reinforcements[-1].at if memory.reinforcements else memory.created_at


def last_confirmed(memory: m.Memory) -> datetime:
    """Return when it was last stated or used: a fact used every week does not fade."""
    return max(last_stated(memory), memory.last_accessed_at or memory.created_at)


def recency_boost(memory: m.Memory, now: datetime) -> float:
    """Return 1.5 just after the memory was used, and 1.0 in the long run. Only the recipe `seed-003` uses it."""
    hours = max((now - (memory.last_accessed_at or memory.created_at)) / timedelta(hours=1), 0.0)
    return 1.0 + 0.5 * math.exp(-hours / 24)


def importance_now(memory: m.Memory, now: datetime) -> float:
    """Return the importance that decides which memories are archived first when there are too many."""
    if memory.pinned:
        return memory.importance
    idle = max((now - (memory.last_accessed_at or memory.created_at)) / WEEK, 0.0)
    quarantine = 0.9 if memory.standing is m.Standing.CANDIDATE else 1.0
    used = min(1.0, 0.5 + 0.05 * memory.access_count)
    return memory.importance * math.pow(0.95, idle) * quarantine * used
