"""What each language has for a package: files whose names are seen together, and how an import names one."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from posixpath import basename, dirname, join, normpath, splitext
from typing import Protocol

from recollect.code.facts import FILE, FileFacts, Import

Read = Callable[[str], bytes | None]  # the contents of a configuration file


class Packages(Protocol):
    shared: bool  # whether files of a package see each other without an import

    def of(self, path: str) -> str:
        """The package of a file."""

    def seen(self, path: str) -> list[str]:
        """The packages whose names a file sees without an import, nearest first."""

    def find(self, path: str, found: Import) -> str | None:
        """The package that an import takes something of; None = it is not of this project."""

    def files(self, path: str, found: Import) -> list[str]:
        """The files that an import names as such."""

    def everything(self, path: str, found: Import) -> list[str]:
        """The packages of which an import brings in all names."""

    def inner(self, package: str, name: str) -> str | None:
        """A package in a package."""

    def root(self, path: str, scope: int, name: str) -> str | None:
        """A package that has a name without any import, such as `crate`."""

    def short(self, module: str) -> str:
        """What an imported module is called when the import does not say."""

    def outside(self, found: Import) -> str:
        """What to call something that is not of this project; "" when that says nothing."""


def packages_of(family: str, files: Mapping[str, FileFacts], read: Read) -> Packages:
    if family == "go":
        return GoPackages(files, read)
    if family == "rust":
        return RustModules(files, read)
    if family == "c":
        return Headers(files)
    if family == "ruby":
        return Requires(files)
    if family == "bash":
        return Sources(files)
    return Namespaces(files)


def folders_of(paths: Mapping[str, FileFacts]) -> set[str]:
    folders = {""}
    for path in paths:
        folder = dirname(path)
        while folder not in folders:
            folders.add(folder)
            folder = dirname(folder)
    return folders


class Namespaces:
    """Java and Kotlin packages, namespaces of C# and PHP: declared in each file."""

    shared = True

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files
        self._of = {}
        for path, facts in files.items():
            declared = (
                given.value for given in facts.bindings if given.name == "package" and given.scope == FILE
            )
            self._of[path] = next(declared, "")
        self._all = set(self._of.values())

    def of(self, path: str) -> str:
        return self._of[path]

    def seen(self, path: str) -> list[str]:
        own = self._of[path]
        language = self._files[path].language
        if language == "csharp":
            parts = own.split(".") if own else []
            return [".".join(parts[:end]) for end in range(len(parts), -1, -1)]
        return [own, ""] if language == "php" and own else [own]

    def find(self, path: str, found: Import) -> str | None:
        return found.module if found.module in self._all and not found.module.startswith(".") else None

    def files(self, path: str, found: Import) -> list[str]:
        if not found.module.startswith("./"):
            return []
        target = normpath(join(dirname(path), found.module))
        return [target] if target in self._files else []

    def everything(self, path: str, found: Import) -> list[str]:
        if target := self.files(path, found):
            return [self._of[target[0]]]
        return [found.module] if found.module in self._all else []

    def inner(self, package: str, name: str) -> str | None:
        found = f"{package}.{name}" if package else name
        return found if found in self._all else None

    def root(self, path: str, scope: int, name: str) -> str | None:
        return None

    def short(self, module: str) -> str:
        return module.rpartition(".")[2]

    def outside(self, found: Import) -> str:
        if found.module.startswith("."):
            return ""
        return found.module if found.name in ("", "*") else f"{found.module}.{found.name}"


