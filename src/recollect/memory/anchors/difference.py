"""How the code that a memory is about differs from the code it was written about, which git still has."""

import difflib
from collections.abc import Iterator
from pathlib import Path

import recollect.model as m
from recollect.code.decoding import decode_source
from recollect.code.languages.table import language_of
from recollect.context.git import Repository
from recollect.frozen import frozen
from recollect.memory.anchors.marks import Marked
from recollect.memory.anchors.tie import LONGEST, marked_file

MOST_VERSIONS = 40  # of a file that are compared with the anchor, newest first
SECONDS = 3.0  # that git may take for one command: a person waits
LONGEST_DIFF = 200  # lines


@frozen
class CodeDifference:
    """What happened to one piece of code since a memory was tied to it."""

    path: str
    symbol: str  # empty = the file as a whole
    lines: tuple[str, ...]  # of a unified diff; empty if the code of then is not in git's history
    commit: str = ""  # the newest that still has the code of then; empty = none


def code_differences(root: Path, memory: m.Memory) -> tuple[CodeDifference, ...]:
    """Return what differs, for each anchor of `memory` whose code is no longer the same. Reads files and git's history."""
    repository = Repository.containing(root.resolve())
    return tuple(
        found for anchor in memory.anchors if (found := _difference(root, repository, anchor)) is not None
    )


def _difference(root: Path, repository: Repository | None, anchor: m.Anchor) -> CodeDifference | None:
    current = marked_file(root, anchor.path)
    now = current.mark(anchor.symbol) if current is not None else None
    if anchor.symbol and now is not None and anchor.digest in ("", now):
        return None
    if not anchor.symbol and (root / anchor.path).exists():
        return None  # tied to the file as such, which is there
    for commit, version in _versions(root, repository, anchor.path) if repository else ():
        if not anchor.symbol or version.mark(anchor.symbol) == anchor.digest:
            before = _text(version, anchor.symbol)
            after = _text(current, anchor.symbol) if current is not None else []
            diff = difflib.unified_diff(before, after, anchor.path, anchor.path, n=3, lineterm="")
            return CodeDifference(anchor.path, anchor.symbol, tuple(diff)[2 : LONGEST_DIFF + 2], commit[:12])
    return CodeDifference(anchor.path, anchor.symbol, ())


def _versions(root: Path, repository: Repository, path: str) -> Iterator[tuple[str, Marked]]:
    """Yield the file as it was in each commit that changed it, newest first."""
    inside = _inside(repository, root, path)
    head = repository.head()
    if inside is None or head is None:
        return
    listed = repository.output("log", f"-{MOST_VERSIONS}", "--format=%H", head, "--", inside, seconds=SECONDS)
    for commit in (listed or b"").decode("ascii", "replace").split():
        data = repository.output("cat-file", "blob", f"{commit}:{inside}", seconds=SECONDS, most=LONGEST)
        if data is None:
            continue
        language = language_of(path, data[:100])
        source = decode_source(data) if language else None
        if language and source is not None:
            yield commit, Marked(language, source)


def _inside(repository: Repository, root: Path, path: str) -> str | None:
    """Return the path from the root of the work tree."""
    try:
        return (root.resolve() / path).relative_to(repository.root).as_posix()
    except ValueError:
        return None


def _text(file: Marked, symbol: str) -> list[str]:
    """Return the lines of a symbol with what it contains; of the whole file without one, and none if it is gone."""
    lines = file.source.decode("utf-8", "replace").splitlines()
    if not symbol:
        return lines
    definition = file.definition(symbol)
    return lines[definition.line - 1 : definition.end] if definition else []
