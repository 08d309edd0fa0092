"""Group code files into the parts that a maintainer would name. Pure.

The heaviest package is split, folder by folder, until there are about as many groups as the project's size calls for. What
is too small for a name stays with its neighbours; files of a flat folder join those they are linked to most.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from recollect.code.languages.table import endings_of
from recollect.code.modules.scan_input import Links
from recollect.code.paths import folder_of
from recollect.frozen import frozen

PER_ROOT = 2.2  # groups for each square root of the number of files: 11 for 25, 22 for 100
FEWEST, MOST = 3, 40
SMALL_FOLDER = 0.25  # of the average group: a smaller folder is not a group…
SMALL_PAIR = 0.8  # …nor is one of two files below this
SMALL_FILE = 0.2
ALL_BUT = 0.92  # of the weight: a folder with so much is skipped in favour of those in it
CROWDED = 2.5  # times the average: nothing more joins such a group
SHARE = 0.15  # of all its links: what a small file must have with another to join it
MAIN = 0.6  # of everything: a package with more is the project
MUCH, MANY = 4.0, 40  # times the average, and files: a smaller flat folder inside a package is not split
_FRONTS = frozenset("__init__ index mod lib doc package-info module-info".split())
_SOURCES, _HEADERS = (".c", ".cc", ".cpp", ".cxx"), (".h", ".hh", ".hpp", ".hxx")
CLASS_FILES = endings_of(
    "java", "kotlin", "csharp", "php", "scala"
)  # a file is a class there, and the folder the module


@frozen
class Group:
    key: str  # a folder ("." is the root), or the file it is named after
    files: tuple[str, ...]  # the heaviest first
    base: str  # the folder with nearly all of it


def group_files(
    sizes: Mapping[str, int], packages: Mapping[str, Sequence[str]], links: Links, name: str = ""
) -> list[Group]:
    """Return the groups. `packages` has the files of each package by folder: no group crosses them.

    `name` is the name of the main package.
    """
    weight = {path: 1 + sizes[path] / 1000 for files in packages.values() for path in files}
    groups = [_group(part or ".", files, weight) for part, files in packages.items() if files]
    wanted = max(FEWEST, min(MOST, round(PER_ROOT * math.sqrt(len(weight)))))
    average = sum(weight.values()) / max(1, wanted)
    main = max(groups, key=lambda group: sum(weight[path] for path in group.files), default=None)
    alone = main and sum(weight[path] for path in main.files) > MAIN * sum(weight.values())
    cut = _Splitter(weight, average, links, _totals(links), main.base if main and alone else None, name)
    done: list[Group] = []
    while groups and len(groups) + len(done) < max(wanted, len(packages)):
        heaviest = max(groups, key=lambda group: sum(weight[path] for path in group.files))
        groups.remove(heaviest)
        split = cut.split(heaviest)
        if len(split) > 1:
            groups += split
        else:
            done.append(heaviest)
    return sorted([*groups, *done], key=lambda group: group.key)


def _totals(links: Links) -> dict[str, float]:
    found: defaultdict[str, float] = defaultdict(float)
    for source, targets in links.items():
        for target, strength in targets.items():
            found[source] += strength
            found[target] += strength
    return found


def main_folder(files: Iterable[str], weight: Mapping[str, float]) -> str:
    """Return the innermost folder with nearly all of the weight."""
    files = list(files)
    total = sum(weight[path] for path in files)
    base = ""
    while True:
        below: defaultdict[str, float] = defaultdict(float)
        start = len(base) + 1 if base else 0
        for path in files:
            if path.startswith(f"{base}/" if base else "") and "/" in path[start:]:
                below[path[start:].split("/")[0]] += weight[path]
        name, most = max(below.items(), key=lambda each: each[1], default=("", 0))
        if not name or most < ALL_BUT * total:
            return base
        base = f"{base}/{name}" if base else name


def _group(key: str, files: Iterable[str], weight: Mapping[str, float]) -> Group:
    ordered = tuple(sorted(files, key=lambda path: (-weight[path], path)))
    return Group(key, ordered, main_folder(ordered, weight))


@frozen
class _Splitter:
    weight: Mapping[str, float]
    average: float  # weight of a group
    links: Links
    totals: Mapping[str, float]  # the links of each file in both directions
    flat: str | None  # the folder whose files are parts of the project by themselves, or None
    name: str

    def split(self, group: Group) -> list[Group]:
        """Return its larger folders as groups; the rest belongs to the folder itself, and is split only if it is large."""
        if self._heft(group.files) < 0.8 * self.average or len(group.files) < 2:
            return [group]
        folders: dict[str, list[str]] = {}
        rest: list[str] = []
        start = f"{group.base}/" if group.base else ""
        for path in group.files:
            inner = path[len(start) :] if path.startswith(start) else ""
            if "/" in inner:
                folders.setdefault(start + inner.split("/")[0], []).append(path)
            else:
                rest.append(path)
        found: list[Group] = []
        for folder, files in folders.items():
            heft = self._heft(files) / self.average
            if (heft < SMALL_FOLDER and len(files) < 4) or (heft < SMALL_PAIR and len(files) < 3):
                rest += files
            else:
                found.append(_group(folder, files, self.weight))
        if not found:
            return self._by_links(group)
        if len(found) == 1 and len(rest) <= 3 and self._heft(rest) < SMALL_PAIR * self.average:
            return self.split(Group(found[0].key, group.files, found[0].base))  # what is left goes along
        return [*found, *self._own(group, rest)]

    def _by_links(self, group: Group) -> list[Group]:
        """Split the files of a flat folder: large ones stand alone, small ones join those they are linked to most."""
        enough, fewest = (1.3, 4) if group.base == self.flat else (MUCH, MANY)
        classes = sum(path.endswith(CLASS_FILES) for path in group.files) * 2 > len(group.files)
        if classes or self._heft(group.files) < enough * self.average or len(group.files) < fewest:
            return [group]
        bunches = _FileClusters(group.files, self.weight, self.links)
        for header, source in _headers(group.files):
            bunches.join(header, source)
        left: list[str] = []  # files that are linked to nothing here, or to everything
        for path in sorted(bunches.files, key=lambda path: (self.weight[path], path)):
            # A cluster that others have joined may not be small any more.
            front = self._is_front(path)
            if front or bunches.heft[path] < SMALL_FILE * self.average:
                best = None if front else self._nearest(path, bunches)
                if best:
                    bunches.join(path, best)
                else:
                    left += bunches.drop(path)
        found = [_group(key, files, self.weight) for key, files in bunches.files.items()]
        return [*found, *self._own(group, left)]

    def _nearest(self, path: str, bunches: "_FileClusters") -> str | None:
        strengths = bunches.around(path)
        near = {
            other: strength / (1 + bunches.heft[other] / self.average)
            for other, strength in strengths.items()
            if not self._is_front(other) and bunches.heft[other] < CROWDED * self.average
        }
        if not near:
            return None
        best = max(near, key=lambda other: (near[other], other))
        everywhere = sum(self.totals.get(each, 0.0) for each in bunches.files[path])
        return best if strengths[best] >= SHARE * everywhere else None

    def _own(self, group: Group, files: Sequence[str]) -> list[Group]:
        """Return a group of the files that belong to the folder itself."""
        own = _group("", files, self.weight)
        inside = not group.base or any(path.startswith(f"{group.base}/") for path in files)
        base = group.base if inside else own.base  # nearly all of the group is elsewhere, and these are not
        return [Group(base or group.key, own.files, base)] if files else []

    def _is_front(self, path: str) -> bool:
        """Return whether a file represents its folder, such as `__init__.py`: it belongs with no single other file."""
        name = path.rsplit("/", 1)[-1].partition(".")[0]
        return name in _FRONTS or name in (folder_of(path).rsplit("/", 1)[-1], self.name)

    def _heft(self, files: Iterable[str]) -> float:
        return sum(self.weight[path] for path in files)


def _headers(files: Iterable[str]) -> list[tuple[str, str]]:
    """Return headers of C and C++ with the source that each belongs to."""
    sources = {path.rpartition(".")[0]: path for path in sorted(files) if path.endswith(_SOURCES)}
    return [
        (path, source)
        for path in sorted(files)
        if path.endswith(_HEADERS) and (source := sources.get(path.rpartition(".")[0]))
    ]


class _FileClusters:
    """Files that have been put together so far, by the first file of each cluster."""

    def __init__(self, files: Iterable[str], weight: Mapping[str, float], links: Links) -> None:
        self.files = {path: [path] for path in files}
        self.heft = {path: weight[path] for path in self.files}
        self._home = {path: path for path in self.files}
        self._near: dict[str, defaultdict[str, float]] = {path: defaultdict(float) for path in self.files}
        for source in self.files:
            for target, strength in links.get(source, {}).items():
                if target in self.files and target != source:
                    self._near[source][target] += strength
                    self._near[target][source] += strength

    def around(self, path: str) -> dict[str, float]:
        """Return the clusters it is linked to, and how strongly."""
        found: defaultdict[str, float] = defaultdict(float)
        for file in self.files[path]:
            for other, strength in self._near[file].items():
                home = self._home.get(other)
                if home is not None and home != path:
                    found[home] += strength
        return found

    def join(self, path: str, other: str) -> None:
        for file in self.files[path]:
            self._home[file] = other
        self.files[other] += self.files.pop(path)
        self.heft[other] += self.heft.pop(path)

    def drop(self, path: str) -> list[str]:
        for file in self.files[path]:
            del self._home[file]
        del self.heft[path]
        return self.files.pop(path)
