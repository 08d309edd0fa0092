"""The memory graph in the language of Graphviz."""

from collections.abc import Iterable, Iterator, Sequence

import recollect.model as m
from recollect.interfaces.cli.output import cut, one_line, short_ids
from recollect.kinds import kind_of

_COLOURS = {  # by family of kinds
    "user": "#d9ead3",
    "knowledge": "#dbe8f8",
    "how-to": "#e6dff3",
    "warning": "#fbe0dc",
    "session": "#eeeeee",
    "review": "#fdf0cc",
}
_CLIPPED = 40  # columns of a label's text; the tooltip has all of it


def as_dot(memories: Sequence[m.Memory], links: Sequence[m.Link]) -> str:
    """Memories with a link, and the links. Those without would be a row of boxes as wide as the store is large."""
    linked = {end for link in links for end in (link.source, link.target)}
    drawn = [memory for memory in memories if memory.id in linked]
    known = {memory.id for memory in drawn}
    lines = [
        "digraph memories {",
        f"  // {len(memories) - len(drawn)} memories without links are left out",
        '  node [shape=box, style="rounded,filled", fontname="sans-serif"]',
        '  edge [fontname="sans-serif", fontsize=10]',
        *_nodes(drawn),
        *(_edge(link) for link in links if link.source in known and link.target in known),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _nodes(memories: Sequence[m.Memory]) -> Iterator[str]:
    for memory, name in zip(memories, short_ids([each.id for each in memories]), strict=True):
        label = f"{_escaped(name)}\\n{_escaped(cut(one_line(memory.content), _CLIPPED))}"
        colour = _COLOURS.get(kind_of(memory.kind).family, "white")
        tip = _escaped(f"{memory.kind}: {one_line(memory.content)}")
        yield f'  "{_escaped(memory.id)}" [label="{label}", fillcolor="{colour}", tooltip="{tip}"]'


def _edge(link: m.Link) -> str:
    settled = link.relation is m.Relation.CONTRADICTS and link.resolved_at is not None
    looks: Iterable[str] = (
        f'label="{_escaped(link.relation)}{" (settled)" if settled else ""}"',
        f"penwidth={0.5 + 1.5 * link.weight:.2f}",
        *_LOOKS.get(link.relation, ()),
    )
    return f'  "{_escaped(link.source)}" -> "{_escaped(link.target)}" [{", ".join(looks)}]'


_LOOKS = {
    m.Relation.CONTRADICTS: ('color="#c0392b"', "dir=both"),
    m.Relation.RELATES_TO: ('color="#888888"', "dir=none"),
    m.Relation.SUPERSEDES: ("style=dashed",),
}


def _escaped(text: str) -> str:
    """For between quotes: no quote ends it, no \\N is filled in, no &lt; is decoded."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