class GoPackages:
    """A folder is a package; `go.mod` says what its path begins with."""

    shared = True

    def __init__(self, files: Mapping[str, FileFacts], read: Read) -> None:
        self._all = {dirname(path) for path in files}
        self._modules: dict[str, str] = {}
        for folder in folders_of(files):
            text = (read(join(folder, "go.mod")) or b"").decode("utf-8", "replace")
            if named := re.search(r"^module\s+\"?([^\s\"]+)", text, re.MULTILINE):
                self._modules[named[1]] = folder

    def of(self, path: str) -> str:
        return dirname(path)

    def seen(self, path: str) -> list[str]:
        return [dirname(path)]

    def find(self, path: str, found: Import) -> str | None:
        module = found.module
        while module:
            if module in self._modules:
                folder = normpath(join(self._modules[module], found.module.removeprefix(module).lstrip("/")))
                folder = "" if folder == "." else folder
                return folder if folder in self._all else None
            module = module.rpartition("/")[0]
        return None

    def files(self, path: str, found: Import) -> list[str]:
        return []

    def everything(self, path: str, found: Import) -> list[str]:
        package = self.find(path, found)
        return [package] if package is not None else []

    def inner(self, package: str, name: str) -> str | None:
        return None

    def root(self, path: str, scope: int, name: str) -> str | None:
        return None

    def short(self, module: str) -> str:
        parts = module.split("/")
        last = parts[-2] if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]) else parts[-1]
        return re.sub(r"\.v\d+$", "", last).removeprefix("go-")

    def outside(self, found: Import) -> str:
        return found.module


class RustModules:
    """A file is a module of a crate; `crate/folder#a::b`. `Cargo.toml` says where crates begin."""

    shared = False

    def __init__(self, files: Mapping[str, FileFacts], read: Read) -> None:
        self._files = files
        self._crates: dict[str, str] = {}
        folders: set[str] = set()
        for folder in folders_of(files):
            text = (read(join(folder, "Cargo.toml")) or b"").decode("utf-8", "replace")
            if named := re.search(
                r"^\[package\][^\[]*?^name\s*=\s*\"([^\"]+)\"", text, re.MULTILINE | re.DOTALL
            ):
                self._crates[named[1].replace("-", "_")] = folder
                folders.add(folder)
        self._of = {path: self._module(path, folders) for path in files}
        self._all = set(self._of.values())

    @staticmethod
    def _module(path: str, crates: set[str]) -> str:
        crate = dirname(path)
        while crate and crate not in crates:
            crate = dirname(crate)
        inside = path.removeprefix(crate).lstrip("/").removesuffix(".rs")
        if not inside.startswith("src/"):
            return f"{crate}#{inside}#"
        parts = inside.split("/")[1:]
        if parts[-1] == "mod" or (len(parts) == 1 and parts[0] in ("lib", "main")):
            parts.pop()
        return f"{crate}#{'::'.join(parts)}"

    def of(self, path: str) -> str:
        return self._of[path]

    def seen(self, path: str) -> list[str]:
        return [self._of[path]]

    def find(self, path: str, found: Import) -> str | None:
        parts = found.module.split("::")
        own = self._of[path]
        inline = self._inline(path, found.scope)
        package: str | None = own
        first = parts.pop(0)
        if first == "super":
            for name in [first, *parts]:
                if name != "super":
                    break
                package = own if inline > 0 else _above(package or own)
                inline -= 1
            parts = [name for name in parts if name != "super"]
        elif first != "self":
            package = self.root(path, found.scope, first) or self.inner(own, first)
        for name in parts:
            package = self.inner(package, name) if package is not None else None
        return package if package in self._all else None

    def _inline(self, path: str, scope: int) -> int:
        """How many `mod { … }` of the file a scope stands in."""
        count, definitions = 0, self._files[path].definitions
        while scope != FILE:
            count += "namespace" in definitions[scope].decorators
            scope = definitions[scope].scope
        return count

    def files(self, path: str, found: Import) -> list[str]:
        return []

    def everything(self, path: str, found: Import) -> list[str]:
        package = self.find(path, found)
        return [package] if package is not None else []

    def inner(self, package: str, name: str) -> str | None:
        found = f"{package}{name}" if package.endswith("#") else f"{package}::{name}"
        return found if found in self._all else None

    def root(self, path: str, scope: int, name: str) -> str | None:
        own = self._of[path]
        if name == "crate":
            return own.partition("#")[0] + "#"
        if name == "super":
            return own if self._inline(path, scope) else _above(own)
        return f"{self._crates[name]}#" if name in self._crates else None

    def short(self, module: str) -> str:
        return module.rpartition("::")[2]

    def outside(self, found: Import) -> str:
        if found.module.partition("::")[0] in ("crate", "self", "super"):
            return ""
        return found.module if found.name in ("", "*") else f"{found.module}::{found.name}"


