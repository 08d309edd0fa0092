"""Regular expressions that must mean the same on every Python that we support."""

import re
from pathlib import Path

import recollect

POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)\s*(?:[*+?]|\{+[\d,]*\}+)\+")  # braces are doubled in f-strings
PUTS_BACK = "|(?!)"


def test_possessive_groups_put_back_what_they_took_before_they_failed():
    """Before Python 3.11.5 they need a last alternative for it: docs/decisions/0013-which-pythons.md."""
    unsafe = []
    package = Path(recollect.__file__).parent
    for file in sorted([*package.rglob("*.py"), *package.rglob("*.toml")]):
        source = file.read_text("utf-8")
        unsafe += [
            f"{file.name}: {source[match.start() - 40 : match.end()]!r}"
            for match in POSSESSIVE_GROUP.finditer(source)
            if not source[: match.start()].endswith(PUTS_BACK)
        ]

    assert unsafe == []
