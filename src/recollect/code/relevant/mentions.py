"""What a text names outright: files, modules, symbols, and the frames of a traceback."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from recollect.code.nodes import Symbol

# Expressions here start at the beginning of a word and never in it, so that their time does not grow with the square of a
# long word.
_PATH_CHARACTERS = re.compile(r"[\w.\-/\\]+")
_PATH_END = re.compile(r"(?<=\w)\.[A-Za-z]\w{0,4}\b")
_INNERMOST_LAST = re.compile(
    r'File "([^"\n]+)", line \d+'  # Python
    r'|^[ \t"]{0,40}File ((?:[A-Za-z]:)?[^:"\n]{1,400}):\d+'  # IPython, notebooks
    r'|^[ \t"]{0,40}([~./\w][^\s"]{0,400}\.\w{1,5}) in (?:<|[\w.]{1,200}\()'  # IPython before version 8
    r"|^([\w./\\-]+\.\w+):\d+: ",  # pytest, compilers
    re.M,
)
_INNERMOST_FIRST = re.compile(
    r"^[ \t]+at .{0,500}?(?<![\w./\\-])([\w./\\-]+\.\w+):(?:line )?\d+"  # JavaScript, Java, C#, Rust
    r"|^\t([\w./\\-]+\.go):\d+"  # Go
    r"|^#\d+ ([\w./\\-]+\.php)\(\d+\)"  # PHP
    r"|^[ \t]*(?:from )?([\w./\\-]+\.rb):\d+:in ",  # Ruby
    re.M,
)
_POINTED = re.compile(r"/(?:blob|blame|src)/([\w.\-/]{1,400}\.\w+)")  # a link into the code on a forge
_DOTTED = re.compile(r"(?<!\w)[^\W\d]\w*(?:(?:\.|::|#)[^\W\d]\w*)+")
_JOINT = re.compile(r"\.|::|#")
LONGEST_CHAIN = 20  # names in a dotted chain that count
_QUOTED = re.compile(r"```.*?```|`[^`\n]+`", re.S)
_CALLED = re.compile(r"(?<!\w)[^\W\d]\w+(?=\()")
_WORD = re.compile(r"[^\W\d]\w+")
_COMPOUND = re.compile(r"[^_]_[^_]|[a-z][A-Z]|^_")


def _paths_in(text: str) -> Iterator[str]:
    """Yield what could be paths: runs of their characters, up to the last ending of a file's name."""
    for run in _PATH_CHARACTERS.findall(text):
        ends = [match.end() for match in _PATH_END.finditer(run)]
        if ends:
            yield run[: ends[-1]]


def _paths_of(frame: re.Pattern[str], text: str) -> list[str]:
    return [next(filter(None, match.groups())) for match in frame.finditer(text)]


class Mention(NamedTuple):
    kind: str  # pointed, path, frame, module, member, name
    file: int
    weight: float  # one divided by the number of things it could mean
    symbol: Symbol | None = None


