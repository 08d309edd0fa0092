"""The code graph in memory: what files contain, who calls whom, what depends on what."""

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from recollect.code.facts import CLASS
from recollect.code.graph.file_node import FileNode
from recollect.code.graph.impact import ImpactHit, find_impact
from recollect.code.languages.table import LANGUAGES
from recollect.code.names import last_name
from recollect.code.nodes import (
    CALLS,
    CONTAINS,
    IMPORTS,
    INHERITS,
    OUTSIDE,
    POSSIBLE,
    REFERENCES,
    CodeEdge,
    Symbol,
)
from recollect.code.paths import FileRole, classify_files
from recollect.errors import UnknownName

Links = Mapping[str, Mapping[str, float]]

_USED_AS = (CALLS, INHERITS, REFERENCES)  # how a class is used, in the order in which that is listed


class EdgeSource(Protocol):
    """Resolves edges of a graph."""

    def resolve(
        self,
        graph: "CodeGraph",
        paths: Collection[str],
        progress: Callable[[int, int], None] | None,
        stop: Callable[[], bool] | None,
    ) -> bool:
        """Give `add_edges` the edges of these files. Return False if `stop` returned True before that was done."""


class CodeGraph:
    """The graph at one moment. What it says never changes, any thread may use it, and indexes are built on first use.

    So are edges: they follow from the files, and are resolved when someone asks for them. That takes milliseconds for the
    edges that begin in a file, and as long as reading the files for those that lead to one, once: any file may have some.
    """

    def __init__(self, nodes: dict[str, FileNode], source: EdgeSource) -> None:
        self.nodes = nodes
        self._source = source

    # Files

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self.nodes)

    def language(self, path: str) -> str:
        return self.nodes[path].language

    def file_doc(self, path: str) -> str:
        return self.nodes[path].doc

    def outline(self, path: str) -> tuple[Symbol, ...]:
        """Return the symbols of the file, in its order."""
        return self.nodes[path].symbols

    def contents(self, path: str) -> tuple[CodeEdge, ...]:
        """Return the edges from the file and its classes to what they contain."""
        return tuple(
            CodeEdge(container_of(symbol.id), CONTAINS, symbol.id, "written", symbol.line)
            for symbol in self.outline(path)
        )

    def terms(self) -> Iterator[tuple[str, bytes]]:
        return ((path, node.terms) for path, node in self.nodes.items())

    def find_files(self, name: str) -> tuple[str, ...]:
        """Find files by path or by the end of one."""
        if name in self.nodes:
            return (name,)
        return tuple(path for path in self.nodes if path.endswith(f"/{name}"))

    def file_named(self, name: str) -> str:
        """Return the one file of that name. Raise `UnknownName` if there is none, or more than one."""
        files = self.find_files(name)
        if len(files) == 1:
            return files[0]
        near = list(files[:5]) or difflib.get_close_matches(name, self.paths, 3)
        error = UnknownName("file", name, near)
        if files:
            error.hint = f"Several files match: {', '.join(near)}."
        elif near:
            error.hint = f"Did you mean {' or '.join(near)}?"
        else:
            error.hint = "The graph has no ignored or generated files, and no files in unsupported languages."
        raise error

    # Symbols

    def symbol(self, id: str) -> Symbol | None:
        node = self.nodes.get(path_of(id))
        return next((symbol for symbol in node.symbols if symbol.id == id), None) if node else None

    def find(self, name: str) -> tuple[Symbol, ...]:
        """Find symbols by id, name, or the end of an id: `App.run`, `app.py::App`, `flask.app.App`. Ignores case if none matches."""
        if exact := self.symbol(name):
            return (exact,)
        wanted = _dotted(name)
        small = wanted.lower()
        alike = self._named.get(small.rsplit(".", 1)[-1], ())
        symbols = [
            symbol for node in alike for symbol in node.symbols if _ends(_dotted(symbol.id).lower(), small)
        ]
        same = [symbol for symbol in symbols if _ends(_dotted(symbol.id), wanted)]
        return tuple(same or symbols)

    def symbols_named(self, name: str) -> tuple[Symbol, ...]:
        """Return the symbols that `find` returns, else the inherited method of a class. Raise `UnknownName` if there are none."""
        symbols = self.find(name) or self._inherited(name)
        if not symbols:
            near = self.near(name)
            error = UnknownName("symbol", name, near)
            error.hint = (
                f"Did you mean {' or '.join(near)}?"
                if near
                else "Run `recollect graph file PATH` to list what a file defines."
            )
            raise error
        return symbols

    def _inherited(self, name: str) -> tuple[Symbol, ...]:
        """Find `Cart.total` in the nearest base of `Cart` that has it."""
        owner, _, member = name.rpartition("::" if "." not in name else ".")
        waiting = [symbol.id for symbol in self.find(owner) if symbol.kind == CLASS] if owner else []
        seen = set(waiting)
        for id in waiting:
            if found := self.symbol(f"{id}.{member}"):
                return (found,)
            bases = (
                edge.target
                for edge in self.edges_of(path_of(id))
                if edge.kind == INHERITS and edge.source == id and self.symbol(edge.target)
            )
            fresh = [base for base in dict.fromkeys(bases) if base not in seen]
            waiting += fresh
            seen.update(fresh)
        return ()

    def near(self, name: str, most: int = 3) -> list[str]:
        """Return similar names, for a name that was mistyped."""
        last = _dotted(name).lower().rsplit(".", 1)[-1]
        names = difflib.get_close_matches(last, self._named, most, cutoff=0.7)
        return [self._spelt(name) for name in names]

    def _spelt(self, small: str) -> str:
        node = self._named[small][0]
        return next(name for name in map(last_name, node.definitions) if name.lower() == small)

    @cached_property
    def _named(self) -> dict[str, list[FileNode]]:
        """By lower-case name, the files that define it."""
        named: dict[str, list[FileNode]] = {}
        for node in self.nodes.values():
            for name in dict.fromkeys(last_name(each).lower() for each in node.definitions):
                named.setdefault(name, []).append(node)
        return named

    # Edges

    def resolve(
        self,
        paths: Iterable[str] | None = None,
        progress: Callable[[int, int], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> bool:
        """Resolve the edges that begin in these files, or in all, at once rather than file by file.

        Return False if `stop` returned True before that was done.
        """
        pending = self.pending(self.nodes if paths is None else paths)
        return not pending or self._source.resolve(self, pending, progress, stop)

    def pending(self, paths: Iterable[str]) -> list[str]:
        """Return those of these files whose edges are not resolved yet."""
        return [path for path in paths if self.nodes[path].packed_edges is None]

    def add_edges(self, edges: Mapping[str, bytes]) -> None:
        """Take packed edges by path. For the source of edges only."""
        for path, packed in edges.items():
            self.nodes[path] = replace(self.nodes[path], packed_edges=packed)

    def edges_of(self, path: str) -> tuple[CodeEdge, ...]:
        """Return all edges that begin in a file, except to what it contains."""
        return self._resolved(path).edges

    def links_of(self, path: str) -> Mapping[str, float]:
        """Return the summed confidence of the edges from a file to each other one."""
        return self._resolved(path).links

    def _resolved(self, path: str) -> FileNode:
        self.resolve((path,))
        return self.nodes[path]

    def edges_to(self, target: str, possible: bool = False) -> tuple[CodeEdge, ...]:
        """Return all edges to a symbol, a path, or something outside the project."""
        return _sure(self._incoming.get(target, ()), possible)

    @cached_property
    def _incoming(self) -> dict[str, list[CodeEdge]]:
        self.resolve()
        incoming: dict[str, list[CodeEdge]] = {}
        for node in self.nodes.values():
            for edge in node.edges:
                incoming.setdefault(edge.target, []).append(edge)
        return incoming

    def callers(self, id: str, possible: bool = False) -> tuple[CodeEdge, ...]:
        """Return one call for each symbol that calls this one. Of a class: whatever creates, inherits or names it.

        Calls from code come before those from tests, examples and the like.
        """
        if (symbol := self.symbol(id)) is None or symbol.kind != CLASS:
            calls = (edge for edge in self.edges_to(id, possible) if edge.kind == CALLS)
            return tuple(sorted(calls, key=lambda edge: path_of(edge.source) not in self._code))
        created = (edge for made in self._constructors(symbol) for edge in self.edges_to(made, possible))
        edges = [edge for edge in (*created, *self.edges_to(id, possible)) if edge.kind in _USED_AS]
        heirs = {edge.source for edge in edges if edge.kind == INHERITS}  # which name it by that
        return tuple(
            sorted(
                (
                    edge
                    for edge in edges
                    if edge.kind != REFERENCES or not (edge.source in heirs or _within(edge.source, id))
                ),
                key=lambda edge: (
                    _USED_AS.index(edge.kind),
                    path_of(edge.source) not in self._code,
                    edge.source,
                ),
            )
        )

    @cached_property
    def _code(self) -> frozenset[str]:
        """The files that are no tests, examples, documents or tools."""
        roles = classify_files(self.nodes)
        return frozenset(path for path, (role, _) in roles.items() if role is FileRole.CODE)

    def _constructors(self, symbol: Symbol) -> list[str]:
        row = LANGUAGES.get(self.language(symbol.path))
        name = f"{symbol.id}.{(row and row.constructor) or symbol.name}"
        return [each.id for each in self.outline(symbol.path) if each.id.partition("#")[0] == name]

    def callees(self, id: str, possible: bool = False) -> tuple[CodeEdge, ...]:
        """Return the calls in a symbol and in everything it contains."""
        path = path_of(id)
        edges = self.edges_of(path) if path in self.nodes else ()
        inside = (edge for edge in edges if edge.kind == CALLS and _within(edge.source, id))
        return _sure(inside, possible)

    def dependencies(self, path: str, possible: bool = False) -> tuple[CodeEdge, ...]:
        """Return one edge for each file or external package that this file needs: the import, or else the surest use."""
        return _one_each(
            (_target_of(edge), edge)
            for edge in _sure(self.edges_of(path), possible)
            if path_of(edge.target) != path
        )

    def dependents(self, path: str, possible: bool = False) -> tuple[CodeEdge, ...]:
        """Return one edge for each file that needs this one."""
        targets = [path, *(symbol.id for symbol in self.outline(path))]
        edges = (edge for target in targets for edge in self.edges_to(target, possible))
        return _one_each((path_of(edge.source), edge) for edge in edges if path_of(edge.source) != path)

    def impact(self, path: str, possible: bool = False) -> tuple[ImpactHit, ...]:
        """Return what may break when the file changes: symbols and files, the likeliest first."""
        changed = [path, *(symbol.id for symbol in self.outline(path))]
        return find_impact(changed, lambda id: self.edges_to(id, possible))

    def file_links(self) -> Links:
        """Return the summed confidence of the edges from each file to each other file."""
        self.resolve()
        return {
            path: {to: weight for to, weight in node.links.items() if to in self.nodes}
            for path, node in self.nodes.items()
        }


def path_of(id: str) -> str:
    """Return the file of a symbol, or the path itself."""
    return id.split("::", 1)[0]


def container_of(id: str) -> str:
    """Return what contains a symbol: another symbol, or its file."""
    path, _, name = id.partition("::")
    inside, dot, _ = name.rpartition(".")
    return f"{path}::{inside}" if dot else path


def _within(id: str, container: str) -> bool:
    return id == container or id.startswith(f"{container}.")


def _dotted(id: str) -> str:
    """Return `src.app.App.run` for `src/app.py::App.run`, as people write it."""
    return (
        re.sub(r"(?:/__init__|/mod|/index)?\.\w+::", ".", id)
        .replace("::", ".")
        .replace("/", ".")
        .split("#")[0]
    )


def _ends(id: str, name: str) -> bool:
    return id == name or id.endswith(f".{name}")


def _sure(edges: Iterable[CodeEdge], possible: bool) -> tuple[CodeEdge, ...]:
    return tuple(edge for edge in edges if possible or edge.confidence >= POSSIBLE)


def _target_of(edge: CodeEdge) -> str:
    """Return the target's file, or its package if it is outside the project."""
    if edge.target.startswith(OUTSIDE):
        return re.split(r"(?<=[^./])[./:]", edge.target.removeprefix(OUTSIDE), maxsplit=1)[0]
    return path_of(edge.target)


def _one_each(edges: Iterable[tuple[str, CodeEdge]]) -> tuple[CodeEdge, ...]:
    best: dict[str, CodeEdge] = {}
    for key, edge in edges:
        known = best.get(key)
        if known is None or _rank(edge) > _rank(known):
            best[key] = edge
    return tuple(best[key] for key in sorted(best))


def _rank(edge: CodeEdge) -> tuple[bool, float]:
    return edge.kind == IMPORTS, edge.confidence
