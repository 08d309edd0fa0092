"""Giving way: consolidation waits while someone works, and ends when it is told to."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LOOK_AGAIN = 0.02  # seconds between two looks at whether others are still at work
_REST = 0.002  # seconds after each transaction, in which another process may have its own


class Foreground:
    """Work that must not wait, in this process: whoever does it says so, from any thread."""

    def __init__(self) -> None:
        self._count = 0
        self._lock = threading.Lock()

    @contextmanager
    def working(self) -> Iterator[None]:
        with self._lock:
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1

    def busy(self) -> bool:
        return self._count > 0


class Stopped(Exception):
    """It was told to stop."""


class Pace:
    """Asked between small steps, none of which may take a tenth of a second."""

    def __init__(self, stop: Callable[[], bool] | None, busy: Callable[[], bool] | None) -> None:
        self._stop = stop
        self._busy = busy
        self._bell = threading.Event()  # never rung: waiting for it is resting

    def breathe(self) -> None:
        """Wait while others work. Raises `Stopped`."""
        while self._busy is not None and self._busy():
            self._look_up()
            self._bell.wait(_LOOK_AGAIN)
        self._look_up()

    def rest(self) -> None:
        self._bell.wait(_REST)

    def _look_up(self) -> None:
        if self._stop is not None and self._stop():
            raise Stopped
