"""Talking to the daemon from a command."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from recollect.errors import Refused
from recollect.interfaces.daemon import protocol
from recollect.interfaces.daemon.start import start, take_lock

SECONDS = 2.0  # that it may take to answer a question


def status(home: Path, seconds: float = SECONDS) -> dict[str, Any] | None:
    """What it says of itself; None if there is none, or it does not answer."""
    try:
        said: dict[str, Any] = json.loads(protocol.ask(str(home), "status", (), b"", seconds))
    except (protocol.NoAnswer, ValueError):
        return None
    return said


def is_running(home: Path) -> bool:
    """Whether some process holds the lock, whether it answers or not."""
    if not (home / protocol.LOCK).exists():
        return False
    lock = take_lock(str(home))
    if lock is not None:
        os.close(lock)
    return lock is None


def stop(home: Path, seconds: float = 30.0) -> bool:
    """Whether one was told to leave, and has left. Raises `Refused` if it does not."""
    if not is_running(home):
        return False
    until = time.monotonic() + seconds
    while is_running(home):
        with suppress(protocol.NoAnswer):  # on its way up, or out
            protocol.ask(str(home), "stop", (), b"", SECONDS)
        if time.monotonic() >= until:
            raise Refused(
                "The daemon does not leave.",
                f"End the process that `{home / protocol.LOCK}` names, then try again.",
            )
        time.sleep(0.05)
    return True


def ensure(home: Path, seconds: float = 30.0) -> dict[str, Any] | None:
    """Start one if there is none, and wait until it answers; None if it does not."""
    until = time.monotonic() + seconds
    while (said := status(home)) is None and time.monotonic() < until:
        start(str(home))
        time.sleep(0.05)
    return said
