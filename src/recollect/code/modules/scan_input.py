"""The input of a scan: the files of a project with their sizes, their texts on demand, and data of the code graph."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from recollect.code.facts import CLASS, VARIABLE
from recollect.code.nodes import IMPORTS, OUTSIDE, CodeEdge, Symbol
from recollect.code.paths import folder_of, join

Links = Mapping[str, Mapping[str, float]]  # path → path → weight

MOST_OF = 0.6  # of a file's lines
MUCH_OF = 0.25  # of a file, that the class of its name must be to describe it: a type may have that name, too
MOST_READ = 64 * 1024  # characters of a file
# These decide which package manager is used, and file listings leave them out.
_LOCKS = (
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lockb",
    "bun.lock",
    "package-lock.json",
)
_MANIFESTS = ("pyproject.toml", "package.json")


class ScannedGraph(Protocol):
    """The part of the code graph that a scan uses."""

    @property
    def paths(self) -> Iterable[str]: ...
    def file_links(self) -> Links: ...
    def dependencies(self, path: str) -> Sequence[CodeEdge]: ...
    def outline(self, path: str) -> Sequence[Symbol]: ...


@dataclass(frozen=True)
class ScanInput:
    sizes: Mapping[str, int]  # path → bytes, of all files
    read: Callable[[str], str]  # the beginning of a file; "" if it cannot be read
    links: Links = field(default_factory=dict)
    outside: Mapping[str, Sequence[str]] = field(
        default_factory=dict
    )  # path → what it imports from outside the project
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)  # path → the names it defines
    docs: Mapping[str, str] = field(default_factory=dict)  # path → the documentation of its main class

    def __contains__(self, path: str) -> bool:
        return path in self.sizes

    def text(self, path: str) -> str:
        """Return the beginning of a file; "" if there is none."""
        return self.read(path) if path in self.sizes else ""

    def inside(self, folder: str) -> set[str]:
        """Return the names of the files in `folder` itself; "" is the root."""
        return self._folders.get(folder, set())

    @cached_property
    def _folders(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for path in self.sizes:
            folder, _, name = path.rpartition("/")
            found.setdefault(folder, set()).add(name)
        return found


def read_scan_input(root: Path, files: Iterable[str], graph: ScannedGraph | None = None) -> ScanInput:
    """Read the input at `root`. Without a graph, modules follow the folders alone."""
    sizes = {path: size for path in files if (size := _size(root / path)) is not None}
    for path in [path for path in sizes if path.rsplit("/", 1)[-1] in _MANIFESTS]:
        for lock in _LOCKS:
            beside = join(folder_of(path), lock)
            if (root / beside).is_file():
                sizes[beside] = 0

    def read(path: str) -> str:
        try:
            with (root / path).open(encoding="utf-8", errors="replace") as file:
                return file.read(MOST_READ)
        except OSError:
            return ""

    if graph is None:
        return ScanInput(sizes, read)
    known = [path for path in graph.paths if path in sizes]
    return ScanInput(
        sizes,
        read,
        graph.file_links(),
        {path: _outside(graph.dependencies(path)) for path in known},
        {path: _names(graph.outline(path)) for path in known},
        {path: _about(path, graph.outline(path)) for path in known},
    )


def _names(symbols: Sequence[Symbol]) -> list[str]:
    """Return names of functions and classes, top-level ones first; of variables if there is nothing else."""
    chosen = [symbol for symbol in symbols if symbol.kind != VARIABLE] or symbols
    return [symbol.name for symbol in sorted(chosen, key=lambda symbol: "." in symbol.id.partition("::")[2])]


SHORTEST_WRAPPED = 50  # characters: a shorter line of a comment is seldom continued


def _about(path: str, symbols: Sequence[Symbol]) -> str:
    """Return the documentation of the class that the file is named after, or of one that is most of it."""
    stem = path.rsplit("/", 1)[-1].partition(".")[0].replace("_", "").lower()
    lines = max((symbol.end for symbol in symbols), default=0)
    for symbol in sorted(symbols, key=lambda symbol: symbol.line - symbol.end):
        part = (symbol.end - symbol.line) / max(lines, 1)
        is_main = part > MOST_OF or (symbol.name.lower() == stem and part > MUCH_OF)
        if symbol.doc and symbol.kind == CLASS and is_main:
            return _marked_as_cut(path, symbol.doc)
    return ""


def _marked_as_cut(path: str, line: str) -> str:
    """Return the first line of a comment, with an ellipsis where its sentence goes on in the next one."""
    is_whole = path.endswith(".py") or len(line) < SHORTEST_WRAPPED or line[-1] in ".!?:)>"
    return line if is_whole else f"{line}…"


def _outside(edges: Iterable[CodeEdge]) -> list[str]:
    return [
        edge.target.removeprefix(OUTSIDE)
        for edge in edges
        if edge.kind == IMPORTS and edge.target.startswith(OUTSIDE)
    ]


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