class MentionIndex:
    """What a text can name in a project: all files, and the symbols of those that are not tests or documents."""

    def __init__(
        self,
        paths: Sequence[str],
        symbols: Callable[[str], Sequence[tuple[int, Symbol]]],
        usual: Sequence[bool],
    ) -> None:
        """`symbols` returns the symbols of a name, each with the number of its file."""
        self._paths = [path.split("/") for path in paths]
        self._usual = usual
        self._files: dict[str, list[int]] = defaultdict(list)
        self._modules: dict[str, list[tuple[list[str], int]]] = defaultdict(list)
        self._symbols = symbols
        for number, parts in enumerate(self._paths):
            self._files[parts[-1]].append(number)
            if module := _module(parts):
                self._modules[module[-1]].append((module, number))

    def mentioned(self, text: str) -> list[Mention]:
        """Return everything that `text` names, once for each way it is named."""
        return [
            *self._frames(text),
            *self._named_paths(text),
            *self._pointed(text),
            *self._dotted(text),
            *self._named(text),
        ]

    def _frames(self, text: str) -> Iterator[Mention]:
        """Yield frames. The innermost one weighs most; tests do not count."""
        paths = [*reversed(_paths_of(_INNERMOST_LAST, text)), *_paths_of(_INNERMOST_FIRST, text)]
        frames = map(self._files_at, dict.fromkeys(paths))
        inside = dict.fromkeys(found[0] for found in frames if len(found) == 1 and self._usual[found[0]])
        for distance, file in enumerate(inside):
            yield Mention("frame", file, 1 / (1 + distance))

    def _named_paths(self, text: str) -> Iterator[Mention]:
        for path in dict.fromkeys(_paths_in(text)):
            yield from _shared("path", self._files_at(path))

    def _pointed(self, text: str) -> Iterator[Mention]:
        """Yield files that a link leads to: who links to a file has mostly found the place."""
        for path in dict.fromkeys(_POINTED.findall(text)):
            yield from _shared("pointed", self._files_at(path))

    def _files_at(self, path: str) -> list[int]:
        """Return the files whose paths have the longest common end with this one."""
        parts = path.replace("\\", "/").strip("./").split("/")
        alike = [(_same_end(self._paths[file], parts), file) for file in self._files.get(parts[-1], ())]
        most = max(alike, default=(0, 0))[0]
        return [file for same, file in alike if same == most]

    def _dotted(self, text: str) -> Iterator[Mention]:
        """Yield mentions of the form `package.module.name` and `Class.method`."""
        for chain in dict.fromkeys(_DOTTED.findall(text)):
            parts = _JOINT.split(chain, LONGEST_CHAIN)[:LONGEST_CHAIN]
            for length in range(len(parts), 1, -1):
                if (module := self._module_at(parts[:length])) is not None:
                    yield Mention("module", module, 1.0)
                    yield from self._within(module, parts[length:])
                    break
            for outer, inner in pairwise(parts):
                members = [
                    (file, symbol)
                    for file, symbol in self._symbols(inner)
                    if symbol.id.endswith(f"{outer}.{inner}") or f"{outer}.{inner}#" in symbol.id
                ]
                yield from self._each("member", members)

    def _module_at(self, parts: list[str]) -> int | None:
        """Return the module nearest to the root."""
        fitting = [
            (len(module), file)
            for module, file in self._modules.get(parts[-1], ())
            if module[-len(parts) :] == parts
        ]
        return min(fitting, default=(0, None))[1]

    def _within(self, module: int, rest: list[str]) -> Iterator[Mention]:
        """Yield what a module has under that name, even if it imports it from a module below."""
        if not rest:
            return
        folder = self._paths[module][:-1]
        package = _is_package(self._paths[module])
        yield from self._each(
            "member",
            [
                (file, symbol)
                for file, symbol in self._symbols(rest[0])
                if file == module or (package and self._paths[file][: len(folder)] == folder)
            ],
        )

    def _named(self, text: str) -> Iterator[Mention]:
        """Yield names that look like code: in backquotes, called, or of several parts."""
        quoted = {name for part in _QUOTED.findall(text) for name in _WORD.findall(part)}
        quoted.update(_CALLED.findall(text))
        for name in dict.fromkeys(_WORD.findall(text)):
            if name in quoted or _COMPOUND.search(name):
                yield from self._each("name", self._symbols(name))

    def _each(self, kind: str, symbols: Iterable[tuple[int, Symbol]]) -> Iterator[Mention]:
        found = dict(reversed(list(symbols)))  # the first of a name in each file
        for file, symbol in found.items():
            yield Mention(kind, file, 1 / len(found), symbol)


def _shared(kind: str, files: Sequence[int]) -> Iterator[Mention]:
    return (Mention(kind, file, 1 / len(files)) for file in files)


def _same_end(path: Sequence[str], other: Sequence[str]) -> int:
    same = 0
    for mine, its in zip(reversed(path), reversed(other), strict=False):
        if mine != its:
            break
        same += 1
    return same


def _module(parts: Sequence[str]) -> list[str]:
    """Return the names by which code refers to a file: its folders and its own name without the ending."""
    return list(parts[:-1]) if _is_package(parts) else [*parts[:-1], parts[-1].partition(".")[0]]


def _is_package(parts: Sequence[str]) -> bool:
    return parts[-1].partition(".")[0] in ("__init__", "index", "mod")
