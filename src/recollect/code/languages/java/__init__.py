"""Java and Kotlin: each file declares its package, and the two languages see each other's names."""

import re
from collections.abc import Iterator

from recollect.code.facts import Import
from recollect.code.languages.language import Language
from recollect.code.languages.plain.packages import NamespacePackages, import_last_name


def _java_imports(text: str) -> Iterator[Import]:
    if found := re.search(r"import\s+(static\s+)?([\w.]+?)(\.\*)?\s*;", text):
        _, path, star = found.groups()
        yield Import(path, "*") if star else import_last_name(path)


def _kotlin_imports(text: str) -> Iterator[Import]:
    if found := re.search(r"import\s+([\w.`]+?)(\.\*)?(?:\s+as\s+(\w+))?[\s;]*$", text):
        path, star, alias = found.groups()
        yield Import(path, "*") if star else import_last_name(path.replace("`", ""), alias or "")


LANGUAGES = (
    Language(
        name="java",
        endings=(".java",),
        read_imports=_java_imports,
        packages=NamespacePackages,
        hidden_after=rb"\bprivate\b",
        calls_own_methods_by_name=True,
    ),
    Language(
        name="kotlin",
        endings=(".kt", ".kts"),
        folder="java",
        read_imports=_kotlin_imports,
        packages=NamespacePackages,
        shares_names_with="java",
        hidden_after=rb"\bprivate\b",
        constructor="constructor",
        calls_own_methods_by_name=True,
    ),
)
