"""One hop in the memory graph, from rows that a backend has read: which links, tags and clusters are followed."""

from collections.abc import Iterable
from heapq import nsmallest

from recollect.model import MemoryEdge

# Rows of one tag or cluster that are looked at for each that may be walked: some are archived, or of another
# branch. With more rows than that it counts as a hub whatever their state.
LOOKED_AT = 2

# Memories of tags and clusters looked at in one call, rarest first: each is a page of its own.
BUDGET = 250


def strongest(links: Iterable[tuple[str, str, str, float, int]], fan_out: int) -> list[MemoryEdge]:
    """Return the `fan_out` best links of each memory."""
    by_source: dict[str, list[tuple[str, str, str, float, int]]] = {}
    for link in links:
        by_source.setdefault(link[0], []).append(link)
    return [
        MemoryEdge(source, target, relation, "", weight, len(found), bool(forward))
        for found in by_source.values()
        for source, target, relation, weight, forward in nsmallest(
            fan_out, found, key=lambda link: (-link[3], link[1], link[2])
        )
    ]


def group_names(groups_of: Iterable[tuple[str, str]]) -> list[str]:
    """Return the tags or clusters of these pairs, once each."""
    return list(dict.fromkeys(group for _, group in groups_of))


def affordable(sizes: Iterable[tuple[str, int]], most: int, budget: int) -> tuple[list[str], int]:
    """Return the groups that are no hubs, smallest first, as many as `budget` allows; and what is left of it."""
    chosen: list[str] = []
    for group, size in sizes:
        if size > min(most, budget):
            break
        chosen.append(group)
        budget -= size
    return chosen, budget


def through(
    relation: str,
    groups_of: Iterable[tuple[str, str]],
    members: Iterable[tuple[str, str, str]],
    fan_out: int,
) -> list[MemoryEdge]:
    """Return the hops from each memory to the others of its tags or clusters, hubs left out."""
    groups: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for group, member, name in members:
        groups.setdefault(group, []).append(member)
        names[group] = name
    return [
        MemoryEdge(memory, other, relation, names[group], 1.0, len(groups[group]) - 1, True)
        for memory, group in groups_of
        if group in groups and len(groups[group]) - 1 <= fan_out
        for other in groups[group]
        if other != memory
    ]
