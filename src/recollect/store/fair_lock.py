"""A lock that threads get in the order in which they asked for it."""

import contextlib
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from weakref import WeakValueDictionary


class FairLock:
    """Python's own lock goes to any waiting thread: with many writers, one may wait for as long as the others write."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Lock] = deque()

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Hold the lock. A thread that holds it must not ask again."""
        self._acquire()
        try:
            yield
        finally:
            self._release()

    def _acquire(self) -> None:
        with self._mutex:
            if not self._held:
                self._held = True
                return
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        try:
            turn.acquire()  # released by the thread before us, which leaves the lock held for us
        except BaseException:  # an interrupt while we waited
            with self._mutex:
                is_ours = turn not in self._waiting
                if not is_ours:
                    self._waiting.remove(turn)
            if is_ours:
                self._release()
            raise

    def _release(self) -> None:
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False


_locks: "WeakValueDictionary[str, FairLock]" = WeakValueDictionary()
_guard = threading.Lock()


def lock_of(path: Path) -> FairLock:
    """Return the lock of a file for this process: the same for everybody who has the file open."""
    with _guard:
        return _locks.setdefault(str(path.resolve()), FairLock())
