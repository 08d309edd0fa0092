"""PHP: each file declares its namespace; `require` names a file."""

import re
from collections.abc import Iterator

from recollect.code.facts import Import
from recollect.code.languages.language import Language
from recollect.code.languages.plain.packages import QUOTED, NamespacePackages, import_last_name

_USE = r"(?s)use\s++(?:function\s++|const\s++)?\\?([\w\\]*+)(?:\{(.*)\}\s*|([^;{]*));"
_PART = r"(?i)(?:function\s+|const\s+)?\\?([\w\\]+)(?:\s+as\s+(\w+))?"


def _imports(text: str) -> Iterator[Import]:
    if not text.startswith("use"):
        if found := re.search(QUOTED, text):
            yield Import("./" + found[1].lstrip("/"), "*")
        return
    if found := re.match(_USE, text):
        prefix, group, single = found.groups()
        prefix = prefix.removesuffix("\\") if group is not None else prefix
        parts = group if group is not None else f"{prefix}{single}"
        for part in parts.split(","):
            if name := re.match(_PART, part.strip()):
                path = f"{prefix}\\{name[1]}" if group is not None else name[1]
                yield import_last_name(path.replace("\\", "."), name[2] or "")


class PhpPackages(NamespacePackages):
    def seen(self, path: str) -> list[str]:
        own = self.of(path)
        return [own, ""] if own else [own]


LANGUAGES = (
    Language(
        name="php",
        endings=(".php",),
        minor_endings=(".phtml", ".inc"),
        interpreters=("php",),
        grammar_function="language_php",
        config_files=("composer.json",),
        read_imports=_imports,
        packages=PhpPackages,
        hidden_after=rb"\b(?:private|protected)\b",
        constructor="__construct",
    ),
)
