"""Lines that wait in files, one file per name, until they are drained: whole files, in order.

Hooks write here while a host may be waiting, so this module imports little.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from recollect.store.file_lock import one_at_a_time

MAX_FILE = 8 * 1024 * 1024  # bytes; `append` refuses more
MAX_FILES = 500
_NAME = re.compile(r"[^\w.-]+")


class SpoolFiles:
    """Several processes may append and drain at the same time."""

    def __init__(self, folder: Path, largest: int = MAX_FILE) -> None:
        self._folder = folder
        self._largest = largest

    def append(self, name: str, lines: str) -> bool:
        """Append lines to the file of `name`; return False if it is full. They are on disk when it returns."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._folder / f"{_NAME.sub('_', name)[:80] or 'session'}.jsonl"
        data = lines.encode("utf-8", "replace")
        with one_at_a_time(self._folder / "append.lock"):
            if not path.exists() and sum(1 for _ in self._folder.iterdir()) >= MAX_FILES:
                return False
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                size = os.fstat(file).st_size
                room = size + len(data) <= self._largest
                if room and os.write(file, data) < len(data):  # a full disk
                    os.ftruncate(file, size)
                    room = False
            except OSError:
                os.close(file)
                raise
        try:
            os.fsync(file)  # after the lock, so that the next writer need not wait for the disk
        finally:
            os.close(file)
        return room

    def waiting(self) -> bool:
        """Whether any lines wait."""
        try:
            return any(name.endswith((".jsonl", ".draining")) for name in os.listdir(self._folder))  # noqa: PTH208
        except OSError:
            return False

    def drain(self, deliver: Callable[[list[bytes]], int]) -> int:
        """Pass the lines of each file to `deliver`, and return the sum of what it returns.

        A file is deleted once it is delivered. After a crash it is delivered again.
        """
        if not self._folder.is_dir():
            return 0
        count = 0
        with one_at_a_time(self._folder / "drain.lock"):
            for path in self._claimed():
                count += deliver(path.read_bytes().splitlines())
                path.unlink()
        return count

    def _claimed(self) -> Iterator[Path]:
        """Yield files that nobody appends to any more, those of an interrupted drain first."""
        yield from sorted(self._folder.glob("*.draining"))
        for path in sorted(self._folder.glob("*.jsonl")):
            mine = path.with_suffix(f".{os.urandom(8).hex()}.draining")
            with one_at_a_time(self._folder / "append.lock"):
                path.rename(mine)
            yield mine
