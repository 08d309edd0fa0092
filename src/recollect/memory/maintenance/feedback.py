"""Someone says whether a memory helped."""

from dataclasses import replace
from datetime import datetime

import recollect.model as m
from recollect.context.store import Store

RAISED = 0.05
LOWERED = 0.1


def feedback(store: Store, memory: m.Memory, helpful: bool, actor: str, now: datetime) -> m.Memory:
    """The memory as it is now. Raises `MemoryNotFound` if it has been purged since."""
    with store.transaction():
        before = store.get(memory.id)  # others may have used it since it was shown
        if helpful:
            after = replace(
                before,
                access_count=before.access_count + 1,
                last_accessed_at=now,
                strength=before.strength + 1,
                confidence=raised(before.confidence),
            )
        else:
            after = replace(before, confidence=lowered(before.confidence, LOWERED))
        detail = {"feedback": "helpful" if helpful else "not_helpful", "confidence": after.confidence}
        store.log("update", actor, now, memory.id, detail)
        store.put(after)
    return after


def raised(confidence: float) -> float:
    return round(min(confidence + RAISED, 1.0), 6)


def lowered(confidence: float, by: float) -> float:
    return round(max(confidence - by, 0.0), 6)
