"""Who else is here: locks between processes, on a file beside the one they protect.

The system gives a lock back when its process ends, however it ends.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks: there everyone believes to be alone
    fcntl = None  # type: ignore[assignment]


class FileLock:
    """Our place among those who have a store open: shared by all, or for a moment ours alone."""

    def __init__(self, path: Path) -> None:
        self._descriptor = None if fcntl is None else _open(path)
        self._here = False

    def exclude_others(self, patience: float = 0.0) -> bool:
        """Whether nobody else is here, or all have left within `patience` seconds; who comes then has to wait."""
        if self._descriptor is None:
            return True
        deadline = time.monotonic() + patience
        while not _exclusive(self._descriptor):
            if time.monotonic() >= deadline:
                if self._here:
                    self.admit_others()  # a failed try may cost the lock that we had
                return False
            time.sleep(0.02)
        return True

    def admit_others(self) -> None:
        """From now on we are here. Waits for one who excludes us."""
        self._here = True
        if self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def leave(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextlib.contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Wait for whoever is in such a block for the same `path`."""
    descriptor = None if fcntl is None else _open(path)
    try:
        if descriptor is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _exclusive(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _open(path: Path) -> int | None:
    """None in a read-only home, where nobody can do harm."""
    with contextlib.suppress(OSError):
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    return None
