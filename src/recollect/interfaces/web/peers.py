"""Which user of this machine a connection comes from.

A browser sends a cookie of 127.0.0.1 to every port of it, so a server of another user could read ours. On Linux the
system says whose a connection is, and a stolen cookie is useless to others. Elsewhere this is not known.
"""

import os
import sys
from pathlib import Path

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


def is_other_user(address: str, port: int, own_port: int) -> bool:
    """Return whether another user of this machine opened the connection from `address` and `port`; False if unknown."""
    if sys.platform != "linux":
        return False
    owner = _owner(port, own_port)
    return owner is not None and owner not in (os.getuid(), 0)


def _owner(port: int, own_port: int) -> int | None:
    """Return the user id of the connection's other end: the row that has `port` as its own and ours as the remote one."""
    local, remote = f":{port:04X}", f":{own_port:04X}"
    for table in _TABLES:
        try:
            rows = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            columns = row.split(None, 8)
            if len(columns) > 8 and columns[1].endswith(local) and columns[2].endswith(remote):
                return int(columns[7])
    return None
