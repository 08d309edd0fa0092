"""Go: a folder is a package, and `go.mod` says what the paths of imports begin with."""

import re
from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath

from recollect.code.facts import FileFacts, Import
from recollect.code.languages.language import Language, ReadConfig
from recollect.code.languages.plain.packages import Packages, folders_of


def _imports(text: str) -> Iterator[Import]:
    if found := re.search(r"""(?:(?<![\w.])([\w.]{1,200})\s{1,20})?["`]([^"`]{1,500})["`]""", text):
        alias, module = found[1] or "", found[2]
        yield Import(module, "*") if alias == "." else Import(module, "", "" if alias == "_" else alias)


class GoPackages(Packages):
    shared = True

    def __init__(self, files: Mapping[str, FileFacts], read: ReadConfig) -> None:
        self._all = {dirname(path) for path in files}
        self._modules: dict[str, str] = {}
        for folder in folders_of(files):
            text = (read(join(folder, "go.mod")) or b"").decode("utf-8", "replace")
            if named := re.search(r"^module\s+\"?([^\s\"]+)", text, re.MULTILINE):
                self._modules[named[1]] = folder

    def of(self, path: str) -> str:
        return dirname(path)

    def find(self, path: str, entry: Import) -> str | None:
        module = entry.module
        while module:
            if module in self._modules:
                folder = normpath(join(self._modules[module], entry.module.removeprefix(module).lstrip("/")))
                folder = "" if folder == "." else folder
                return folder if folder in self._all else None
            module = module.rpartition("/")[0]
        return None

    def short(self, module: str) -> str:
        parts = module.split("/")
        last = parts[-2] if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]) else parts[-1]
        return re.sub(r"\.v\d+$", "", last).removeprefix("go-")


LANGUAGES = (
    Language(
        name="go",
        endings=(".go",),
        config_files=("go.mod",),
        read_imports=_imports,
        packages=GoPackages,
        exports_capitalised=True,
        names_receiver=True,
        returns_several=True,
    ),
)
