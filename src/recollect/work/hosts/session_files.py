"""Find the transcripts that the hosts keep on this machine. Nothing is opened."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from recollect.config import expand_home
from recollect.frozen import frozen
from recollect.work.hosts.host import Host
from recollect.work.hosts.registry import HOSTS


@frozen
class SessionFile:
    path: Path
    host: str
    modified: datetime


def session_files(home: Path, since: datetime | None, environment: Mapping[str, str]) -> list[SessionFile]:
    """Return the transcripts of the user whose home folder is `home`, written at or after `since`, the newest last."""
    files = [
        file
        for host in HOSTS.values()
        for file in _files_of(host, home, environment)
        if since is None or file.modified >= since
    ]
    return sorted(files, key=lambda file: (file.modified, str(file.path)))


def sessions_folder(host: Host, home: Path, environment: Mapping[str, str]) -> Path:
    """Return the folder below which a host keeps its sessions. The host must have `session_files`."""
    assert host.session_files is not None
    folder = Path(host.session_files.folder.format_map(host.folders(environment, sys.platform)))
    # Our default folders begin with `~`, the home that was given; others may name any user's home.
    return home.joinpath(*folder.parts[1:]) if folder.parts[:1] == ("~",) else expand_home(folder)


def _files_of(host: Host, home: Path, environment: Mapping[str, str]) -> Iterator[SessionFile]:
    if host.session_files is None:
        return
    folder = sessions_folder(host, home, environment)
    for pattern in host.session_files.patterns:
        for path in folder.glob(pattern):
            try:
                status = path.stat()
            except OSError:
                continue  # gone since it was listed, or not ours to see
            if path.is_file():
                yield SessionFile(path, host.name, datetime.fromtimestamp(status.st_mtime, UTC))
