"""Packages: files whose names are seen together, and how an import names one. Each language picks or writes a class."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping
from posixpath import basename, dirname, join, normpath

from recollect.code.facts import FILE, FileFacts, Import
from recollect.code.languages.language import ReadConfig

QUOTED = r"""["']([^"']*)["']"""  # the patterns of languages are compiled on first use


class Packages(ABC):
    """How one language finds packages. A language overrides what it has; the defaults are for languages without packages."""

    shared = False  # whether the files of a package see each other without an import

    @abstractmethod
    def of(self, path: str) -> str:
        """Return the package of a file."""

    def seen(self, path: str) -> list[str]:
        """Return the packages whose names a file sees without an import, nearest first."""
        return [self.of(path)]

    def find(self, path: str, entry: Import) -> str | None:
        """Return the package that an import takes something from; None if it is not in this project."""
        return None

    def files(self, path: str, entry: Import) -> list[str]:
        """Return the files that an import names as files."""
        return []

    def everything(self, path: str, entry: Import) -> list[str]:
        """Return the packages of which an import brings in all names."""
        package = self.find(path, entry)
        return [package] if package is not None else []

    def inner(self, package: str, name: str) -> str | None:
        """Return the package of that name inside a package."""
        return None

    def root(self, path: str, scope: int, name: str) -> str | None:
        """Return a package that has a name without any import, such as `crate`."""
        return None

    def short(self, module: str) -> str:
        """Return what an imported module is called when the import has no alias."""
        return ""

    def outside(self, entry: Import) -> str:
        """Return the name of an import from outside this project; "" when it says nothing."""
        return entry.module


def import_last_name(path: str, alias: str = "") -> Import:
    """Return the import of `c` from `a.b` for the path `a.b.c`."""
    module, _, name = path.rpartition(".")
    return Import(module or name, name if module else "", alias)


def folders_of(paths: Mapping[str, FileFacts]) -> set[str]:
    folders = {""}
    for path in paths:
        folder = dirname(path)
        while folder not in folders:
            folders.add(folder)
            folder = dirname(folder)
    return folders


class NamespacePackages(Packages):
    """For languages whose files declare a package or namespace."""

    shared = True

    def __init__(self, files: Mapping[str, FileFacts], read: ReadConfig) -> None:
        self._files = files
        self._of = {}
        for path, facts in files.items():
            declared = (
                binding.value
                for binding in facts.bindings
                if binding.name == "package" and binding.scope == FILE
            )
            self._of[path] = next(declared, "")
        self._all = set(self._of.values())

    def of(self, path: str) -> str:
        return self._of[path]

    def find(self, path: str, entry: Import) -> str | None:
        return entry.module if entry.module in self._all and not entry.module.startswith(".") else None

    def files(self, path: str, entry: Import) -> list[str]:
        if not entry.module.startswith("./"):
            return []
        target = normpath(join(dirname(path), entry.module))
        return [target] if target in self._files else []

    def everything(self, path: str, entry: Import) -> list[str]:
        if target := self.files(path, entry):
            return [self._of[target[0]]]
        return [entry.module] if entry.module in self._all else []

    def inner(self, package: str, name: str) -> str | None:
        nested = f"{package}.{name}" if package else name
        return nested if nested in self._all else None

    def short(self, module: str) -> str:
        return module.rpartition(".")[2]

    def outside(self, entry: Import) -> str:
        if entry.module.startswith("."):
            return ""
        return entry.module if entry.name in ("", "*") else f"{entry.module}.{entry.name}"


class FilePackages(Packages):
    """For languages whose imports name files: each file is a package."""

    def __init__(self, files: Mapping[str, FileFacts], read: ReadConfig) -> None:
        self._files = files
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(files):
            self._by_name[basename(path)].append(path)

    def of(self, path: str) -> str:
        return path

    def files(self, path: str, entry: Import) -> list[str]:
        target = self.find_file(path, entry.module)
        return [target] if target else []

    def everything(self, path: str, entry: Import) -> list[str]:
        """Return the package of the imported file, and of all files that it imports itself."""
        packages: dict[str, None] = {}
        waiting = self.files(path, entry)
        seen: set[str] = set()
        while waiting and len(seen) < 500:
            file = waiting.pop(0)
            if file not in seen:
                seen.add(file)
                packages[self.of(file)] = None
                for inner in self._files[file].imports:
                    waiting.extend(self.files(file, inner))
        return list(packages)

    def outside(self, entry: Import) -> str:
        return "" if entry.module.startswith(".") else entry.module.strip("<>")

    def find_file(self, path: str, module: str) -> str | None:
        """Return the file that `module` means in the file at `path`. Override it if the language has other rules."""
        for folder in (dirname(path), ""):
            target = normpath(join(folder, module))
            if target in self._files:
                return target
        return self.only_file_ending_in(module)

    def only_file_ending_in(self, module: str) -> str | None:
        """Return the file whose path ends in `module`, if it is the only one in the project."""
        parts = [part for part in module.split("/") if part not in (".", "..")]
        end = "/" + "/".join(parts)
        candidates = self._by_name.get(parts[-1] if parts else "", ())
        matching = [path for path in candidates if f"/{path}".endswith(end)]
        return matching[0] if len(matching) == 1 else None
