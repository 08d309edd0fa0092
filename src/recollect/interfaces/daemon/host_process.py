"""The process of a host, by which a session is known to be over although the host did not say so.

Hosts are killed, and some send nothing when the user quits. While a hook waits for its answer, its ancestors are alive,
and one of them is the host. Known on Linux only; elsewhere a session that falls silent is ended after a while.
"""

import os
import re
import sys

from recollect.frozen import frozen

# What a host runs hooks through. It is gone before the host is.
_BETWEEN = re.compile(r"(?:ba|da|z|fi|k|a)?sh|busybox|env|timeout|nice|nohup|uvx?|recollect.*")
_MOST_ANCESTORS = 8


@frozen
class HostProcess:
    pid: int
    started: str  # in ticks since the system started: a number is used again, a start is not

    def is_alive(self) -> bool:
        status = _status(self.pid)
        return status is not None and status.started == self.started and status.state not in "ZX"


def host_process(hook: int | None) -> HostProcess | None:
    """Return the process that ran the hook: its closest ancestor that is no shell; None if that is unknown."""
    status = _status(hook) if hook else None
    for _ in range(_MOST_ANCESTORS):
        if status is None or status.parent <= 1:  # the host is gone, or the hook was detached from it
            return None
        pid = status.parent
        status = _status(pid)
        if status is not None and not _BETWEEN.fullmatch(status.name):
            return HostProcess(pid, status.started)
    return None


@frozen
class _ProcessStatus:
    name: str
    state: str
    parent: int
    started: str


def _status(pid: int) -> _ProcessStatus | None:
    if sys.platform != "linux":
        return None
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        try:
            text = os.read(file, 4096).decode("utf-8", "replace")
        finally:
            os.close(file)
        name, _, rest = text.partition("(")[2].rpartition(")")
        values = rest.split()
        return _ProcessStatus(name, values[0], int(values[1]), values[19])
    except (OSError, ValueError, IndexError):
        return None
