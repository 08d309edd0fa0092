"""Find the code that a memory is about: existing files and symbols that its text names."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

import recollect.model as m
from recollect.code.decoding import decode_source
from recollect.code.languages.table import language_of
from recollect.code.nodes import Symbol

if TYPE_CHECKING:
    from recollect.memory.anchors.marks import Marked

MOST_ANCHORS = 8
LONGEST = 2_000_000  # bytes of the largest file that is read
QUICK = 16_000  # bytes that are parsed in 5 ms

_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_PATH = re.compile(r"(?<![\w@/.-])(?:[\w@.-]++/|(?!))*+[\w@-][\w@.-]*\.\w{1,8}(?![\w/])")
_NAME = r"[A-Za-z_$][\w$]*"
_QUALIFIED = re.compile(rf"({_NAME}(?:(?:\.|::|#){_NAME})*)\s*(?:\(|$)")
# What looks like code outside of backticks: dotted, with an underscore or a hump, or called.
_BARE = re.compile(
    rf"(?<![\w./`$])(?:{_NAME}(?:\.{_NAME})+|[A-Za-z]\w*_\w+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|{_NAME}(?=\(\)))"
)


class KnownCode(Protocol):
    """The methods of a code graph that find names."""

    def find(self, name: str) -> tuple[Symbol, ...]: ...

    def find_files(self, name: str) -> tuple[str, ...]: ...


def tie(
    root: Path,
    text: str,
    file_paths: Iterable[str] = (),
    code: KnownCode | None = None,
    *,
    quick: bool = False,
) -> tuple[m.Anchor, ...]:
    """Return anchors to the code below `root` that `text` names, as it is now.

    A symbol must stand in a file that is named, or be the only one of its name in `code`. `quick` is for where someone
    waits: where it would take longer nothing is tied, and another time will do.
    """
    files = _files(root, text, file_paths, code)
    names = [name for name in _names(text) if not any(f"/{path}".endswith(f"/{name}") for path in files)]
    if quick and names and any(_size(root / path) > QUICK for path in files):
        return ()
    found: list[m.Anchor] = []
    for path in files:
        found += _symbols(root, path, names) or [m.Anchor(path)]
    told = {anchor.symbol.rpartition(".")[2] for anchor in found}
    for name in names:
        last = name.rpartition(".")[2]
        same = code.find(name) if code is not None and last not in told else ()
        if len(same) == 1 and same[0].name == last:
            found += _symbols(root, same[0].path, [same[0].id.partition("::")[2]])
    return tuple(dict.fromkeys(found))[:MOST_ANCHORS]


def marked_file(root: Path, path: str) -> "Marked | None":
    """Parse a file below `root`; None if it does not exist, is too large, or is not code that can be parsed."""
    from recollect.memory.anchors.marks import Marked  # it imports the parsers; most memories name no code

    try:
        file = (root / path).resolve()
        if not file.is_relative_to(root.resolve()) or file.stat().st_size > LONGEST:
            return None
        data = file.read_bytes()
    except (OSError, ValueError, RuntimeError):
        return None
    language = language_of(path, data[:100])
    source = decode_source(data) if language else None
    return Marked(language, source) if language and source is not None else None


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _names(text: str) -> list[str]:
    """Return the words of `text` that may name symbols, written as `Outer.inner`."""
    found: list[str] = []
    for quoted in _QUOTED.findall(text):
        _, _, inside = quoted.rpartition("::") if ".py::" in quoted else ("", "", quoted)
        if match := _QUALIFIED.match(inside.strip().lstrip(".")):
            found.append(match[1])
    found += _BARE.findall(_QUOTED.sub(" ", text))
    return [name.replace("::", ".").replace("#", ".") for name in dict.fromkeys(found)]


def _files(root: Path, text: str, given: Iterable[str], code: KnownCode | None) -> list[str]:
    """Return the paths, relative to the root, of existing files that are named."""
    named = [*given, *(match[0].removeprefix("./") for match in _PATH.finditer(text))]
    return list(dict.fromkeys(path for name in named if (path := _path(root, name, code))))


def _path(root: Path, name: str, code: KnownCode | None) -> str | None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        return None
    try:
        if (root / path).is_file():
            return path.as_posix()
    except (OSError, ValueError):
        return None
    below = code.find_files(path.as_posix()) if code is not None else ()
    return below[0] if len(below) == 1 else None


def _symbols(root: Path, path: str, names: Sequence[str]) -> list[m.Anchor]:
    file = marked_file(root, path) if names else None
    if file is None:
        return []
    wanted = dict.fromkeys(symbol for name in names for symbol in _meant(name, file))
    return [m.Anchor(path, symbol, file.mark(symbol) or "") for symbol in wanted]


def _meant(name: str, there: "Marked") -> Iterator[str]:
    """Yield the symbol that `name` means: itself, the only one that ends in it, or the name without its module."""
    tail = name
    while tail:
        if tail in there:
            yield tail
            return
        ends = [symbol for symbol in there if symbol.endswith(f".{tail}")]
        if len(ends) == 1:
            yield ends[0]
            return
        tail = tail.partition(".")[2]
