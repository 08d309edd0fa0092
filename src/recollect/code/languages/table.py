"""All languages, and which of them a file is in. This is the only table of file endings in the project."""

import re
from pathlib import Path

from recollect.code.languages import bash, c, config, csharp, go, java, php, python, ruby, rust, script

_ROWS = tuple(
    row
    for package in (python, script, go, rust, java, c, ruby, csharp, php, bash, config)
    for row in package.LANGUAGES
)
LANGUAGES = {row.name: row for row in _ROWS}

_STYLES = {"css": (".css",)}  # neither code nor parsed

# Languages that are code, but that we have no grammar for: their files belong to modules, and not to the graph.
_UNPARSED = {
    name: tuple(endings)
    for name, *endings in map(
        str.split, (Path(__file__).parent / "data/unparsed.txt").read_text("utf-8").splitlines()
    )
}

# Files of one family see each other's names. A language that is not here has an outline, and no edges.
FAMILY_OF = {row.name: row.reader for row in _ROWS if not row.is_data}

# Names of files that decide where imports lead.
CONFIG_FILES = frozenset(name for row in _ROWS for name in row.config_files)

CODE_ENDINGS = frozenset(ending for row in _ROWS if not row.is_data for ending in row.endings).union(
    *_UNPARSED.values()
)

_BY_FILE_NAME = {name: row.name for row in _ROWS for name in row.file_names}
_BY_ENDING = {ending: row.name for row in _ROWS for ending in (*row.endings, *row.minor_endings)}
_BY_INTERPRETER = {name: row.name for row in _ROWS for name in row.interpreters}

_SHEBANG = re.compile(rb"#!\s*(\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?)?([A-Za-z][A-Za-z-]*)")


def language_of(path: str, head: bytes = b"") -> str | None:
    """Return the language by the file's name, its ending, or the interpreter in its first line; None if we parse none."""
    name = path.rpartition("/")[2]  # a path object takes ten times as long
    stem, dot, ending = name.rpartition(".")
    suffix = dot + ending.lower() if stem and ending else ""
    named = _BY_FILE_NAME.get(name) or _BY_ENDING.get(suffix)
    if named or suffix:
        return named
    shebang = _SHEBANG.match(head)
    return _BY_INTERPRETER.get(shebang[2].decode()) if shebang else None


def endings_of(*languages: str) -> tuple[str, ...]:
    """Return the endings of source files in these languages, parsed or not."""
    return tuple(
        ending
        for name in languages
        for ending in (LANGUAGES[name].endings if name in LANGUAGES else (_UNPARSED | _STYLES)[name])
    )
