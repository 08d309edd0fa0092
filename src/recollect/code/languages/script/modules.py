"""Which file an import of JavaScript or TypeScript means, or whether it is outside the project."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from posixpath import dirname, join, normpath
from typing import Any

_ENDINGS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_WRITTEN = {
    ".js": (".ts", ".tsx"),
    ".jsx": (".tsx",),
    ".mjs": (".mts",),
    ".cjs": (".cts",),
}  # the sources that these are compiled from
_BUILT = re.compile(r"^(?:\./)?(?:dist|lib|build|out|esm|cjs)/")
_CONDITIONS = ("source", "types", "import", "module", "default", "require", "node", "browser")
# Matches strings (kept), comments, and commas before a closing bracket: tsconfig files contain both.
_LENIENT = re.compile(
    r'("(?:[^"\\]|\\.|(?!))*+(?:"|\Z))|//[^\n]*|/\*(?:(?!/\*).)*?\*/|,(?=\s{0,200}[}\]])', re.DOTALL
)


class ScriptModules:
    """Finds imported files. `read` returns the contents of a configuration file, or None."""

    def __init__(self, paths: Iterable[str], read: Callable[[str], bytes | None]) -> None:
        self._paths = set(paths)
        self._read = read
        self._found: dict[tuple[str, str], str | None] = {}

    def changed(self, path: str, exists: bool) -> None:
        if exists != (path in self._paths):
            (self._paths.add if exists else self._paths.discard)(path)
            self._found.clear()
            self.__dict__.pop("_packages", None)
            self.__dict__.pop("_aliases", None)

    def find(self, path: str, module: str) -> str | None:
        """Return the file that `module` means in the file `path`; None if it is not in this project."""
        key = (dirname(path), module)
        if key not in self._found:
            self._found[key] = self._resolve(*key)
        return self._found[key]

    def _resolve(self, folder: str, module: str) -> str | None:
        module = module.split("?")[0]  # `./icon.svg?raw` of bundlers
        if module.startswith((".", "/")):
            return self._file(_inside(folder, module))
        for near, exact, before, after, targets in self._aliases:
            if near and not f"{folder}/".startswith(f"{near}/"):
                continue
            if (exact and module == before) or (
                not exact and module.startswith(before) and module.endswith(after)
            ):
                middle = module[len(before) : len(module) - len(after)]
                for target in targets:
                    if found := self._file(normpath(target.replace("*", middle))):
                        return found
        name = "/".join(module.split("/")[: 2 if module.startswith("@") else 1])
        if name in self._packages:
            return self._of_package(*self._packages[name], module.removeprefix(name).lstrip("/"))
        return None

    def _file(self, target: str) -> str | None:
        if target in self._paths:
            return target
        for written, meant in _WRITTEN.items():
            if target.endswith(written):
                stem = target.removesuffix(written)
                if found := next((stem + ending for ending in meant if stem + ending in self._paths), None):
                    return found
        for stem in (target, join(target, "index")):
            for ending in _ENDINGS:
                if stem + ending in self._paths:
                    return stem + ending
        return None

    def _of_package(self, folder: str, manifest: dict[str, Any], rest: str) -> str | None:
        entry = f"./{rest}" if rest else "."
        named = [*_exported(manifest.get("exports"), entry)]
        if not rest:
            named += [
                manifest[key]
                for key in ("source", "types", "module", "main")
                if isinstance(manifest.get(key), str)
            ]
            named += ["src/index", "index"]
        named += [rest, f"src/{rest}"] if rest else []
        for name in named:
            # Exports are often built files, and their sources are in `src`.
            for tried in (name, _BUILT.sub("src/", name), _BUILT.sub("", name)):
                stem = re.sub(r"\.d\.[cm]?ts$", ".js", tried)
                if found := self._file(_inside(folder, stem)) or self._file(_inside(folder, tried)):
                    return found
        return None

    @cached_property
    def _packages(self) -> dict[str, tuple[str, dict[str, Any]]]:
        found: dict[str, tuple[str, dict[str, Any]]] = {}
        for folder in self._folders:
            manifest = self._json(join(folder, "package.json"))
            if isinstance(name := manifest.get("name"), str):
                found.setdefault(name, (folder, manifest))
        return found

    @cached_property
    def _aliases(self) -> list[tuple[str, bool, str, str, list[str]]]:
        """The `paths` and `baseUrl` of each tsconfig, the deepest folder's first."""
        rows = []
        for folder in sorted(self._folders, key=lambda name: -name.count("/") - bool(name)):
            for name in ("tsconfig.json", "jsconfig.json"):
                options, base = self._options(folder, name)
                for pattern, targets in (options.get("paths") or {}).items():
                    before, star, after = pattern.partition("*")
                    places = [_inside(base, target) for target in targets if isinstance(target, str)]
                    rows.append((folder, not star, before, after, places))
                if isinstance(options.get("baseUrl"), str):
                    rows.append((folder, False, "", "", [join(base, "*")]))
        return rows

    def _options(self, folder: str, name: str) -> tuple[dict[str, Any], str]:
        """Return the compiler options in that file or those it extends, and the folder that `paths` are relative to."""
        options: dict[str, Any] = {}
        base = folder
        for _ in range(5):
            config = self._json(join(folder, name))
            own = config.get("compilerOptions")
            if isinstance(own, dict):
                if not options.get("paths") and not options.get("baseUrl"):
                    base = _inside(folder, own["baseUrl"]) if isinstance(own.get("baseUrl"), str) else folder
                options = {**own, **options}
            extended = config.get("extends")
            if not isinstance(extended, str) or not extended.startswith("."):
                break
            target = _inside(folder, extended if extended.endswith(".json") else extended + ".json")
            folder, name = dirname(target), target.rpartition("/")[2]
        return options, base

    @property
    def _folders(self) -> set[str]:
        folders = {""}
        for path in self._paths:
            folder = dirname(path)
            while folder not in folders:
                folders.add(folder)
                folder = dirname(folder)
        return folders

    def _json(self, path: str) -> dict[str, Any]:
        data = self._read(path)
        if data is None:
            return {}
        try:
            value = json.loads(_LENIENT.sub(r"\1", data.decode("utf-8-sig", "replace")))
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def _inside(folder: str, name: str) -> str:
    found = normpath(join(folder, name.lstrip("/") if name.startswith("/") else name))
    return "" if found == "." else found


def _exported(exports: object, entry: str) -> Iterator[str]:
    """Yield the files that a package's `exports` has for `entry`, the likeliest first."""
    if isinstance(exports, str):
        if entry == ".":
            yield exports
    elif isinstance(exports, list):
        for option in exports:
            yield from _exported(option, entry)
    elif isinstance(exports, dict):
        if not any(key.startswith(".") for key in exports):
            if entry == ".":
                for condition in _CONDITIONS:
                    yield from _exported(exports.get(condition), ".")
            return
        for key, value in exports.items():
            before, star, after = key.partition("*")
            if key == entry:
                yield from _exported(value, ".")
            elif star and entry.startswith(before) and entry.endswith(after):
                middle = entry[len(before) : len(entry) - len(after)]
                yield from (target.replace("*", middle) for target in _exported(value, "."))
