"""Which file of the project a module name means, by Python's rules."""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator

_ENDINGS = (".py", ".pyi", ".pyw")
_ROOTS = ("", "src", "lib", "python")  # folders that are on the path of every file


class PythonModules:
    """All Python files of a project by the names they can be imported under."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths: set[str] = set(paths)
        self._found: dict[tuple[str, str], str | None] = {}
        self._named: dict[str, list[str]] = {}  # the files that names mean, of names that were looked up
        self._index()

    def add(self, path: str) -> None:
        if path not in self._paths:
            self._paths.add(path)
            self._update(path)

    def remove(self, path: str) -> None:
        if path in self._paths:
            self._paths.remove(path)
            self._update(path)

    def _update(self, path: str) -> None:
        """Index a file that was added or removed. Only a package changes what other files are called."""
        if _is_package(path.rpartition("/")[2]):
            self._index()
            return
        last = _last_name(path)
        (self._by_last[last].append if path in self._paths else self._by_last[last].remove)(path)
        # A name that ends otherwise cannot mean it; one of dots alone can: a module may be called like a folder.
        self._found = {
            key: found for key, found in self._found.items() if key[0].rpartition(".")[2] not in ("", last)
        }
        self._named = {name: paths for name, paths in self._named.items() if name.rpartition(".")[2] != last}

    def _index(self) -> None:
        self._found, self._named = {}, {}
        self._by_last: dict[str, list[str]] = defaultdict(list)  # by the last part of their names
        for path in self._paths:
            self._by_last[_last_name(path)].append(path)

    def imported(self, name: str, importer: str) -> str | None:
        """Return the file that `import name` in `importer` reads; None if it is not in the project."""
        key = (name, importer.rpartition("/")[0])
        if key not in self._found:
            self._found[key] = self._find(name, importer)
        return self._found[key]

    def _find(self, name: str, importer: str) -> str | None:
        if name.startswith("."):
            return self._relative(name, importer)
        if name.partition(".")[0] in sys.stdlib_module_names:
            return None
        found = [path for path in self._files_named(name) if self._reachable(path, name, importer)]
        if len(found) > 1:
            found.sort(key=lambda path: -_shared(path, importer))
        return found[0] if found else None

    def _files_named(self, name: str) -> list[str]:
        if name not in self._named:
            # Thousands of files may have the same last name: leave out most before their packages are looked up.
            ending = name.replace(".", "/")
            self._named[name] = sorted(
                path
                for path in self._by_last.get(name.rpartition(".")[2], ())
                if ("." in path.rpartition(".")[0] or _stem(path).endswith(ending))
                and name in self._names(path)
            )
        return self._named[name]

    def inside(self, package: str, name: str) -> str | None:
        """Return the file of a package's submodule."""
        folder, _, file = package.rpartition("/")
        return self._file(f"{folder}/{name}" if folder else name) if _is_package(file) else None

    def packages(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield the packages that contain a file, innermost first, and the name of the next one in each."""
        folder, _, file = path.rpartition("/")
        name = "" if _is_package(file) else file.rpartition(".")[0]
        while folder:
            if name and (package := self._file(folder)) and _is_package(package.rpartition("/")[2]):
                yield package, name
            folder, _, name = folder.rpartition("/")

    def below(self, path: str) -> list[str]:
        """Return the other files in a package and its sub-packages; none if `path` is a module."""
        folder, _, file = path.rpartition("/")
        if not _is_package(file):
            return []
        return [each for each in self._paths if each.startswith(f"{folder}/") and each != path]

    def _relative(self, name: str, importer: str) -> str | None:
        rest = name.lstrip(".")
        folders = importer.split("/")[: -(len(name) - len(rest))]
        if len(name) - len(rest) > importer.count("/") + 1:
            return None
        return self._file("/".join([*folders, *rest.split(".")] if rest else folders))

    def _file(self, stem: str) -> str | None:
        for ending in _ENDINGS:
            if (path := f"{stem}/__init__{ending}" if stem else f"__init__{ending}") in self._paths:
                return path
            if (path := stem + ending) in self._paths:
                return path
        return None

    def _names(self, path: str) -> Iterator[str]:
        """Yield its names from the top of its package, and from each folder above that."""
        parts = _stem(path).split("/")
        return (".".join(parts[at:]) for at in range(min(self._top(path) + 1, len(parts))))

    def _top(self, path: str) -> int:
        """Return the number of folders above the package that `path` is in."""
        folders = path.split("/")[:-1]
        while folders and "/".join([*folders, "__init__.py"]) in self._paths:
            folders.pop()
        return len(folders)

    def _reachable(self, path: str, name: str, importer: str) -> bool:
        """Return whether `importer` can import it. A package may be installed from anywhere; a lone module only from its own folder."""
        stem = _stem(path)
        root = stem[: -len(name) - 1] if len(stem) > len(name) else ""
        if root in _ROOTS or self._top(path) < path.count("/"):
            return True
        return importer.startswith(f"{root}/")


def _last_name(path: str) -> str:
    """Return the last part of the names under which a file can be imported."""
    return _stem(path).rpartition("/")[2].rpartition(".")[2]


def _stem(path: str) -> str:
    return path.rpartition(".")[0].removesuffix("/__init__")


def _is_package(file: str) -> bool:
    return file.startswith("__init__.")


def _shared(path: str, other: str) -> int:
    """Return how many leading folders two paths have in common."""
    count = 0
    for one, two in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if one != two:
            break
        count += 1
    return count
