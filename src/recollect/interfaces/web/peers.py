"""Which user of this machine a connection comes from.

A browser sends a cookie of 127.0.0.1 to every port of it, so a server of another user could read ours. On Linux the
system says whose a connection is, and a stolen cookie is useless to others. Elsewhere this is not known.
"""

import asyncio
import logging
import os
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from starlette.responses import PlainTextResponse

from recollect.interfaces.web.connections import ImpatientConnections

logger = logging.getLogger(__name__)

refuse_stranger = PlainTextResponse("Refused: another user of this machine asked.\n", 403)


class OwnConnections(ImpatientConnections):
    """Finds out once for each connection whose it is, and refuses every request on one of another user."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        client, server = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        if is_other_user(client, server):
            logger.warning("refused a connection of another user")
            self.app = refuse_stranger


class Holder(NamedTuple):
    """Whose an end of a connection is, as the system says. Without an inode no process holds it any more."""

    user: int
    inode: int


def is_other_user(client: tuple[str, int], server: tuple[str, int]) -> bool:
    """Return whether another user of this machine opened the connection from `client` to `server`.

    A connection that its process has closed counts as another's: whose it was is not known. Where the system does not
    say whose connections are, this is False.
    """
    if sys.platform != "linux":
        return False
    for ask in WAYS:
        try:
            holder = ask(client, server)
        except OSError:
            continue
        # The system says that a closed connection is root's.
        return holder is None or not holder.inode or holder.user not in (os.getuid(), 0)
    return False


# One socket asked for by its two ends (sock_diag(7)): takes microseconds, however many connections there are.
_ASK = struct.Struct("=IHHII BBBBI 2s2s16s16sIII")
_ANSWER = struct.Struct("=IHHII BBBB 2s2s16s16sIII IIIII")
_BY_FAMILY, _REQUEST, _ERROR = 20, 1, 2
_ANY_STATE = _NO_COOKIE = 0xFFFFFFFF
_SECONDS = 1.0  # in which the kernel answers; it does so at once


def ask_kernel(client: tuple[str, int], server: tuple[str, int]) -> Holder | None:
    """Return who holds the client's end, or None if there is no such connection. Raise `OSError` if it cannot be asked."""
    ports = client[1].to_bytes(2, "big"), server[1].to_bytes(2, "big")
    addresses = socket.inet_aton(client[0]), socket.inet_aton(server[0])
    family = socket.AF_INET, socket.IPPROTO_TCP, 0, 0, _ANY_STATE
    ends = *ports, *addresses, 0, _NO_COOKIE, _NO_COOKIE
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 4) as kernel:
        kernel.settimeout(_SECONDS)
        kernel.send(_ASK.pack(_ASK.size, _BY_FAMILY, _REQUEST, 0, 0, *family, *ends))
        answer = kernel.recv(8192)
    if int.from_bytes(answer[4:6], sys.byteorder) == _ERROR:
        number = -int.from_bytes(answer[16:20], sys.byteorder, signed=True)
        if number == 2:  # ENOENT
            return None
        raise OSError(number, os.strerror(number))
    *_, user, inode = _ANSWER.unpack_from(answer)
    return Holder(user, inode)


# Where the kernel does not answer such questions, as in some containers, its table of all connections is read.
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_TRIES = 2  # a table is read in pieces, and a row can slip through between two of them


def read_tables(client: tuple[str, int], server: tuple[str, int]) -> Holder | None:
    """Return who holds the client's end, or None if there is no such connection. Raise `OSError` without a table."""
    near, far = _as_in_table(client), _as_in_table(server)
    tables = [table for table in _TABLES if table.exists()]
    if not tables:
        raise FileNotFoundError(_TABLES[0])
    for table in tables * _TRIES:
        for row in table.read_text(encoding="ascii").splitlines():
            if near in row and far in row:
                columns = row.split()
                # A table of IPv6 has the address of IPv4 as the last part of a longer one.
                if columns[1].endswith(near) and columns[2].endswith(far):
                    return Holder(int(columns[7]), int(columns[9]))
    return None


def _as_in_table(end: tuple[str, int]) -> str:
    address = int.from_bytes(socket.inet_aton(end[0]), sys.byteorder)
    return f"{address:08X}:{end[1]:04X}"


WAYS: tuple[Callable[[tuple[str, int], tuple[str, int]], Holder | None], ...] = (ask_kernel, read_tables)
