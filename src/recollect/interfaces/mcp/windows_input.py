"""Standard input as a socket, for systems on which `select` accepts sockets only."""

import os
import socket
import threading


def input_socket() -> socket.socket:
    """Return a socket that receives what standard input does, and ends with it."""
    ours, filled = socket.socketpair()

    def fill() -> None:
        with filled:
            while data := os.read(0, 1 << 16):
                filled.sendall(data)

    threading.Thread(target=fill, name="recollect-input", daemon=True).start()
    return ours
