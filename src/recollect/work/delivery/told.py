"""What a session has been told, so that nothing is said twice, and what waits until it opens a file."""

import threading
from collections.abc import Iterable

from recollect.work.delivery.waiting import Waiting


class Told:
    """The keys of what a session has been told, and what it may be told about files. Thread-safe."""

    def __init__(self, keys: Iterable[str] = (), *, has_started: bool = False) -> None:
        self.has_started = has_started  # whether it was told what a session is told at its start
        self.has_forgotten = False  # whether the agent no longer sees the whole conversation
        self.waiting = Waiting()
        self._keys = set(keys)
        self._lock = threading.Lock()

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    @property
    def keys(self) -> frozenset[str]:
        with self._lock:
            return frozenset(self._keys)

    def add(self, keys: Iterable[str]) -> None:
        with self._lock:
            self._keys.update(keys)

    def forget(self) -> None:
        """Forget everything: after a compaction the agent no longer sees what it was told."""
        with self._lock:
            self._keys.clear()
            self.has_started = False
            self.has_forgotten = True
