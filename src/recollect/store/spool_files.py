"""Lines that wait in files, one file a name, until someone takes them: whole files, in order, and never half of one.

Hooks write here while a host may be waiting, so this needs little.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from recollect.store.file_lock import one_at_a_time

MAX_FILE = 8 * 1024 * 1024  # bytes; what comes beyond is not kept, and the caller is told
MAX_FILES = 500
_NAME = re.compile(r"[^\w.-]+")


class SpoolFiles:
    """Many processes may append and drain at once."""

    def __init__(self, folder: Path, largest: int = MAX_FILE) -> None:
        self._folder = folder
        self._largest = largest

    def append(self, name: str, lines: str) -> bool:
        """False where there is no more room. They are on disk when it returns."""
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
            os.fsync(file)  # the next one need not wait for the disk
        finally:
            os.close(file)
        return room

    def waiting(self) -> bool:
        """Whether there is anything to take; looks and no more."""
        try:
            return any(name.endswith((".jsonl", ".draining")) for name in os.listdir(self._folder))  # noqa: PTH208
        except OSError:
            return False

    def drain(self, deliver: Callable[[list[bytes]], int]) -> int:
        """Hand over the lines of one file after the other; the sum of what `deliver` says.

        A file goes once it was delivered whole. After a crash it is delivered again.
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
        """Files that nobody appends to any more, those of a drain that was cut short first."""
        yield from sorted(self._folder.glob("*.draining"))
        for path in sorted(self._folder.glob("*.jsonl")):
            mine = path.with_suffix(f".{os.urandom(8).hex()}.draining")
            with one_at_a_time(self._folder / "append.lock"):
                path.rename(mine)
            yield mine
