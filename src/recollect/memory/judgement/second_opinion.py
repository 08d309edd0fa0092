"""Ask a model where the rules are unsure. It decides, and the comparison says that it did."""

from dataclasses import replace

from recollect.llm.protocol import Judge
from recollect.memory.judgement.compare import Comparison


def asked_of(judge: Judge, comparison: Comparison, new: str, old: str) -> Comparison:
    """Return what the judge makes of two statements, or `comparison` if it cannot say."""
    relation = judge.relate(new, old)
    if relation is None:
        return comparison
    return replace(
        comparison, relation=relation, certain=True, rule="", decided_by=getattr(judge, "name", "model")
    )
