"""Locks between processes, on a file beside the one they protect.

The operating system releases a lock when its process ends, however it ends.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks: every process believes to be alone
    fcntl = None  # type: ignore[assignment]


class FileLock:
    """A lock that processes share while they have a store open, or that one holds exclusively for a moment."""

    def __init__(self, path: Path) -> None:
        self._descriptor = None if fcntl is None else _open(path)
        self._here = False

    def exclude_others(self, patience: float = 0.0) -> bool:
        """Take the lock exclusively; return False if others still share it after `patience` seconds."""
        if self._descriptor is None:
            return True
        deadline = time.monotonic() + patience
        while not _exclusive(self._descriptor):
            if time.monotonic() >= deadline:
                if self._here:
                    self.admit_others()  # a failed attempt may have released the shared lock
                return False
            time.sleep(0.02)
        return True

    def admit_others(self) -> None:
        """Share the lock, after waiting for a process that holds it exclusively."""
        self._here = True
        if self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def leave(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return device and inode, or None if there is no file: a file that was replaced has another identity."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextlib.contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on `path`, after waiting for any other holder."""
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
    """Return a file descriptor, or None in a read-only folder, where nobody can write."""
    with contextlib.suppress(OSError):
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    return None
