"""C and C++: an include names a file, and a header and the source of its name belong together."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from posixpath import basename, splitext

from recollect.code.facts import FileFacts, Import
from recollect.code.languages.language import Language, ReadConfig
from recollect.code.languages.plain.packages import FilePackages


def _imports(text: str) -> Iterator[Import]:
    if found := re.search(r"""include(?:_next)?\s*(["<][^">\n]+[">])""", text):
        yield Import(found[1].strip('"'), "*")


class CPackages(FilePackages):
    def __init__(self, files: Mapping[str, FileFacts], read: ReadConfig) -> None:
        super().__init__(files, read)
        same_name: dict[str, list[str]] = defaultdict(list)
        for path in files:
            same_name[splitext(basename(path))[0]].append(path)
        self._of = {}
        for name, paths in same_name.items():
            headers = [path for path in paths if splitext(path)[1].startswith(".h")]
            is_pair = len(headers) == 1 and len(paths) == 2
            for path in paths:
                self._of[path] = name if is_pair else splitext(path)[0]

    def of(self, path: str) -> str:
        return self._of[path]

    def find_file(self, path: str, module: str) -> str | None:
        if not module.startswith("<"):
            return super().find_file(path, module)
        module = module.strip("<>")
        return self.only_file_ending_in(module if "/" in module else f"include/{module}")


LANGUAGES = (
    Language(
        name="c",
        endings=(".c",),
        read_imports=_imports,
        packages=CPackages,
        hidden_after=rb"^\s*static\b",
        has_qualified_names=True,
        links_by_name=True,
        imports_exported_only=True,
    ),
    Language(
        name="cpp",
        # A `.h` may be of either, and this grammar parses both.
        endings=(".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inl"),
        minor_endings=(".c++", ".h++", ".ipp"),
        folder="c",
        queries=("c", "cpp"),
        read_imports=_imports,
        packages=CPackages,
        shares_names_with="c",
        has_qualified_names=True,
        calls_own_methods_by_name=True,
        imports_exported_only=True,
        nests_namespaces=True,
    ),
)
