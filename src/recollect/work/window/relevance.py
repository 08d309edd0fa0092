"""The relevance of an item now: the product of five factors."""

import math
from datetime import datetime

from recollect.work.window.item import ContextItem, ItemType

FADING = 60.0  # minutes in which relevance falls to 1/e
THIS_TASK = 2.0  # factor for items of the current task
EACH_DEPENDENT = 0.2  # added to the factor 1.0 per item that depends on this one
MOST = 100.0
_WEIGHTS = {
    ItemType.SYSTEM: 100.0,
    ItemType.TASK: 2.0,
    ItemType.USER: 1.5,
    ItemType.TOOL_RESULT: 0.8,
    ItemType.CODE: 0.7,
    ItemType.GRAPH: 0.6,  # can be queried again
}
_WITH_CALLS, _WITHOUT_CALLS = 1.2, 0.9  # an assistant's response


def relevance(item: ContextItem, now: datetime, current_task: str | None, dependents: int) -> float:
    """Return a score from 0 to 100. `dependents` is how many items in the window depend on this one."""
    score = freshness(item, now)
    if current_task is not None and item.task == current_task:
        score *= THIS_TASK
    score *= 1.0 + EACH_DEPENDENT * dependents
    score *= weight(item)
    score *= item.relevance
    return min(max(score, 0.0), MOST)


def freshness(item: ContextItem, now: datetime) -> float:
    """Return 1.0 for a new item, falling by whole minutes; a negative age counts as new."""
    minutes = (now - item.timestamp).total_seconds() // 60
    return math.exp(-max(minutes, 0.0) / FADING)


def weight(item: ContextItem) -> float:
    """Return the factor of the item's type."""
    if item.type is ItemType.ASSISTANT:
        return _WITH_CALLS if item.calls else _WITHOUT_CALLS
    return _WEIGHTS[item.type]
