"""One file of the code graph. Its outline and edges stay packed until someone asks for them.

Ask the graph for edges: those of a file that is new or affected by a change are resolved on first use.
"""

from dataclasses import dataclass, field
from functools import cached_property

from recollect.code.facts import Definition
from recollect.code.names import NO_NAMES, DefinedNames, last_name
from recollect.code.nodes import OUTSIDE, POSSIBLE, CodeEdge, Symbol, symbol_ids
from recollect.code.packing import unpack_edges, unpack_outline


@dataclass(frozen=True)
class FileNode:
    path: str
    language: str
    blob: bytes
    packed_outline: bytes = field(repr=False)
    terms: bytes = field(repr=False)
    names: DefinedNames = field(default=NO_NAMES, repr=False)
    packed_edges: bytes | None = field(default=None, repr=False)  # None = not resolved yet

    @cached_property
    def _outline(self) -> tuple[str, list[Definition]]:
        return unpack_outline(self.packed_outline)

    @property
    def doc(self) -> str:
        return self._outline[0]

    @property
    def definitions(self) -> list[Definition]:
        return self._outline[1]

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        return tuple(
            Symbol(
                id,
                last_name(definition),
                definition.kind,
                self.path,
                definition.line,
                definition.end,
                definition.signature,
                definition.doc,
                definition.exported,
            )
            for id, definition in zip(symbol_ids(self.path, self.definitions), self.definitions, strict=True)
        )

    @cached_property
    def edges(self) -> tuple[CodeEdge, ...]:
        assert self.packed_edges is not None, f"the edges of {self.path} are not resolved"
        return unpack_edges(self.packed_edges)

    @cached_property
    def links(self) -> dict[str, float]:
        """The summed confidence of the edges to each other file. Edges that are only possible do not count."""
        links: dict[str, float] = {}
        for edge in self.edges:
            confidence = edge.confidence
            if confidence >= POSSIBLE and not edge.target.startswith(OUTSIDE):
                path = edge.target.split("::", 1)[0]
                links[path] = links.get(path, 0.0) + confidence
        links.pop(self.path, None)
        return links
