"""C#: each file declares its namespace, and sees the namespaces around it."""

import re
from collections.abc import Iterator

from recollect.code.facts import Import
from recollect.code.languages.language import Language
from recollect.code.languages.plain.packages import NamespacePackages, import_last_name


def _imports(text: str) -> Iterator[Import]:
    if found := re.search(r"using\s+(static\s+)?(?:(\w+)\s*=\s*)?([\w.:]+)", text):
        _, alias, path = found.groups()
        path = path.replace("global::", "")
        yield import_last_name(path, alias) if alias else Import(path, "*")


class CSharpPackages(NamespacePackages):
    def seen(self, path: str) -> list[str]:
        own = self.of(path)
        parts = own.split(".") if own else []
        return [".".join(parts[:end]) for end in range(len(parts), -1, -1)]


LANGUAGES = (
    Language(
        name="csharp",
        endings=(".cs",),
        minor_endings=(".csx",),
        grammar="tree_sitter_c_sharp",
        read_imports=_imports,
        packages=CSharpPackages,
        exported_after=rb"\b(?:public|internal|protected|override)\b",
        exports_all_classes=True,
        calls_own_methods_by_name=True,
        has_open_classes=True,
        ends_annotations_in="Attribute",
    ),
)
