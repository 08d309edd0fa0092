"""Ask a model where the rules are unsure. The comparison says who decided.

A language model decides what the rules are unsure of. A model of natural-language inference calls too many related
statements contradictions to act on its word alone; it may only hold back: a merge, or a question to the user.
"""

from dataclasses import replace
from typing import Protocol

from recollect.llm.protocol import Judge, StatementRelation
from recollect.memory.judgement.comparison import Comparison


class Inference(Protocol):
    """Says whether two texts contradict each other; None if it cannot say."""

    name: str

    def contradicts(self, one: str, other: str) -> bool | None: ...


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
