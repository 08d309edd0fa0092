"""Pack and unpack what the graph stores of a file: its facts, its edges, and any other plain value.

Packed values are compressed `marshal` data. Facts are packed column by column, because similar values compress
better and unpack faster when they stand together.
"""

import marshal
import sys
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from recollect.code.facts import Binding, Definition, FileFacts, Import, Reference
from recollect.code.names import DefinedNames, defined_names
from recollect.code.nodes import CodeEdge

_Row = TypeVar("_Row", Definition, Import, Reference, Binding)


class ParsedFile(NamedTuple):
    """The packed facts and terms of one blob. `rest` and `references` are read only to resolve edges again, and `words` to
    find out which files a change affects.
    """

    outline: bytes
    rest: bytes
    references: bytes
    terms: bytes
    words: bytes  # hashes of the words of its text
    name_hashes: bytes
    name_terms: bytes
    are_tests: bool

    @property
    def names(self) -> DefinedNames:
        return DefinedNames(self.name_hashes, self.name_terms, self.are_tests)


ShownParse = tuple[bytes, bytes, DefinedNames]  # outline, terms and names: what the graph has of a file
PackedFacts = tuple[str, bytes, bytes, bytes]  # language, outline, rest, references


class LazyReferences(Sequence[Reference]):
    """The references of a file, unpacked on each use: they are most of its facts and seldom needed."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __iter__(self) -> Iterator[Reference]:
        return iter(self._unpacked())

    def __len__(self) -> int:
        return len(self._unpacked())

    def __getitem__(self, at: Any) -> Any:
        return self._unpacked()[at]

    def _unpacked(self) -> list[Reference]:
        return _rows(Reference, unpack(self._data))


def pack_file(facts: FileFacts, terms: bytes, words: bytes) -> ParsedFile:
    outline = (facts.doc, facts.broken, _columns(facts.definitions))
    rest = (_columns(facts.imports), _columns(facts.bindings, interned=2), list(facts.exports))
    references = _columns(facts.references, interned=1)
    return ParsedFile(
        pack(outline), pack(rest), pack(references), terms, words, *defined_names(facts.definitions)
    )


def _columns(rows: Sequence[tuple[Any, ...]], interned: int = 0) -> list[Sequence[Any]]:
    """Transpose `rows`. The first `interned` columns hold strings that occur in many files: intern them."""
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
    columns[:interned] = [list(map(sys.intern, column)) for column in columns[:interned]]
    return columns


def unpack_facts(language: str, outline: bytes, rest: bytes, references: bytes) -> FileFacts:
    doc, broken, definitions = unpack(outline)
    imports, bindings, exports = unpack(rest)
    return FileFacts(
        language,
        _rows(Definition, definitions),
        _rows(Import, imports),
        LazyReferences(references),
        _rows(Binding, bindings),
        exports,
        doc,
        broken,
    )


def unpack_outline(outline: bytes) -> tuple[str, list[Definition]]:
    """Return what is written about the file, and its definitions."""
    doc, _, definitions = unpack(outline)
    return doc, _rows(Definition, definitions)


def _rows(kind: type[_Row], columns: Sequence[Sequence[Any]]) -> list[_Row]:
    """Build rows with `tuple.__new__`: the `_make` of a named tuple is Python code and takes twice as long."""
    return list(map(partial(tuple.__new__, kind), zip(*columns, strict=True)))


def pack_edges(edges: Sequence[CodeEdge]) -> bytes:
    in_order = sorted(edges, key=_BY_LINE)
    return pack([(*map(sys.intern, edge[:4]), edge.line) for edge in in_order]) if edges else b""


_BY_LINE = itemgetter(4, 0, 1, 2, 3)


def unpack_edges(data: bytes) -> tuple[CodeEdge, ...]:
    return tuple(map(CodeEdge._make, unpack(data))) if data else ()


def pack(value: Any) -> bytes:
    """Equal strings become one object again when the value is unpacked. zlib's checksum detects damage."""
    return zlib.compress(marshal.dumps(value), 1)


def unpack(data: bytes) -> Any:
    """Raise `zlib.error` for data that `pack` did not make."""
    return marshal.loads(zlib.decompress(data))
