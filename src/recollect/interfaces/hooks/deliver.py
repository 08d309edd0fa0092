"""An event that no daemon has taken: a process in the background redacts it and writes it down, and starts a daemon.

The hook does not wait for that: taking secrets out costs more than all the rest of it.
"""

import os
import sys
from contextlib import suppress

from recollect.interfaces.daemon import protocol

PATIENCE = 0.3  # seconds that a daemon which has come up meanwhile may take
_WAITING = "carry.lock"


def leave_behind(home: str, fields: tuple[str, ...], body: bytes) -> None:
    """Returns at once. Who started us sees our output end when we end, not when that process does."""
    if sys.platform == "win32":
        import subprocess

        words = [sys.executable, "-P", "-m", "recollect.interfaces.hooks.deliver", home, *fields]
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        child = subprocess.Popen(words, stdin=subprocess.PIPE, creationflags=flags)
        assert child.stdin is not None
        child.stdin.write(body)
        child.stdin.close()
        return
    from recollect.interfaces.daemon.start import leave

    leave()
    if os.fork():
        return
    try:
        os.setsid()
        carry(home, fields, body)
    finally:
        os._exit(0)


def carry(home: str, fields: tuple[str, ...], body: bytes) -> bool:
    """Whether it is safe now: with a daemon, or on disk."""
    from recollect.interfaces.daemon.start import start

    started = False
    with suppress(OSError):
        started = start(home)
    with _one_at_a_time(home):
        if not started:  # of many that wait here, all but the first may find a daemon that takes their event
            with suppress(protocol.NoAnswer):
                protocol.ask(home, "hook", (*fields[:4], "0", *fields[5:]), body, PATIENCE)
                return True
        from recollect.interfaces.daemon.spool import HookSpool

        return HookSpool(home).append(fields, body)


class _one_at_a_time:
    """Fifty hooks at once must not load the rules for secrets fifty times at once."""

    def __init__(self, home: str) -> None:
        self._file = -1
        with suppress(OSError):
            self._file = os.open(f"{home}/{_WAITING}", os.O_RDWR | os.O_CREAT, 0o600)

    def __enter__(self) -> None:
        if self._file >= 0 and sys.platform != "win32":
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *error: object) -> None:
        if self._file >= 0:
            os.close(self._file)


if __name__ == "__main__":
    carry(sys.argv[1], tuple(sys.argv[2:8]), sys.stdin.buffer.read())
