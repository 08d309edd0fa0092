"""Memories with their tags, clusters and links as one graph, for a person to look at. Reading writes nothing."""

from collections import Counter
from collections.abc import Iterable, Sequence

import recollect.model as m
from recollect.context.store import Store
from recollect.frozen import frozen
from recollect.kinds import KINDS

MOST_MEMORIES = 5000  # in one picture, the newest; a browser lays out as many in seconds
MOST_TAGS = 300  # tags of a single memory say nothing about others and are left out
LONGEST_LABEL = 90  # characters

TAG, CLUSTER = "tag", "cluster"  # groups of the nodes that are no memories


@frozen
class MemoryNode:
    """A memory, a tag or a cluster."""

    key: str  # "m:" and the id, "t:" and the tag's name, or "c:" and the cluster's id
    label: str
    group: str  # a memory's family of kinds, "tag" or "cluster"


@frozen
class NodeLink:
    """A link between two memories, or what ties a memory to a tag or cluster."""

    source: int  # positions of nodes
    target: int
    relation: str


@frozen
class MemoryGraph:
    nodes: tuple[MemoryNode, ...]
    links: tuple[NodeLink, ...]
    total: int  # memories that the view shows, of which the newest are in the graph

    def position(self, key: str) -> int | None:
        return next((place for place, node in enumerate(self.nodes) if node.key == key), None)

    def neighbours(self, place: int) -> list[tuple[str, MemoryNode, bool]]:
        """Return relation, neighbour and whether the link leads away from the node, for each link of a node."""
        found = [
            (
                link.relation,
                self.nodes[link.target if link.source == place else link.source],
                link.source == place,
            )
            for link in self.links
            if place in (link.source, link.target)
        ]
        return sorted(found, key=lambda row: (row[0], row[1].label))

    def degrees(self) -> Counter[int]:
        """Return how many links each node has, by its position."""
        return Counter(place for link in self.links for place in (link.source, link.target))


def memory_graph(
    store: Store, view: m.View, projects: Iterable[str | None], *, family: str = "", tag: str | None = None
) -> MemoryGraph:
    """Return the graph of what `view` shows, only memories of a family of kinds or with a tag if given."""
    memories = [
        memory
        for memory in store.newest(view, tag=tag, limit=None if family else MOST_MEMORIES)
        if not family or family_of(memory) == family
    ][:MOST_MEMORIES]
    nodes = [
        MemoryNode(f"m:{memory.id}", _label(memory.summary or memory.content), family_of(memory))
        for memory in memories
    ]
    places = {memory.id: place for place, memory in enumerate(memories)}
    links = [
        NodeLink(places[link.source], places[link.target], str(link.relation))
        for link in store.iter_links(view)
        if link.source in places and link.target in places
    ]
    _add_tags(memories, nodes, links)
    _add_clusters(store, projects, places, nodes, links)
    return MemoryGraph(tuple(nodes), tuple(links), store.count(view))


def family_of(memory: m.Memory) -> str:
    kind = KINDS.get(memory.kind)
    return kind.family if kind else "other"


def _add_tags(memories: Sequence[m.Memory], nodes: list[MemoryNode], links: list[NodeLink]) -> None:
    counts = Counter(tag for memory in memories for tag in memory.tags)
    places = {}
    for name, count in counts.most_common(MOST_TAGS):
        if count > 1:
            places[name] = len(nodes)
            nodes.append(MemoryNode(f"t:{name}", _label(f"#{name}"), TAG))
    links += [
        NodeLink(place, places[name], TAG)
        for place, memory in enumerate(memories)
        for name in memory.tags
        if name in places
    ]


def _add_clusters(
    store: Store,
    projects: Iterable[str | None],
    places: dict[str, int],
    nodes: list[MemoryNode],
    links: list[NodeLink],
) -> None:
    for project in projects:
        for cluster in store.clusters(project):
            members = [places[name] for name in cluster.members if name in places]
            if len(members) > 1:
                links += [NodeLink(member, len(nodes), CLUSTER) for member in members]
                nodes.append(MemoryNode(f"c:{cluster.id}", _label(cluster.label), CLUSTER))


def _label(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1]}…"
