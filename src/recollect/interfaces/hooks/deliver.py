"""Deliver an event that no daemon accepted: a background process redacts it, writes it down and starts a daemon.

The hook does not wait for it: redaction takes longer than all its other work.
"""

import os
import sys
from contextlib import suppress

from recollect.interfaces.daemon_client import protocol

DAEMON_SECONDS = 0.3  # that a daemon which has started meanwhile may take
_LOCK = "carry.lock"


def deliver_in_background(home: str, fields: tuple[str, ...], body: bytes) -> None:
    """Start the background process and return at once; it does not keep our output open."""
    if sys.platform == "win32":
        import subprocess

        words = [sys.executable, "-P", "-m", "recollect.interfaces.hooks.deliver", home, *fields]
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        child = subprocess.Popen(words, stdin=subprocess.PIPE, creationflags=flags)
        assert child.stdin is not None
        child.stdin.write(body)
        child.stdin.close()
        return
    from recollect.interfaces.daemon_client.start import detach

    detach()
    if os.fork():
        return
    try:
        os.setsid()
        deliver(home, fields, body)
    finally:
        os._exit(0)


def deliver(home: str, fields: tuple[str, ...], body: bytes) -> bool:
    """Give the event to a daemon or write it to disk; return whether that worked."""
    from recollect.interfaces.daemon_client.start import start

    started = False
    with suppress(OSError):
        started = start(home, fields[5])
    with _DeliveryLock(home):
        if not started:  # of many that wait here, all but the first may find a daemon
            with suppress(protocol.NoAnswer):
                protocol.ask(home, "hook", (*fields[:4], "0", *fields[5:]), body, DAEMON_SECONDS)
                return True
        from recollect.interfaces.daemon_client.spool import HookSpool

        return HookSpool(home).append(fields, body)


class _DeliveryLock:
    """Lets one process deliver at a time: fifty hooks at once must not load the redaction rules fifty times."""

    def __init__(self, home: str) -> None:
        self._file = -1
        with suppress(OSError):
            self._file = os.open(f"{home}/{_LOCK}", os.O_RDWR | os.O_CREAT, 0o600)

    def __enter__(self) -> None:
        if self._file >= 0 and sys.platform != "win32":
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *error: object) -> None:
        if self._file >= 0:
            os.close(self._file)


if __name__ == "__main__":
    deliver(sys.argv[1], tuple(sys.argv[2:8]), sys.stdin.buffer.read())
