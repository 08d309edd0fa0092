"""The git history of a project: the words of each commit message, and the files that it changed.

Only hashes of the words are kept. Paths are current: a file that was renamed keeps its history.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from recollect.code.files import has_secret_name
from recollect.code.packing import pack, unpack
from recollect.code.terms import reference_terms, terms_of
from recollect.context.git import Repository

MOST_CHANGES = 20_000  # the newest commits
MOST_FILES = 40  # a commit with more files says nothing about any of them
LONGEST_MESSAGE = 4_000  # characters
SECONDS = 120.0  # in which what can be read is read
# Only renames without other changes: comparing contents would make git fetch what a partial clone does not have.
_LOG = (
    "log",
    "--no-merges",
    "--no-show-signature",
    "--find-renames=100%",
    "--name-status",
    "-z",
    "--format=%H%x00%ct%x00%B%x00",
)
_TRAILERS = ("Co-authored-by:", "Signed-off-by:", "git-svn-id:", "Reviewed-by:", "Change-Id:")


class CommitRecord(NamedTuple):
    when: int  # seconds since 1970
    terms: bytes  # of the message, as `terms_of` returns them, and the terms by which the commit can be referred to
    paths: tuple[str, ...]  # empty if there were too many


@dataclass(frozen=True, eq=False)
class History:
    """The commits up to `head`, newest first."""

    head: str
    changes: tuple[CommitRecord, ...]

    def packed(self) -> bytes:
        return pack((self.head, [tuple(change) for change in self.changes]))

    @classmethod
    def unpacked(cls, data: bytes) -> "History":
        head, changes = unpack(data)
        return cls(head, tuple(map(CommitRecord._make, changes)))


def head_of(root: Path) -> str | None:
    """Return the commit that is checked out; None without git, or before the first commit."""
    repository = Repository.containing(root.resolve())
    return repository.head() if repository else None


def read_history(root: Path, known: History | None = None) -> History | None:
    """Return the history of the commit that is checked out; None if there is none.

    If the history was `known` at an earlier commit, only the commits since then are read.
    """
    repository = Repository.containing(root.resolve())
    head = repository.head() if repository else None
    if repository is None or head is None:
        return None
    if known and known.head == head:
        return known
    within = root.resolve().relative_to(repository.root).as_posix()
    if known and repository.is_ancestor(known.head, head):
        today: dict[str, str] = {}
        newer = _read(repository, within, f"{known.head}..{head}", today)
        return History(head, (*newer, *(_moved(change, today) for change in known.changes))[:MOST_CHANGES])
    return History(head, tuple(_read(repository, within, head, {})))


def _read(repository: Repository, within: str, commits: str, today: dict[str, str]) -> list[CommitRecord]:
    relative = () if within == "." else (f"--relative={within}/",)
    output = repository.stream(
        *_LOG, *relative, f"--max-count={MOST_CHANGES}", commits, "--", seconds=SECONDS
    )
    return list(_changes(_tokens(output), today))


def _changes(tokens: Iterator[str], today: dict[str, str]) -> Iterator[CommitRecord]:
    """Yield commits newest first. `today` maps former paths to current ones, and is extended with renames."""
    token = next(tokens, "")
    while token:  # the hash of a commit
        commit, when, message = token, int(next(tokens)), next(tokens)
        paths, renamed = [], {}
        token = _next(tokens)
        while token and len(token) < 40:  # a status; a hash is the next commit's
            path = next(tokens)
            if token[0] in "RC":
                former, path = path, next(tokens)
                if token[0] == "R":
                    renamed[former] = today.get(path, path)
            if not has_secret_name(path):
                paths.append(today.get(path, path))
            token = _next(tokens)
        today.update(renamed)
        terms = terms_of(_without_trailers(message)) + reference_terms(commit, message)
        yield CommitRecord(when, terms, tuple(paths) if len(paths) <= MOST_FILES else ())


def _moved(change: CommitRecord, today: Mapping[str, str]) -> CommitRecord:
    if today.keys().isdisjoint(change.paths):
        return change
    return change._replace(paths=tuple(today.get(path, path) for path in change.paths))


def _next(tokens: Iterator[str]) -> str:
    """Return the next token with content: git puts empty ones and line ends between the message and the files."""
    return next((text for token in tokens if (text := token.strip("\n"))), "")


def _tokens(chunks: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\0")
        for token in whole:
            yield token.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")


def _without_trailers(message: str) -> str:
    lines = message[:LONGEST_MESSAGE].splitlines()
    return "\n".join(line for line in lines if not line.startswith(_TRAILERS))
