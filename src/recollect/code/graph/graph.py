"""The code graph in memory: what a file holds, who calls whom, what depends on what."""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from recollect.code.graph.file_node import FileNode, last_name
from recollect.code.graph.impact import ImpactHit, find_impact
from recollect.code.nodes import CALLS, CONTAINS, IMPORTS, OUTSIDE, POSSIBLE, CodeEdge, Symbol
from recollect.errors import UnknownName

Links = Mapping[str, Mapping[str, float]]


class CodeGraph:
    """Of one moment: it never changes, and any thread may ask. What a question needs is unfolded when it is first asked."""

    def __init__(self, leaves: Mapping[str, FileNode]) -> None:
        self.leaves = leaves

    # files

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self.leaves)

    def language(self, path: str) -> str:
        return self.leaves[path].language

    def file_doc(self, path: str) -> str:
        return self.leaves[path].doc

    def outline(self, path: str) -> tuple[Symbol, ...]:
        """What is defined in the file, in its order."""
        return self.leaves[path].symbols

    def contents(self, path: str) -> tuple[CodeEdge, ...]:
        """What the file and its classes contain."""
        return tuple(
            CodeEdge(container_of(symbol.id), CONTAINS, symbol.id, "written", symbol.line)
            for symbol in self.outline(path)
        )

    def terms(self) -> Iterator[tuple[str, bytes]]:
        return ((path, leaf.terms) for path, leaf in self.leaves.items())

    def find_files(self, name: str) -> tuple[str, ...]:
        """By path, or by the end of one."""
        if name in self.leaves:
            return (name,)
        return tuple(path for path in self.leaves if path.endswith(f"/{name}"))

    def file_named(self, name: str) -> str:
        """The one that is meant. Raises `UnknownName`."""
        files = self.find_files(name)
        if len(files) == 1:
            return files[0]
        near = list(files[:5]) or difflib.get_close_matches(name, self.paths, 3)
        error = UnknownName("file", name, near)
        if files:
            error.hint = f"Several end so: {', '.join(near)}."
        elif near:
            error.hint = f"Did you mean {' or '.join(near)}?"
        else:
            error.hint = "Files that are ignored, generated or in no language we read are not in the graph."
        raise error

    # symbols

    def symbol(self, id: str) -> Symbol | None:
        leaf = self.leaves.get(path_of(id))
        return next((symbol for symbol in leaf.symbols if symbol.id == id), None) if leaf else None

    def find(self, name: str) -> tuple[Symbol, ...]:
        """By id, by name, or by the end of an id: `App.run`, `app.py::App`, `flask.app.App`. If none fits, in any case."""
        if exact := self.symbol(name):
            return (exact,)
        wanted = _dotted(name)
        small = wanted.lower()
        alike = self._named.get(small.rsplit(".", 1)[-1], ())
        symbols = [
            symbol for leaf in alike for symbol in leaf.symbols if _ends(_dotted(symbol.id).lower(), small)
        ]
        same = [symbol for symbol in symbols if _ends(_dotted(symbol.id), wanted)]
        return tuple(same or symbols)

    def symbols_named(self, name: str) -> tuple[Symbol, ...]:
        """As `find`. Raises `UnknownName` where nothing is called so."""
        symbols = self.find(name)
        if not symbols:
            near = self.near(name)
            error = UnknownName("symbol", name, near)
            error.hint = (
                f"Did you mean {' or '.join(near)}?"
                if near
                else "`recollect graph file PATH` shows what a file defines."
            )
            raise error
        return symbols

    def near(self, name: str, most: int = 3) -> list[str]:
        """Names that look like it: someone has mistyped."""
        last = _dotted(name).lower().rsplit(".", 1)[-1]
        names = difflib.get_close_matches(last, self._named, most, cutoff=0.7)
        return [self._spelt(name) for name in names]

    def _spelt(self, small: str) -> str:
        leaf = self._named[small][0]
        return next(name for name in map(last_name, leaf.definitions) if name.lower() == small)

    @cached_property
    def _named(self) -> dict[str, list[FileNode]]:
        """By name in small letters, the files that define it."""
        named: dict[str, list[FileNode]] = {}
        for leaf in self.leaves.values():
            for name in dict.fromkeys(last_name(each).lower() for each in leaf.definitions):
                named.setdefault(name, []).append(leaf)
        return named

    # edges

    def edges_to(self, target: str, possible: bool = False) -> tuple[CodeEdge, ...]:
        """All that lead to a symbol, a path, or something outside."""
        return _sure(self._incoming.get(target, ()), possible)

    @cached_property
    def _incoming(self) -> dict[str, list[CodeEdge]]:
        incoming: dict[str, list[CodeEdge]] = {}
        for leaf in self.leaves.values():
            for edge in leaf.edges:
                incoming.setdefault(edge.target, []).append(edge)
        return incoming

    def callers(self, id: str, possible: bool = False) -> tuple[CodeEdge, ...]:
        """The calls of it; of a class, those that make one."""
        return tuple(edge for edge in self.edges_to(id, possible) if edge.kind == CALLS)

    def callees(self, id: str, possible: bool = False) -> tuple[CodeEdge, ...]:
        """What is called in it, or in what it contains."""
        leaf = self.leaves.get(path_of(id))
        edges = leaf.edges if leaf else ()
        inside = (edge for edge in edges if edge.kind == CALLS and _within(edge.source, id))
        return _sure(inside, possible)

    def dependencies(self, path: str, possible: bool = False) -> tuple[CodeEdge, ...]:
        """An edge for each file or thing outside that this file needs: its import, or else the surest use."""
        return _one_each(
            (_target_of(edge), edge)
            for edge in _sure(self.leaves[path].edges, possible)
            if path_of(edge.target) != path
        )

    def dependents(self, path: str, possible: bool = False) -> tuple[CodeEdge, ...]:
        """An edge for each file that needs this one."""
        targets = [path, *(symbol.id for symbol in self.outline(path))]
        edges = (edge for target in targets for edge in self.edges_to(target, possible))
        return _one_each((path_of(edge.source), edge) for edge in edges if path_of(edge.source) != path)

    def impact(self, path: str, possible: bool = False) -> tuple[ImpactHit, ...]:
        """What may break when the file changes: symbols and files of others, the likeliest first."""
        changed = [path, *(symbol.id for symbol in self.outline(path))]
        return find_impact(changed, lambda id: self.edges_to(id, possible))

    def file_links(self) -> Links:
        """How much each file has to do with those it needs: the confidence of all edges that lead there, added up."""
        return {
            path: {to: weight for to, weight in leaf.links.items() if to in self.leaves}
            for path, leaf in self.leaves.items()
        }


def path_of(id: str) -> str:
    """The file of a symbol; a path is its own."""
    return id.split("::", 1)[0]


def container_of(id: str) -> str:
    """What a symbol stands in: another symbol, or its file."""
    path, _, name = id.partition("::")
    inside, dot, _ = name.rpartition(".")
    return f"{path}::{inside}" if dot else path


def _within(id: str, container: str) -> bool:
    return id == container or id.startswith(f"{container}.")


def _dotted(id: str) -> str:
    """`src/app.py::App.run` as one may say it: `src.app.App.run`."""
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
    """The file at the other end, or the package if it is none of ours."""
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
