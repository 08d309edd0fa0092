"""Ask, start and stop the daemon from a command."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from recollect.errors import Refused
from recollect.interfaces.daemon_client import protocol
from recollect.interfaces.daemon_client.start import start, take_lock

SECONDS = 2.0  # that the daemon may take to answer


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


def stop(home: Path, seconds: float = 30.0) -> bool:
    """Stop the daemon and return whether there was one. Raise `Refused` if it does not stop in time."""
    if not is_running(home):
        return False
    until = time.monotonic() + seconds
    while is_running(home):
        with suppress(protocol.NoAnswer):  # it is starting or stopping
            protocol.ask(str(home), "stop", (), b"", SECONDS)
        if time.monotonic() >= until:
            raise Refused(
                "The daemon does not stop.",
                f"End the process that `{home / protocol.LOCK}` names, then try again.",
            )
        time.sleep(0.05)
    return True


def ensure(home: Path, seconds: float = 30.0) -> dict[str, Any] | None:
    """Start a daemon if there is none, wait until it answers, and return its report; None if it does not answer."""
    until = time.monotonic() + seconds
    while (report := status(home)) is None and time.monotonic() < until:
        start(str(home))
        time.sleep(0.05)
    return report
