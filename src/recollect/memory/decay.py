"""How memories fade: pure functions of what is stored and a clock. Nothing here is ever written back."""

import math
from datetime import datetime, timedelta

import recollect.model as m
from recollect.kinds import INFERRED_HALF_LIFE, kind_of

DAY = timedelta(days=1)
WEEK = timedelta(days=7)


def half_life(memory: m.Memory) -> float | None:
    """Days until its confidence halves; None if it does not fade."""
    if memory.pinned:
        return None
    days = kind_of(memory.kind).half_life
    if memory.source is m.Source.INFERRED:
        return min(days or INFERRED_HALF_LIFE, INFERRED_HALF_LIFE)
    return days


def freshness(age: timedelta, days: float | None) -> float:
    """1.0 when new, 0.5 one half-life later. Clocks disagree, so a negative age is new."""
    return 1.0 if days is None else 0.5 ** max(age / (days * DAY), 0.0)


def familiarity(accesses: int) -> float:
    """Use helps, but must not drown relevance."""
    return 1.0 + 0.1 * math.log(1 + accesses)


def confidence_now(memory: m.Memory, now: datetime) -> float:
    if memory.pinned:
        return min(1.0, memory.confidence * memory.trust)
    fresh = freshness(now - last_borne_out(memory), half_life(memory))
    return min(1.0, memory.confidence * fresh * familiarity(memory.access_count) * memory.trust)


def last_said(memory: m.Memory) -> datetime:
    return memory.reinforcements[-1].at if memory.reinforcements else memory.created_at


def last_borne_out(memory: m.Memory) -> datetime:
    """When it was last said or used: what a fact used every week says is as true as on the first day."""
    return max(last_said(memory), memory.last_accessed_at or memory.created_at)


def recency_boost(memory: m.Memory, now: datetime) -> float:
    """1.5 just after it was used, 1.0 in the long run."""
    hours = max((now - (memory.last_accessed_at or memory.created_at)) / timedelta(hours=1), 0.0)
    return 1.0 + 0.5 * math.exp(-hours / 24)


def importance_now(memory: m.Memory, now: datetime) -> float:
    """What decides who goes first where there are too many. All of it for a pinned one."""
    if memory.pinned:
        return memory.importance
    idle = max((now - (memory.last_accessed_at or memory.created_at)) / WEEK, 0.0)
    tried = 0.9 if memory.standing is m.Standing.CANDIDATE else 1.0
    used = min(1.0, 0.5 + 0.05 * memory.access_count)
    return memory.importance * math.pow(0.95, idle) * tried * used
