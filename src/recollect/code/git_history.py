"""The git history of a project: the words of each commit message, and the files that it changed.

Only hashes of the words are kept. What is known of a commit is kept when another branch is checked out.
"""

import marshal
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from recollect.code.files import has_secret_name
from recollect.code.packing import pack, unpack
from recollect.code.source_hash import CODE, WORDS_AND_SECRETS, source_hash
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


class LoggedCommit(NamedTuple):
    """A commit as git tells of it: it stays the same whatever is checked out."""

    id: str
    when: int  # seconds since 1970
    terms: bytes  # of the message, as `terms_of` returns them, and the terms by which the commit can be referred to
    paths: tuple[str, ...]  # empty if there were too many
    renamed: tuple[tuple[str, str], ...] = ()  # former and new paths


class Commits(NamedTuple):
    """What questions need of commits, newest first. Column by column, which takes a fifth of the time to load."""

    when: "array[int]"  # seconds since 1970
    terms: bytes  # of all messages, one after the other
    term_bytes: "array[int]"  # of each message
    paths: list[str]  # every path once, as it is today
    files: "array[int]"  # numbers of `paths`, of one commit after the other
    file_counts: "array[int]"  # of each commit

    @classmethod
    def of(cls, log: Iterable[LoggedCommit]) -> "Commits":
        """Return the commits with current paths: a file that was renamed keeps its history."""
        today: dict[str, str] = {}  # former paths
        numbers: dict[str, int] = {}
        terms = []
        when, term_bytes, files, counts = (array("q") for _ in range(4))
        for commit in log:
            when.append(commit.when)
            terms.append(commit.terms)
            term_bytes.append(len(commit.terms))
            files.extend([numbers.setdefault(today.get(path, path), len(numbers)) for path in commit.paths])
            counts.append(len(commit.paths))
            if commit.renamed:
                today.update([(former, today.get(path, path)) for former, path in commit.renamed])
        return cls(when, b"".join(terms), term_bytes, list(numbers), files, counts)

    def packed(self) -> bytes:
        """Return all but the terms, which are hashes and cannot be compressed."""
        columns = [self.when, self.term_bytes, self.files, self.file_counts]
        return pack((self.paths, [column.tobytes() for column in columns]))

    @classmethod
    def unpacked(cls, data: bytes, terms: bytes) -> "Commits":
        paths, columns = unpack(data)
        when, term_bytes, files, counts = (array("q", column) for column in columns)
        return cls(when, terms, term_bytes, paths, files, counts)


@dataclass(frozen=True, eq=False)
class History:
    """The commits up to `head`."""

    head: str
    commits: Commits
    packed_log: bytes = field(repr=False)  # of each commit what `commits` does not have

    @classmethod
    def of(cls, head: str, log: Sequence[LoggedCommit]) -> "History":
        columns = [(commit.id, commit.paths, commit.renamed) for commit in log]
        return cls(head, Commits.of(log), pack(list(zip(*columns, strict=True))))

    @property
    def log(self) -> Iterator[LoggedCommit]:
        """The commits as git told of them, which are needed to extend the history."""
        end = 0
        rows = zip(self.commits.when, self.commits.term_bytes, *unpack(self.packed_log), strict=True)
        for when, size, id, paths, renamed in rows:
            begin, end = end, end + size
            yield LoggedCommit(id, when, self.commits.terms[begin:end], paths, renamed)

    def packed(self) -> bytes:
        return marshal.dumps((self.head, self.commits.terms, self.commits.packed(), self.packed_log))

    @classmethod
    def unpacked(cls, data: bytes) -> "History":
        head, terms, commits, log = marshal.loads(data)
        return cls(head, Commits.unpacked(commits, terms), log)


@cache
def history_version() -> str:
    """Return a hash of the code that decides what is stored of a history."""
    files = [CODE / name for name in ("git_history.py", "terms.py", "packing.py", "files.py")]
    return source_hash([*files, *WORDS_AND_SECRETS])


def head_of(root: Path) -> str | None:
    """Return the commit that is checked out; None without git, or before the first commit."""
    repository = Repository.containing(root.resolve())
    return repository.head() if repository else None


def read_history(root: Path, known: History | None = None) -> History | None:
    """Return the history of the commit that is checked out; None if there is none.

    If the history was `known` at another commit, on whichever branch, only the commits since their common ancestor are
    read.
    """
    repository = Repository.containing(root.resolve())
    head = repository.head() if repository else None
    if repository is None or head is None:
        return None
    if known and known.head == head:
        return known
    within = root.resolve().relative_to(repository.root).as_posix()
    if known and (common := repository.merge_base(known.head, head)):
        elsewhere = _commits_between(repository, common, known.head)
        if elsewhere is not None:
            newer = _read(repository, within, f"{common}..{head}")
            shared = (commit for commit in known.log if commit.id not in elsewhere)
            return History.of(head, list(islice(chain(newer, shared), MOST_CHANGES)))
    return History.of(head, _read(repository, within, head))


def _commits_between(repository: Repository, older: str, newer: str) -> frozenset[str] | None:
    """Return the commits that `newer` has and `older`, one of its ancestors, has not; None if git does not tell."""
    if older == newer:
        return frozenset()
    listed = repository.output("rev-list", f"--max-count={MOST_CHANGES}", f"{older}..{newer}")
    return None if listed is None else frozenset(listed.decode().split())


def _read(repository: Repository, within: str, commits: str) -> list[LoggedCommit]:
    relative = () if within == "." else (f"--relative={within}/",)
    output = repository.stream(
        *_LOG, *relative, f"--max-count={MOST_CHANGES}", commits, "--", seconds=SECONDS
    )
    return list(_logged(_tokens(output)))


def _logged(tokens: Iterator[str]) -> Iterator[LoggedCommit]:
    """Yield commits newest first."""
    token = next(tokens, "")
    while token:  # the hash of a commit
        commit, when, message = token, int(next(tokens)), next(tokens)
        paths, renamed = [], []
        token = _next(tokens)
        while token and len(token) < 40:  # a status; a hash is the next commit's
            path = next(tokens)
            if token[0] in "RC":
                former, path = path, next(tokens)
                if token[0] == "R" and not has_secret_name(former) and not has_secret_name(path):
                    renamed.append((former, path))
            if not has_secret_name(path):
                paths.append(path)
            token = _next(tokens)
        terms = terms_of(_without_trailers(message)) + reference_terms(commit, message)
        yield LoggedCommit(
            commit, when, terms, tuple(paths) if len(paths) <= MOST_FILES else (), tuple(renamed)
        )


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
