"""From the memories a query hits to those that hang together with them.

A walk over the graph of memories, tags and clusters that starts from the best hits. Depth counts hops from memory
to memory: over a link, or over a tag or cluster that both have, which is one hop although it touches three nodes. So
"two hops away" is memory → link → memory → link → memory, and memory → tag → memory is one.

The walk goes level by level, best first within a level, and asks for the edges of a whole level at once. Walking
strictly by score would be wrong where hops are limited: the best path to a memory may be too long to go on from.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest
from itertools import chain, repeat
from typing import NamedTuple

import recollect.model as m
from recollect.context.store import Store
from recollect.model import MemoryEdge

NEAR_ENOUGH = 0.4  # similarity a hit must have to be a seed
MOST_SEEDS = 10
DEPTH = 2
DECAY = 0.7  # each hop keeps so much
STRENGTH = {"tag": 0.8, "cluster": 0.6, m.Relation.SUPERSEDES: 0.9}
OTHER = 0.3  # contradicts, derived_from, depends_on, caused_by
FAN_OUT = 16  # the strongest links of a memory; and a tag or cluster with more others than that leads nowhere
FAN_OUT_LATER = 10  # after the first hop: a tag with more others would be too faint, see FAINTEST
ALIKE = 0.25  # below this cosine two memories have nothing in common
BEAM = 10  # memories of one level that the walk goes on from

# Paths worth less than this share of their seed's score are not walked. Two hops over links of 0.3 are worth 0.044
# and are the faintest that mean something.
FAINTEST = 0.04

# Where there are many ways on, each counts for its share of them, as for one who walks at random. A square root was
# tried: answers of bench/data/linked.jsonl came 1 to 3 places later, behind twice as many that led nowhere. These are the
# ways that are no crowd yet: a tag ties two memories as closely as it can, links are made one by one, and a cluster
# is close by itself.
_FREE = {"tag": 1}
_FREE_OTHERS = 8

Edges = Callable[[Sequence[str]], Iterable[MemoryEdge]]


@dataclass(frozen=True, slots=True)
class Path:
    """How a memory was reached."""

    score: float
    steps: tuple[MemoryEdge, ...]  # the first leaves the seed, the last reaches the memory

    @property
    def seed(self) -> str:
        return self.steps[0].source

    def text(self, query: str, shown: Callable[[str], str] = lambda memory_id: f"#{memory_id[-6:]}") -> str:
        """For people: `"login loop" → #a1b2c3 —tag incident-42→ #d4e5f6`."""
        ways = [f" {_arrow(step)} {shown(step.target)}" for step in self.steps]
        return f"“{query}” → {shown(self.seed)}{''.join(ways)}"


def _arrow(step: MemoryEdge) -> str:
    way = f"{step.relation} {step.name}".strip()
    return f"—{way}→" if step.forward else f"←{way}—"


def choose_seeds(hits: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The best of `hits`, ids with their similarity, that are near enough to start from."""
    best: dict[str, float] = {}
    for name, score in hits:
        if score >= max(NEAR_ENOUGH, best.get(name, 0.0)):
            best[name] = score
    return dict(sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_SEEDS])


def edges_of(store: Store, view: m.View) -> Edges:
    """The edges of one walk over what `view` shows, for `cascade`."""
    widths = chain((FAN_OUT,), repeat(FAN_OUT_LATER))
    return lambda ids: store.neighbours(view, ids, next(widths))


def worth(edge: MemoryEdge) -> float:
    """What share of a score a hop keeps: less the weaker the edge, and the more ways there are to go."""
    return _worth(edge.relation, edge.weight, edge.degree)


@lru_cache(maxsize=4096)
def _worth(relation: str, weight: float, degree: int) -> float:
    if relation == m.Relation.RELATES_TO:
        strength = min(max(weight, 0.0), 1.0)
    else:
        strength = STRENGTH.get(relation, OTHER)
    free = _FREE.get(relation, _FREE_OTHERS)
    return DECAY * strength * free / max(degree, free)


class _Reached(NamedTuple):
    score: float
    worth: float  # of the whole path so far: 1 at a seed
    edge: MemoryEdge | None  # the last of the path; None at a seed
    before: "_Reached | None"


def cascade(
    seeds: Mapping[str, float], edges: Edges, *, depth: int = DEPTH, limit: int = 50
) -> dict[str, Path]:
    """The `limit` best memories that `seeds` lead to, best first, each with its best path.

    A seed is among them only where another one leads to it more strongly than it was hit itself.
    """
    best = {name: _Reached(score, 1.0, None, None) for name, score in seeds.items() if score > 0.0}
    level = dict(best)
    found: dict[str, _Reached] = {}
    for _ in range(depth):
        level = _step(level, best, edges, _bar(found, limit))
        best |= level
        found |= level
    ranked = sorted(found, key=lambda name: (-found[name].score, name))[:limit]
    return {name: Path(found[name].score, _steps(found[name])) for name in ranked}


def _step(
    level: Mapping[str, _Reached], best: Mapping[str, _Reached], edges: Edges, bar: float
) -> dict[str, _Reached]:
    """What lies one hop on and has not been reached as well before; from the best of `level` that can still clear `bar`."""
    hopeful = [name for name, at in level.items() if at.score * DECAY > bar and at.worth * DECAY >= FAINTEST]
    walked = nlargest(BEAM, hopeful, key=lambda name: (level[name].score, name))
    reached: dict[str, _Reached] = {}
    for edge in edges(walked) if walked else ():
        at = level[edge.source]
        share = worth(edge)
        score = at.score * share
        known = reached.get(edge.target) or best.get(edge.target)
        if at.worth * share >= FAINTEST and (known is None or score > known.score):
            reached[edge.target] = _Reached(score, at.worth * share, edge, at)
    return reached


def _bar(found: Mapping[str, _Reached], limit: int) -> float:
    """The score of the last that would be kept now; 0 while there is room."""
    if len(found) < limit or limit < 1:
        return 0.0
    return nlargest(limit, (at.score for at in found.values()))[-1]


def _steps(at: _Reached | None) -> tuple[MemoryEdge, ...]:
    steps: list[MemoryEdge] = []
    while at is not None and at.edge is not None:
        steps.append(at.edge)
        at = at.before
    return tuple(reversed(steps))


def similar(
    store: Store, model: str, memory: m.Memory, view: m.View, limit: int
) -> tuple[str, list[tuple[str, float]]]:
    """What is like `memory`, best first, and by what: "meaning" with cosines, or "words" where it has no vector."""
    vector = store.vector(memory.id, model)
    if vector is not None:
        near = store.near(view, model, vector, limit + 1, ALIKE)
        return "meaning", [pair for pair in near if pair[0] != memory.id][:limit]
    words = store.match(view, memory.content, limit + 1)
    return "words", [pair for pair in words if pair[0] != memory.id][:limit]
