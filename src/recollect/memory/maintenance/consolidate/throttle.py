"""Yield to foreground work: consolidation waits while it runs, and stops on request."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_POLL_SECONDS = 0.02  # between two looks at whether foreground work is still running
_PAUSE_SECONDS = 0.002  # after each transaction, so that another process can run its own


class WorkCounter:
    """Counts work in progress in this process, from any thread."""

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
    """The run was asked to stop."""


class Throttle:
    """Called between small steps, none of which may take a tenth of a second."""

    def __init__(self, stop: Callable[[], bool] | None, busy: Callable[[], bool] | None) -> None:
        self._stop = stop
        self._busy = busy
        self._never = threading.Event()  # never set: waiting for it is a pause

    def yield_to_foreground(self) -> None:
        """Wait while foreground work is running. Raise `Stopped` if the run is to stop."""
        while self._busy is not None and self._busy():
            self._check_stop()
            self._never.wait(_POLL_SECONDS)
        self._check_stop()

    def pause(self) -> None:
        """Give another process time for a transaction of its own."""
        self._never.wait(_PAUSE_SECONDS)

    def _check_stop(self) -> None:
        if self._stop is not None and self._stop():
            raise Stopped
