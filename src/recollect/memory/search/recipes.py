"""Scoring recipes: named ways to turn what is known about a hit into one score.

`default` adds up weighted parts; its weights are in `recollect.memory.ranking`. The `seed-…` recipes reproduce the formulas of
the documents Recollect grew from, factor by factor, numbers included (their "half-life" leaves 37 %), so that the benchmark
can compare them.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime, timedelta

import recollect.model as m
from recollect.errors import UnknownName
from recollect.frozen import frozen
from recollect.kinds import kind_of
from recollect.memory import decay, ranking

_DAY = timedelta(days=1)


@frozen
class HitEvidence:
    """What is known about one memory with regard to one query."""

    memory: m.Memory
    now: datetime
    words: float = 0.0  # BM25
    cosine: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)  # words and meaning, weighted
    graph: float = 0.0  # the score of its best path, 0 without one
    shares_file: bool = False
    in_season: bool = False


@frozen
class Recipe:
    """A way to score hits."""

    name: str
    about: str
    multiplies: bool  # whether the factors are multiplied, or the parts added
    factors: Callable[[HitEvidence], dict[str, float]]

    def score(self, evidence: HitEvidence) -> tuple[float, dict[str, float]]:
        """Return the score, and the named numbers of which it is the sum or the product."""
        factors = self.factors(evidence)
        return (math.prod if self.multiplies else math.fsum)(factors.values()), factors


def _default(evidence: HitEvidence) -> dict[str, float]:
    memory = evidence.memory
    confidence = decay.confidence_now(memory, evidence.now)
    parts = {
        **evidence.parts,
        "graph": ranking.GRAPH_WEIGHT * evidence.graph,
        "file": ranking.FILE_WEIGHT * evidence.shares_file,
        "season": ranking.SEASON_WEIGHT * evidence.in_season,
        "kind": ranking.KIND_WEIGHT * math.log(kind_of(memory.kind).weight),
        "confidence": ranking.CONFIDENCE_WEIGHT * (confidence - 0.5),
    }
    return {name: value for name, value in parts.items() if value or name in evidence.parts}


# Days, as the documents have them.
_HALF_LIFE_000 = {"correction": 365.0, "preference": 90.0, "fact": 30.0, "observation": 7.0}
_HALF_LIFE_002 = {"preference": 180.0}


def _seed_000(evidence: HitEvidence) -> dict[str, float]:
    """base_relevance × e^(−age / half_life) × (1 + ln(accesses + 1)) × trust"""
    memory = evidence.memory
    kind = kind_of(memory.kind)
    days = _HALF_LIFE_000.get(kind.name, kind.half_life)
    age = max((evidence.now - memory.created_at) / _DAY, 0.0)
    return {
        "cosine": max(evidence.cosine, 0.0),
        "decay": math.exp(-age / days) if days else 1.0,
        "use": 1.0 + math.log(1 + memory.access_count),
        "trust": memory.trust,
    }


def _seed_002(evidence: HitEvidence) -> dict[str, float]:
    """0.6 cosine + 0.25 recency + 0.15 frequency, of 20 accesses at most; pinned has all the recency"""
    memory = evidence.memory
    kind = kind_of(memory.kind)
    days = _HALF_LIFE_002.get(kind.name, kind.half_life)
    idle = max((evidence.now - (memory.last_accessed_at or memory.created_at)) / _DAY, 0.0)
    recency = 1.0 if memory.pinned or not days else math.exp(-math.log(2) / days * idle)
    return {
        "cosine": 0.6 * evidence.cosine,
        "recency": 0.25 * recency,
        "frequency": 0.15 * min(memory.access_count / 20, 1.0),
    }


_STANDING = {m.Standing.CANDIDATE: 0.8, m.Standing.CONFIRMED: 1.0, m.Standing.PINNED: 1.5}


def _seed_003(evidence: HitEvidence) -> dict[str, float]:
    """BM25 × kind weight × recency boost × (1 + 0.1·ln(1 + accesses)) × 1.5 if a file is shared × standing"""
    memory = evidence.memory
    return {
        "words": evidence.words,
        "kind": kind_of(memory.kind).weight,
        "recency": decay.recency_boost(memory, evidence.now),
        "use": decay.familiarity(memory.access_count),
        "file": 1.5 if evidence.shares_file else 1.0,
        "standing": _STANDING[memory.standing],
    }


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("default", "words, meaning, the graph, and small priors", False, _default),
        Recipe("seed-000", "cosine × decay × use × trust", True, _seed_000),
        Recipe("seed-002", "0.6 cosine + 0.25 recency + 0.15 frequency", False, _seed_002),
        Recipe("seed-003", "BM25 × kind × recency × use × file × standing", True, _seed_003),
    )
}


def recipe_named(name: str) -> Recipe:
    """Return the recipe with that name. Raise `UnknownName` if there is none."""
    if name not in RECIPES:
        raise UnknownName("recipe", name, list(RECIPES))
    return RECIPES[name]
