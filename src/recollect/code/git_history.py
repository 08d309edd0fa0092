"""What git remembers of a project: what was said of each change, and which files it touched.

Only hashes of the words are kept. Paths are as they are called today: a file that moved takes its past with it.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from recollect.code.files import has_secret_name
from recollect.code.packing import pack, unpack
from recollect.code.terms import reference_terms, terms_of

MOST_CHANGES = 20_000  # the newest ones
MOST_FILES = 40  # a change of more says nothing of any of them
LONGEST_MESSAGE = 4_000  # characters
# Renames with the content unchanged alone: to compare contents, git would fetch what a partial clone does not have.
_LOG = (
    "log",
    "--no-merges",
    "--relative",
    "--find-renames=100%",
    "--name-status",
    "-z",
    "--format=%H%x00%ct%x00%B%x00",
)
_TRAILERS = ("Co-authored-by:", "Signed-off-by:", "git-svn-id:", "Reviewed-by:", "Change-Id:")


class CommitRecord(NamedTuple):
    when: int  # seconds since 1970
    terms: bytes  # of the message, as `terms_of` makes them, and what the change can be referred to by
    paths: tuple[str, ...]  # none, if there were too many


@dataclass(frozen=True, eq=False)
class History:
    """Of the commit `head` and those before it, newest first."""

    head: str
    changes: tuple[CommitRecord, ...]

    def packed(self) -> bytes:
        return pack((self.head, [tuple(change) for change in self.changes]))

    @classmethod
    def unpacked(cls, data: bytes) -> "History":
        head, changes = unpack(data)
        return cls(head, tuple(map(CommitRecord._make, changes)))


def head_of(root: Path) -> str | None:
    """The commit that is checked out; None without git, or before the first one."""
    return _said(root, "rev-parse", "--verify", "--quiet", "HEAD")


def read_history(root: Path, known: History | None = None) -> History | None:
    """None where there is none. Nothing later than what is checked out is in it.

    With what was `known` at an earlier commit only the ones since are read.
    """
    head = head_of(root)
    if head is None:
        return None
    if known and known.head == head:
        return known
    if known and _said(root, "merge-base", known.head, head) == known.head:
        today: dict[str, str] = {}
        newer = _read(root, f"{known.head}..{head}", today)
        return History(head, (*newer, *(_moved(change, today) for change in known.changes))[:MOST_CHANGES])
    return History(head, tuple(_read(root, head, {})))


def _read(root: Path, commits: str, today: dict[str, str]) -> list[CommitRecord]:
    command = _git(root, *_LOG, f"--max-count={MOST_CHANGES}", commits)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
    ) as log:
        assert log.stdout is not None
        return list(_changes(_tokens(log.stdout), today))


def _changes(tokens: Iterator[str], today: dict[str, str]) -> Iterator[CommitRecord]:
    """Newest first; `today` has what former paths are called now, and gets those it meets."""
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
    """The next token that says something: git puts empty ones and ends of line between message and files."""
    return next((text for token in tokens if (text := token.strip("\n"))), "")


def _tokens(pipe: IO[bytes]) -> Iterator[str]:
    rest = b""
    while chunk := pipe.read(1 << 20):
        *whole, rest = (rest + chunk).split(b"\0")
        for token in whole:
            yield token.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")


def _without_trailers(message: str) -> str:
    lines = message[:LONGEST_MESSAGE].splitlines()
    return "\n".join(line for line in lines if not line.startswith(_TRAILERS))


def _said(root: Path, *arguments: str) -> str | None:
    """None when git says no, or is not there."""
    try:
        done = subprocess.run(
            _git(root, *arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=_environment(),
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _git(root: Path, *arguments: str) -> list[str]:
    return ["git", "-C", str(root), *arguments]


def _environment() -> dict[str, str]:
    return {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
