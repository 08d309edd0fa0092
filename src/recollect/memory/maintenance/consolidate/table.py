"""The operations of consolidation, in the order they are done."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from recollect.memory.maintenance.consolidate.act import Act
from recollect.memory.maintenance.consolidate.clusters import clusters
from recollect.memory.maintenance.consolidate.contradictions import contradictions
from recollect.memory.maintenance.consolidate.facts import facts, ties
from recollect.memory.maintenance.consolidate.links import coaccess, links
from recollect.memory.maintenance.consolidate.merge import merge
from recollect.memory.maintenance.consolidate.prune import prune
from recollect.memory.maintenance.consolidate.tags import tags
from recollect.memory.maintenance.consolidate.vectors import vectors
from recollect.memory.maintenance.consolidate.work import Work


@dataclass(frozen=True, slots=True)
class Operation:
    """`plan` gives acts from a position on, the one after which it was cut short, and may give some again."""

    plan: Callable[[Work, str], Iterator[Act]]
    does: str
    at_once: int = 32  # acts to a transaction, so that another writer waits for 50 ms at most


OPERATIONS = {
    "vectors": Operation(vectors, "make the vectors that are missing"),
    "merge": Operation(merge, "make one of what says the same, and ask about what probably does", 8),
    "contradictions": Operation(contradictions, "bring to light what cannot both be true", 8),
    "coaccess": Operation(coaccess, "strengthen links of what was used together"),
    "links": Operation(links, "link what is near, across sessions"),
    "ties": Operation(ties, "tie memories to the code they name"),
    "facts": Operation(facts, "ask about what the code no longer bears out"),
    "prune": Operation(prune, "forget what was archived and is no longer believed", 16),
    "tags": Operation(tags, "make one of tags that are spelt differently, drop those nobody has", 16),
    "clusters": Operation(clusters, "find clusters anew", 1),
}
