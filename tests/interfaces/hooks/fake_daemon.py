"""A daemon that says the same to everyone."""

import os
import socket
import threading
from contextlib import suppress

from recollect.interfaces.daemon_client import protocol


class FakeDaemon:
    """Listens while it is entered; what it heard."""

    def __init__(self, home, answer):
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(home / protocol.SOCKET))
        self._socket.listen(8)
        self._heard = []
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return self._heard

    def _serve(self):
        while True:
            line, _ = self._socket.accept()
            with line:
                line.settimeout(20)
                heard = line.recv(1 << 20)
                if heard == b"over":
                    return
                self._heard.append(heard)
                with suppress(BrokenPipeError):  # a hook on a busy machine has gone
                    line.sendall(self._answer)

    def __exit__(self, *error):
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(self._socket.getsockname())
            line.sendall(b"over")
        self._thread.join(20)
        os.unlink(self._socket.getsockname())  # noqa: PTH108
        self._socket.close()
