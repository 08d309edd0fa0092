"""Yield to foreground work: consolidation waits while it runs, and stops on request."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_POLL_SECONDS = 0.02  # between two looks at whether foreground work is still running
_PAUSE_SECONDS = 0.002  # after each transaction, so that another process can run its own


class WorkCounter:
    """Counts work in progress in this process, from any thread.

    Work that takes more than `longest` seconds does not count: it is stuck, or nobody waits for it any more.
    """

    def __init__(self, longest: float = math.inf) -> None:
        self._longest = longest
        self._begun: dict[object, float] = {}
        self._lock = threading.Lock()

    @contextmanager
    def working(self) -> Iterator[None]:
        work = object()
        with self._lock:
            self._begun[work] = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                del self._begun[work]

    def busy(self) -> bool:
        if not self._begun:
            return False
        with self._lock:
            return any(time.monotonic() - begun <= self._longest for begun in self._begun.values())


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
