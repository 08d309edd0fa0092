"""Rust: a file is a module of a crate, and `Cargo.toml` says where crates begin."""

import re
from collections.abc import Iterator, Mapping
from posixpath import dirname, join

from recollect.code.facts import FILE, FileFacts, Import
from recollect.code.languages.language import Language, ReadConfig
from recollect.code.languages.plain.packages import Packages, folders_of


def _imports(text: str) -> Iterator[Import]:
    """`use a::{b, c::d as e}` is one import for each name; `mod a;` imports the file of that name."""
    public = text.startswith("pub")
    text = re.sub(r"^pub(?:\([^)]*\))?\s*", "", " ".join(text.split())).rstrip("; ")
    if text.startswith("mod "):
        yield Import("self", text.removeprefix("mod "), reexport=public)
    elif text.startswith("use "):
        for path, alias in _use_tree(text.removeprefix("use ").lstrip(":"), 0):
            module, _, name = path.rpartition("::")
            yield Import(module or name, name if module else "", alias, reexport=public)


def _use_tree(text: str, depth: int) -> Iterator[tuple[str, str]]:
    before, brace, rest = text.partition("{")
    if not brace or depth > 20:
        path, _, alias = (part.strip() for part in text.partition(" as "))
        yield path.removesuffix("::self"), alias
        return
    part, level = "", 0
    for letter in rest.rstrip().removesuffix("}") + ",":
        level += (letter == "{") - (letter == "}")
        if letter == "," and level == 0:
            if part.strip():
                yield from _use_tree(before.strip() + part.strip(), depth + 1)
            part = ""
        else:
            part += letter


class RustPackages(Packages):
    """A package is a module, written `crate/folder#a::b`."""

    def __init__(self, files: Mapping[str, FileFacts], read: ReadConfig) -> None:
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

    def find(self, path: str, entry: Import) -> str | None:
        parts = entry.module.split("::")
        own = self._of[path]
        inline = self._inline_modules(path, entry.scope)
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
            package = self.root(path, entry.scope, first) or self.inner(own, first)
        for name in parts:
            package = self.inner(package, name) if package is not None else None
        return package if package in self._all else None

    def _inline_modules(self, path: str, scope: int) -> int:
        """Return how many `mod { … }` of the file are around a scope."""
        count, definitions = 0, self._files[path].definitions
        while scope != FILE:
            count += "namespace" in definitions[scope].decorators
            scope = definitions[scope].scope
        return count

    def inner(self, package: str, name: str) -> str | None:
        module = f"{package}{name}" if package.endswith("#") else f"{package}::{name}"
        return module if module in self._all else None

    def root(self, path: str, scope: int, name: str) -> str | None:
        own = self._of[path]
        if name == "crate":
            return own.partition("#")[0] + "#"
        if name == "super":
            return own if self._inline_modules(path, scope) else _above(own)
        return f"{self._crates[name]}#" if name in self._crates else None

    def short(self, module: str) -> str:
        return module.rpartition("::")[2]

    def outside(self, entry: Import) -> str:
        if entry.module.partition("::")[0] in ("crate", "self", "super"):
            return ""
        return entry.module if entry.name in ("", "*") else f"{entry.module}::{entry.name}"


def _above(module: str) -> str:
    crate, _, inside = module.partition("#")
    return f"{crate}#{inside.rpartition('::')[0]}"


LANGUAGES = (
    Language(
        name="rust",
        endings=(".rs",),
        config_files=("Cargo.toml",),
        read_imports=_imports,
        packages=RustPackages,
        exported_after=rb"\bpub\b",
        super_is_module=True,
    ),
)
