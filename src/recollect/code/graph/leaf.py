"""What is kept of one file, packed: its outline and edges are unfolded when somebody asks."""

import marshal
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from recollect.code.facts import Binding, Definition, FileFacts, Import, Reference
from recollect.code.graph.names import symbol_ids
from recollect.code.graph.nodes import OUTSIDE, POSSIBLE, Edge, Symbol

_Row = TypeVar("_Row", Definition, Import, Reference, Binding)


class Parse(NamedTuple):
    """What a blob says, as it lies on the shelf. The middle two are read only when something is resolved again."""

    outline: bytes
    rest: bytes
    references: bytes
    terms: bytes


Packed = tuple[
    str, bytes, bytes, bytes
]  # what a file says: its language, its outline, the rest, its references


class References(Sequence[Reference]):
    """What a file refers to, unpacked for each who goes through it: it is most of what a file says, and seldom asked for."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    def __iter__(self) -> Iterator[Reference]:
        return iter(self._unpacked())

    def __len__(self) -> int:
        return len(self._unpacked())

    def __getitem__(self, at: Any) -> Any:
        return self._unpacked()[at]

    def _unpacked(self) -> list[Reference]:
        return _rows(Reference, unpacked(self._packed))


@dataclass(frozen=True)
class Leaf:
    """One file of the graph."""

    path: str
    language: str
    blob: bytes
    packed_outline: bytes = field(repr=False)
    terms: bytes = field(repr=False)
    packed_edges: bytes = field(default=b"", repr=False)

    @cached_property
    def _outline(self) -> tuple[str, list[Definition]]:
        doc, _, columns = unpacked(self.packed_outline)
        return doc, _rows(Definition, columns)

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
                last_name(each),
                each.kind,
                self.path,
                each.line,
                each.end,
                each.signature,
                each.doc,
                each.exported,
            )
            for id, each in zip(symbol_ids(self.path, self.definitions), self.definitions, strict=True)
        )

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        return unpacked_edges(self.packed_edges)

    @cached_property
    def links(self) -> dict[str, float]:
        """By file, how sure and how many the edges are that lead there; what is only possible does not count."""
        links: dict[str, float] = {}
        for edge in self.edges:
            confidence = edge.confidence
            if confidence >= POSSIBLE and not edge.target.startswith(OUTSIDE):
                path = edge.target.split("::", 1)[0]
                links[path] = links.get(path, 0.0) + confidence
        links.pop(self.path, None)
        return links


def last_name(definition: Definition) -> str:
    """`run` of a method that stands outside of its class, and is written `Server.run` there."""
    return definition.name.rpartition(".")[2] or definition.name


def packed_parse(facts: FileFacts, terms: bytes) -> Parse:
    """Column by column: what is alike lies together then, and takes less room and time."""
    outline = (facts.doc, facts.broken, _columns(facts.definitions))
    rest = (
        _columns(facts.imports),
        _columns(facts.bindings, interned=2),
        list(facts.exports),
    )
    return Parse(packed(outline), packed(rest), packed(_columns(facts.references, interned=1)), terms)


def _columns(rows: Sequence[tuple[Any, ...]], interned: int = 0) -> list[Sequence[Any]]:
    """The first `interned` are texts that stand in many files, and are one object again in all that are unpacked."""
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
    columns[:interned] = [list(map(sys.intern, each)) for each in columns[:interned]]
    return columns


def unpacked_facts(language: str, outline: bytes, rest: bytes, references: bytes) -> FileFacts:
    doc, broken, definitions = unpacked(outline)
    imports, bindings, exports = unpacked(rest)
    return FileFacts(
        language,
        _rows(Definition, definitions),
        _rows(Import, imports),
        References(references),
        _rows(Binding, bindings),
        exports,
        doc,
        broken,
    )


def _rows(kind: type[_Row], columns: Sequence[Sequence[Any]]) -> list[_Row]:
    """By way of `tuple`: the `_make` of each class is written in Python, and takes twice as long."""
    return list(map(partial(tuple.__new__, kind), zip(*columns, strict=True)))


def packed_edges(edges: Sequence[Edge]) -> bytes:
    in_order = sorted(edges, key=_BY_LINE)
    return packed([(*map(sys.intern, each[:4]), each.line) for each in in_order]) if edges else b""


_BY_LINE = itemgetter(4, 0, 1, 2, 3)


def unpacked_edges(data: bytes) -> tuple[Edge, ...]:
    return tuple(map(Edge._make, unpacked(data))) if data else ()


def packed(value: Any) -> bytes:
    """Texts that are the same become one object again when it is unpacked. The checksum in it finds damage."""
    return zlib.compress(marshal.dumps(value), 1)


def unpacked(data: bytes) -> Any:
    """Raises `zlib.error` for what `packed` did not make."""
    return marshal.loads(zlib.decompress(data))
