"""What may break when something changes: whoever is reached by going against calls, inheritance and imports."""

import heapq
from collections.abc import Callable, Iterable
from typing import NamedTuple

from recollect.code.nodes import CALLS, IMPORTS, INHERITS, REFERENCES, USES, CodeEdge

MOST = 500  # reached; who asks reads the first few
LEAST = 0.05  # weight from which something is worth a look
# How likely a break is passed on by an edge. To import a file is not to use what changed in it.
_PASSED_ON = {INHERITS: 0.6, CALLS: 0.5, USES: 0.4, REFERENCES: 0.4, IMPORTS: 0.25}


class ImpactHit(NamedTuple):
    id: str  # a symbol's, or a path
    distance: int  # edges
    weight: float  # 1 = surely
    because: CodeEdge  # the last of them: it leads from here to what changed


def find_impact(
    changed: Iterable[str], edges_to: Callable[[str], Iterable[CodeEdge]], most: int = MOST
) -> tuple[ImpactHit, ...]:
    """From what `changed`, the likeliest first; each by the way that makes it likeliest."""
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
