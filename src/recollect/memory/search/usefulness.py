"""Turn scores into the probability that a memory is useful to the agent that is told it. Pure functions."""

import math
from collections.abc import Sequence

import recollect.model as m
from recollect.kinds import kind_of
from recollect.memory import ranking


def useful_probabilities(hits: Sequence[m.Hit]) -> dict[str, float]:
    """Return by id how likely each hit of one search is to be useful. `hits` are all that the search found, best first."""
    best = max((hit.score for hit in hits), default=0.0)
    by_meaning = any(hit.why.get("parts", {}).get("meaning") for hit in hits)
    return {hit.memory.id: round(_probability(hit, best, by_meaning), 4) for hit in hits}


def _probability(hit: m.Hit, best: float, by_meaning: bool) -> float:
    channels = hit.why.get("channels", {})
    if channels and not channels.keys() & {"words", "meaning", "trigger"}:
        return 0.0  # a neighbour in the graph alone
    behind = 1.0 - hit.score / best if best > 0 else 0.0
    needed = 0.5 if by_meaning else 0.3
    if kind_of(hit.memory.kind).weight <= ranking.TRANSIENT_KIND_WEIGHT:
        needed *= ranking.TRANSIENT_FACTOR
    return 1.0 / (1.0 + math.exp(-(12.0 * (hit.score - needed) - 12.0 * max(behind - 0.25, 0.0))))
