"""Bash and other shells: `source` names a file."""

import re
from collections.abc import Iterator

from recollect.code.facts import Import
from recollect.code.languages.language import Language
from recollect.code.languages.plain.packages import FilePackages

_SOURCE = re.compile(r"^(?:\.|source)\s+(\S.*)$", re.DOTALL)
_VALUE = re.compile(r"\$\(.*\)|\$\{[^}]*\}|\$\w+|[\"']", re.DOTALL)


def _imports(text: str) -> Iterator[Import]:
    if found := _SOURCE.match(text):
        path = _VALUE.sub("", found[1]).strip().lstrip("/")
        if path:
            yield Import(path, "*")


class BashPackages(FilePackages):
    def outside(self, entry: Import) -> str:
        return ""


LANGUAGES = (
    Language(
        name="bash",
        endings=(".sh", ".bash"),
        minor_endings=(".ksh", ".zsh", ".bats"),
        file_names=(".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"),
        interpreters=("sh", "bash", "dash", "ksh", "zsh", "bats"),
        read_imports=_imports,
        packages=BashPackages,
    ),
)
