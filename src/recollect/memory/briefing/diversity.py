"""Choose hits that do not repeat each other."""

from collections.abc import Sequence

import numpy as np

import recollect.model as m
from recollect.context.store import Store
from recollect.memory import ranking

MOST_OF_SESSION = 2  # hits from one source session


def diverse(
    hits: Sequence[m.Hit], values: Sequence[float], vectors: Sequence[bytes | None], most: int
) -> list[m.Hit]:
    """Return the most valuable hits that do not repeat each other (maximal marginal relevance), at most two from one session."""
    left = list(range(len(hits)))
    best = max(values, default=0.0) or 1.0
    chosen: list[int] = []
    while left and len(chosen) < most:

        def value(i: int) -> tuple[float, int]:
            likeness = max((_cosine(vectors[i], vectors[j]) for j in chosen), default=0.0)
            share = ranking.DIVERSITY_SHARE
            return (1 - share) * values[i] / best - share * likeness, -i

        pick = max(left, key=value)
        left.remove(pick)
        session = hits[pick].memory.session
        taken = sum(hits[i].memory.session == session for i in chosen)
        if session is None or taken < MOST_OF_SESSION:
            chosen.append(pick)
    return [hits[i] for i in chosen]


def vectors_of(store: Store, model: str, hits: Sequence[m.Hit]) -> list[bytes | None]:
    return [store.vector(hit.memory.id, model) for hit in hits]


def _cosine(one: bytes | None, other: bytes | None) -> float:
    if one is None or other is None:
        return 0.0
    return float(np.frombuffer(one, "<f4") @ np.frombuffer(other, "<f4"))
