"""Bash and other shells: `source` names a file."""

import re
from collections.abc import Iterator

from recollect.code.facts import Import
from recollect.code.languages.language import Language
from recollect.code.languages.plain.packages import FilePackages

_SOURCE = r"(?s)^(?:\.|source)\s+(\S.*)$"
_VALUE = r"(?s)\$\(.{0,300}\)|\$\{[^}]{0,300}\}|\$\w+|[\"']"


def _imports(text: str) -> Iterator[Import]:
    if found := re.match(_SOURCE, text):
        path = re.sub(_VALUE, "", found[1]).strip().lstrip("/")
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
