"""What may break when something changes: whatever is reached against the direction of calls, inheritance and imports."""

import heapq
from collections.abc import Callable, Iterable
from typing import NamedTuple

from recollect.code.nodes import CALLS, IMPORTS, INHERITS, REFERENCES, USES, CodeEdge

MOST = 500  # hits; callers read the first few
LEAST = 0.05  # the weight below which a hit is not worth a look
# The probability that an edge passes on a break. Importing a file is not using what changed in it.
_PASSED_ON = {INHERITS: 0.6, CALLS: 0.5, USES: 0.4, REFERENCES: 0.4, IMPORTS: 0.25}


class ImpactHit(NamedTuple):
    id: str  # of a symbol, or a path
    distance: int  # in edges
    weight: float  # 1 = certain
    because: CodeEdge  # the last edge: it leads from this hit towards the change


def find_impact(
    changed: Iterable[str], edges_to: Callable[[str], Iterable[CodeEdge]], most: int = MOST
) -> tuple[ImpactHit, ...]:
    """Return what the change reaches, the likeliest first, each with the weight of its likeliest path."""
    found: dict[str, ImpactHit] = {}
    begins = set(changed)
    waiting = [(-1.0, 0, id) for id in sorted(begins)]
    best = dict.fromkeys(begins, 1.0)
    done: set[str] = set()
    while waiting and len(done) < len(begins) + most:
        weight, distance, id = heapq.heappop(waiting)
        if id in done:
            continue
        done.add(id)
        for edge in edges_to(id):
            passed = -weight * edge.confidence * _PASSED_ON.get(edge.kind, 0.0)
            if passed >= LEAST and passed > best.get(edge.source, 0.0):
                best[edge.source] = passed
                found[edge.source] = ImpactHit(edge.source, distance + 1, passed, edge)
                heapq.heappush(waiting, (-passed, distance + 1, edge.source))
    likeliest = sorted(found.values(), key=lambda each: (-each.weight, each.id))
    return tuple(likeliest[:most])
