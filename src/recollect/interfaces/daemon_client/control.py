"""Ask, start and stop the daemon from a command."""

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from recollect.errors import Refused
from recollect.interfaces.daemon_client import protocol
from recollect.interfaces.daemon_client.start import STARTING, start, take_lock

SECONDS = 2.0  # that the daemon may take to answer
PATIENCE = (
    4.2  # seconds in which a daemon that was told to stop ends by itself: a little more than it takes at most
)
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has the latter, which does the same there


def status(home: Path) -> dict[str, Any] | None:
    """Return what the daemon reports about itself; None if there is none, or it does not answer."""
    try:
        report: dict[str, Any] = json.loads(protocol.ask(str(home), "status", (), b"", SECONDS))
    except (protocol.NoAnswer, ValueError):
        return None
    return report


def is_running(home: Path) -> bool:
    """Return whether a process holds the daemon's lock, whether it answers or not."""
    if not (home / protocol.LOCK).exists():
        return False
    lock = take_lock(str(home))
    if lock is not None:
        os.close(lock)
    return lock is None


def stop(home: Path, seconds: float = 30.0, patience: float = PATIENCE) -> bool:
    """Stop the daemon and return whether there was one. Raise `Refused` if it does not stop in time.

    One that is still there after `patience` seconds is ended: what it has acknowledged is on disk.
    """
    if not is_running(home):
        return False
    begun = time.monotonic()
    while is_running(home):
        waited = time.monotonic() - begun
        if waited < patience:
            with suppress(protocol.NoAnswer):  # it is starting or stopping, or does not answer any more
                protocol.ask(str(home), "stop", (), b"", min(SECONDS, patience - waited))
        else:
            _end_process(home)
        if waited >= seconds:
            raise Refused(
                "The daemon does not stop.",
                f"End the process that `{home / protocol.LOCK}` names, then try again.",
            )
        time.sleep(0.05)
    return True


def _end_process(home: Path) -> None:
    """End the process that holds the lock, whatever it is doing: native code cannot keep it, and it may be suspended."""
    with suppress(OSError, ValueError, IndexError):  # it has just ended, or is about to start
        words = (home / protocol.LOCK).read_text("utf-8").split()
        process = int(words[1] if words[0] == STARTING else words[0])
        if process != os.getpid():
            os.kill(process, _KILL)


def ensure(home: Path, seconds: float = 30.0) -> dict[str, Any] | None:
    """Start a daemon if there is none, wait until it answers, and return its report; None if it does not answer."""
    until = time.monotonic() + seconds
    while (report := status(home)) is None and time.monotonic() < until:
        start(str(home))
        time.sleep(0.05)
    return report
