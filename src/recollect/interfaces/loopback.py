"""Listening on this machine only, for the servers of `mcp` and `web`."""

import errno
import os
import socket

from recollect.errors import Refused

ADDRESS = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """Return a socket that listens on `port`; 0 takes any free port. Raise `Refused` if the port cannot be used."""
    # The protocol is named, or asyncio would not send at once: the body of an answer would wait 40 ms for its head's receipt.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if os.name == "posix":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
        listener.listen()
    except OSError as error:
        listener.close()
        taken = error.errno == errno.EADDRINUSE
        why = "is used by another program" if taken else f"cannot be used: {error.strerror}"
        raise Refused(f"Port {port} {why}.", "Give another; 0 takes any free port.") from error
    return listener


def host_names(port: int) -> frozenset[str]:
    """Return what a request for us has as its `Host`. Another name is a page that rebinds its own name to this machine."""
    return frozenset({f"{ADDRESS}:{port}", f"localhost:{port}"})
