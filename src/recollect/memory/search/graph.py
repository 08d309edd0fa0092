"""From the memories that a query hits to memories that are linked with them.

A breadth-first search over the graph of memories, tags and clusters that starts from the best hits. Depth counts hops from
memory to memory: over a link, or over a tag or cluster that both have, which is one hop although it touches three nodes. So
"two hops away" is memory → link → memory → link → memory, and memory → tag → memory is one.

The search goes level by level, best first within a level, and reads the edges of a whole level at once. Going strictly by
score would be wrong where hops are limited: the best path to a memory may be too long to continue from.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import chain, repeat
from typing import NamedTuple

import recollect.model as m
from recollect.context.store import Store
from recollect.frozen import frozen
from recollect.memory import ranking
from recollect.memory.index.index import MemoryIndex

Edges = Callable[[Sequence[str]], Iterable[m.MemoryEdge]]


@frozen
class GraphPath:
    """How a memory was reached from a hit."""

    score: float
    steps: tuple[m.MemoryEdge, ...]  # the first leaves the seed, the last reaches the memory

    @property
    def seed(self) -> str:
        """The id of the hit it starts from."""
        return self.steps[0].source

    def text(self, query: str, shown: Callable[[str], str] = lambda memory_id: f"#{memory_id[-6:]}") -> str:
        """Return the path for people: `"login loop" → #a1b2c3 —tag incident-42→ #d4e5f6`."""
        hops = [f" {_arrow(step)} {shown(step.target)}" for step in self.steps]
        return f"“{query}” → {shown(self.seed)}{''.join(hops)}"


def _arrow(step: m.MemoryEdge) -> str:
    label = f"{step.relation} {step.name}".strip()
    return f"—{label}→" if step.forward else f"←{label}—"


def choose_seeds(hits: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the best of `hits` (ids with their similarity) that are similar enough to start from."""
    best: dict[str, float] = {}
    for name, score in hits:
        if score >= max(ranking.SEED_SIMILARITY, best.get(name, 0.0)):
            best[name] = score
    return dict(sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[: ranking.MOST_SEEDS])


def edges_of(store: Store, view: m.View) -> Edges:
    """Return a function that reads the edges of one level after the other within `view`, for `expand`."""
    widths = chain((ranking.FAN_OUT,), repeat(ranking.FAN_OUT_LATER))
    return lambda ids: store.neighbours(view, ids, next(widths))


def hop_share(edge: m.MemoryEdge) -> float:
    """Return the share of a score that a hop keeps: less for a weak edge, and less where there are many ways on."""
    return _hop_share(edge.relation, edge.weight, edge.degree)


@lru_cache(maxsize=4096)
def _hop_share(relation: str, weight: float, degree: int) -> float:
    if relation == m.Relation.RELATES_TO:
        strength = min(max(weight, 0.0), 1.0)
    else:
        strength = ranking.LINK_SHARES.get(relation, ranking.OTHER_LINK_SHARE)
    free = ranking.FREE_WAYS.get(relation, ranking.FREE_WAYS_OTHERS)
    return ranking.HOP_SHARE * strength * free / max(degree, free)


class _Reached(NamedTuple):
    """A memory on the way, with the path to it."""

    score: float
    share: float  # of the seed's score that is left: 1 at a seed
    edge: m.MemoryEdge | None  # the last of the path; None at a seed
    before: "_Reached | None"


def expand(
    seeds: Mapping[str, float], edges: Edges, *, depth: int = ranking.GRAPH_DEPTH, limit: int = 50
) -> dict[str, GraphPath]:
    """Return the `limit` best memories that `seeds` lead to, best first, each with its best path.

    A seed is among them only if another seed leads to it with a higher score than its own.
    """
    best = {name: _Reached(score, 1.0, None, None) for name, score in seeds.items() if score > 0.0}
    level = dict(best)
    reached: dict[str, _Reached] = {}
    for _ in range(depth):
        level = _next_level(level, best, edges, _lowest_kept(reached, limit))
        best |= level
        reached |= level
    ranked = sorted(reached, key=lambda name: (-reached[name].score, name))[:limit]
    return {name: GraphPath(reached[name].score, _steps(reached[name])) for name in ranked}


def _next_level(
    level: Mapping[str, _Reached], best: Mapping[str, _Reached], edges: Edges, floor: float
) -> dict[str, _Reached]:
    """Return what lies one hop on with a better score than before, from the best of `level` that can exceed `floor`."""
    able = [
        name
        for name, at in level.items()
        if at.score * ranking.HOP_SHARE > floor and at.share * ranking.HOP_SHARE >= ranking.FAINTEST_PATH
    ]
    beam = nlargest(ranking.BEAM, able, key=lambda name: (level[name].score, name))
    reached: dict[str, _Reached] = {}
    for edge in edges(beam) if beam else ():
        at = level[edge.source]
        share = hop_share(edge)
        score = at.score * share
        known = reached.get(edge.target) or best.get(edge.target)
        if at.share * share >= ranking.FAINTEST_PATH and (known is None or score > known.score):
            reached[edge.target] = _Reached(score, at.share * share, edge, at)
    return reached


def _lowest_kept(reached: Mapping[str, _Reached], limit: int) -> float:
    """Return the score of the last memory within `limit`; 0 while there are fewer."""
    if len(reached) < limit or limit < 1:
        return 0.0
    return nlargest(limit, (at.score for at in reached.values()))[-1]


def _steps(at: _Reached | None) -> tuple[m.MemoryEdge, ...]:
    steps: list[m.MemoryEdge] = []
    while at is not None and at.edge is not None:
        steps.append(at.edge)
        at = at.before
    return tuple(reversed(steps))


def similar(
    store: Store, index: MemoryIndex, model: str, memory: m.Memory, view: m.View, limit: int
) -> tuple[str, list[tuple[str, float]]]:
    """Return what is like `memory`, best first, and by which channel: "meaning" with cosines, or "words" without a vector."""
    vector = store.vector(memory.id, model)
    if vector is not None:
        near = index.near(view, model, vector, limit + 1, ranking.RELATED_COSINE)
        return "meaning", [hit for hit in near if hit[0] != memory.id][:limit]
    words = store.match(view, memory.content, limit + 1)
    return "words", [hit for hit in words if hit[0] != memory.id][:limit]
