"""Find the host's own record of a session, which alone can confirm what a user typed.

Anybody can call `recollect hook` and claim that the user said something, an agent too. A host writes its transcripts
itself, in a folder of its own, and marks what the person typed. So what is read from there counts as the user's word,
and what only an event says counts as observed. See docs/decisions/0021-the-users-word-is-confirmed-by-the-host.md.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from recollect.frozen import frozen
from recollect.work.hosts.host import Host
from recollect.work.hosts.registry import HOSTS
from recollect.work.hosts.session_files import sessions_folder
from recollect.work.hosts.transcripts import FORMATS, read
from recollect.work.transcripts.event import Event

_SESSION = re.compile(r"[\w.-]{1,200}")  # an id that can be part of a file's name


@frozen
class Evidence:
    """Whether the host's own record is what a statement was read from, and which record, or why it is not."""

    is_confirmed: bool
    reason: str  # a clause for the provenance of a memory


@frozen
class HostRecord:
    """The file in which a host records a session."""

    host: str
    path: Path

    def events(self, session: str) -> Iterator[Event]:
        """Yield the events of the session. Raise `Refused` if the file cannot be read."""
        name = self.host if self.host in FORMATS else None
        return (event for event in read(self.path, name, session=session) if event.session == session)

    def size(self) -> int:
        """Return the bytes of the file; 0 if it is gone."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def find_record(
    host: str, session: str, named: str, home: Path, environment: Mapping[str, str]
) -> tuple[HostRecord | None, Evidence]:
    """Return the host's own record of a session: the file that is `named`, or else the one with the session's id.

    A named file that is not among the host's sessions is returned too, and confirms nothing.
    """
    row = HOSTS.get(host)
    if row is None or row.session_files is None:
        return _foreign(host, named), Evidence(False, f"{_title(host)} keeps no record that could confirm it")
    folder = sessions_folder(row, home, environment)
    if named:
        path = Path(named)
        if not _is_own(row, folder, path):
            return HostRecord(host, path), Evidence(
                False, f"the file is not among the sessions of {row.title}"
            )
        if path.exists():
            return HostRecord(host, path), _confirmed(row)
    for path in _files_of_session(row, folder, session):
        if _is_own(row, folder, path):
            return HostRecord(host, path), _confirmed(row)
    return None, Evidence(False, f"{row.title}'s record of the session was not found")


def _confirmed(row: Host) -> Evidence:
    return Evidence(True, f"typed by the user, by {row.title}'s own record")


def _foreign(host: str, named: str) -> HostRecord | None:
    return HostRecord(host, Path(named)) if named and host in FORMATS else None


def _title(host: str) -> str:
    return HOSTS[host].title if host in HOSTS else host or "an agent written in Python"


def _is_own(row: Host, folder: Path, path: Path) -> bool:
    """Return whether `path` is a session file in the host's folder, and no link to somewhere else."""
    assert row.session_files is not None
    try:
        inside = path.resolve().relative_to(folder.resolve())
    except (OSError, ValueError):
        return False
    return any(_matches(inside, pattern) for pattern in row.session_files.patterns)


def _matches(path: PurePath, pattern: str) -> bool:
    """Return whether `path` matches a glob pattern with `**`, which `PurePath.match` does not know before Python 3.13."""

    def match(parts: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
        if not patterns:
            return not parts
        if patterns[0] == "**":
            return any(match(parts[skipped:], patterns[1:]) for skipped in range(len(parts)))
        return bool(parts) and fnmatchcase(parts[0], patterns[0]) and match(parts[1:], patterns[1:])

    return match(path.parts, tuple(pattern.split("/")))


def _files_of_session(row: Host, folder: Path, session: str) -> list[Path]:
    assert row.session_files is not None
    if not _SESSION.fullmatch(session):
        return []
    ids = {"session": glob.escape(session), "short": glob.escape(session[:8])}
    found = [
        path for pattern in row.session_files.of_session for path in folder.glob(pattern.format_map(ids))
    ]
    return sorted(found, reverse=True)