def _above(module: str) -> str:
    crate, _, inside = module.partition("#")
    return f"{crate}#{inside.rpartition('::')[0]}"


class _Named:
    """Languages whose imports name files."""

    shared = False

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files
        self._by_end: dict[str, list[str]] = defaultdict(list)
        for path in sorted(files):
            self._by_end[basename(path)].append(path)

    def of(self, path: str) -> str:
        return path

    def seen(self, path: str) -> list[str]:
        return [self.of(path)]

    def find(self, path: str, found: Import) -> str | None:
        return None

    def files(self, path: str, found: Import) -> list[str]:
        target = self._file(path, found.module)
        return [target] if target else []

    def everything(self, path: str, found: Import) -> list[str]:
        """With what the file that is named brings in itself."""
        packages: dict[str, None] = {}
        waiting = self.files(path, found)
        seen: set[str] = set()
        while waiting and len(seen) < 500:
            here = waiting.pop(0)
            if here not in seen:
                seen.add(here)
                packages[self.of(here)] = None
                for inner in self._files[here].imports:
                    waiting.extend(self.files(here, inner))
        return list(packages)

    def inner(self, package: str, name: str) -> str | None:
        return None

    def root(self, path: str, scope: int, name: str) -> str | None:
        return None

    def short(self, module: str) -> str:
        return ""

    def outside(self, found: Import) -> str:
        return "" if found.module.startswith(".") else found.module.strip("<>")

    def _file(self, path: str, module: str) -> str | None:
        for folder in (dirname(path), ""):
            target = normpath(join(folder, module))
            if target in self._files:
                return target
        return self._ending_in(module)

    def _ending_in(self, module: str) -> str | None:
        """The only file of the project whose path ends so."""
        parts = [part for part in module.split("/") if part not in (".", "..")]
        end = "/" + "/".join(parts)
        matching = [
            one for one in self._by_end.get(parts[-1] if parts else "", ()) if f"/{one}".endswith(end)
        ]
        return matching[0] if len(matching) == 1 else None


class Headers(_Named):
    """C and C++: a header and the source of its name are one."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        super().__init__(files)
        alike: dict[str, list[str]] = defaultdict(list)
        for path in files:
            alike[splitext(basename(path))[0]].append(path)
        self._of = {}
        for name, paths in alike.items():
            headers = [path for path in paths if splitext(path)[1].startswith(".h")]
            is_pair = len(headers) == 1 and len(paths) == 2
            for path in paths:
                self._of[path] = name if is_pair else splitext(path)[0]

    def of(self, path: str) -> str:
        return self._of[path]

    def _file(self, path: str, module: str) -> str | None:
        if not module.startswith("<"):
            return super()._file(path, module)
        module = module.strip("<>")
        return self._ending_in(module if "/" in module else f"include/{module}")


class Requires(_Named):
    """Ruby: what is required, or loaded when it is named, is seen everywhere."""

    def of(self, path: str) -> str:
        return ""

    def everything(self, path: str, found: Import) -> list[str]:
        return []

    def _file(self, path: str, module: str) -> str | None:
        file = module if module.endswith(".rb") else f"{module}.rb"
        if module.startswith("."):
            target = normpath(join(dirname(path), file))
            return target if target in self._files else None
        looked = (self._ending_in(f"{folder}/{file}") for folder in ("lib", "spec", "test", "app"))
        return next((found for found in looked if found), None)


class Sources(_Named):
    """Bash."""

    def outside(self, found: Import) -> str:
        return ""
