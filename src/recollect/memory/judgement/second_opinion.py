"""Ask a model where the rules are unsure. The comparison says who decided.

A language model decides what the rules are unsure of. A model of natural-language inference calls too many related
statements contradictions to act on its word alone; it may only hold back: a merge, or a question to the user.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from recollect.llm.protocol import Judge, StatementRelation
from recollect.memory.judgement.comparison import Comparison

SECONDS = 0.15  # that a statement may wait for the model


class Inference(Protocol):
    """Says whether two texts contradict each other; None if it cannot say."""

    name: str

    def contradicts(self, one: str, other: str) -> bool | None: ...


class TimeLimit:
    """Time for the questions to a model about one statement: the next is asked only if it should end in time."""

    def __init__(self, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._left, self._longest, self._clock = seconds, 0.0, clock

    @property
    def has_room(self) -> bool:
        """Return whether a question that takes twice as long as the longest so far fits: it may be asked both ways."""
        return self._left >= 2 * self._longest

    def held_back(self, model: Inference, comparison: Comparison, new: str, old: str) -> Comparison:
        """Return what `held_back` makes of the comparison, and note how long that took."""
        start = self._clock()
        held = held_back(model, comparison, new, old)
        took = self._clock() - start
        self._left -= took
        self._longest = max(self._longest, took)
        return held


def asked_of(judge: Judge, comparison: Comparison, new: str, old: str) -> Comparison:
    """Return what the judge makes of two statements, or `comparison` if it cannot say."""
    relation = judge.relate(new, old)
    if relation is None:
        return comparison
    name = getattr(judge, "name", "model")
    return replace(comparison, relation=relation, certain=True, rule="", decided_by=name)


def held_back(model: Inference, comparison: Comparison, new: str, old: str) -> Comparison:
    """Return the comparison after the model was asked whether to merge, or whether to ask the user."""
    merges = comparison.relation is StatementRelation.MERGEABLE
    asks = comparison.relation is StatementRelation.CONTRADICTION and not comparison.certain
    if not (merges or asks):
        return comparison
    contradicts = model.contradicts(new, old)
    if contradicts is None or contradicts is asks:
        return comparison
    reason = f"{'no merge' if merges else 'no contradiction'}: {comparison.reason}"
    return replace(
        comparison, relation=StatementRelation.RELATED, reason=reason, rule="", decided_by=model.name
    )
