"""Lines that wait in files, one file per name, until they are drained: whole files, in order.

Beside an encrypted store every line is sealed (`sealing`): whoever writes it need not have the key, and nothing of it is
on the disk in the clear. A line that can be neither sealed nor stored is refused and counted.

Hooks write here while a host may be waiting, so this module imports little.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from recollect.store.file_lock import one_at_a_time

MAX_FILE = 8 * 1024 * 1024  # bytes; `append` refuses more
MAX_FILES = 500
SEALED = b"sealed:"  # how a sealed line begins
_REFUSED = "refused.count"
_NAME = re.compile(r"[^\w.-]+")


class SpoolFiles:
    """Several processes may append and drain at the same time."""

    def __init__(self, folder: Path, largest: int = MAX_FILE, database: Path | None = None) -> None:
        """`database` is the store that the lines are for: they are sealed if it is encrypted."""
        self._folder = folder
        self._largest = largest
        self._database = database

    def append(self, name: str, lines: str) -> bool:
        """Append lines to the file of `name`; return False if they were refused. They are on disk when it returns."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        data = lines.encode("utf-8", "replace")
        count = data.count(b"\n")
        public = _public_key(self._database)
        if public is not None:
            name = _hidden(name)  # it may say what is done
            data = _sealed(data, public) if public else b""
        path = self._folder / f"{_file_name(name)}.jsonl"
        with one_at_a_time(self._folder / "append.lock"):
            full = not path.exists() and sum(1 for _ in self._folder.iterdir()) >= MAX_FILES
            if full or public == "":
                self._refuse(count)
                return False
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                size = os.fstat(file).st_size
                room = size + len(data) <= self._largest
                if room and os.write(file, data) < len(data):  # a full disk
                    os.ftruncate(file, size)
                    room = False
                if not room:
                    self._refuse(count)
            except OSError:
                os.close(file)
                raise
        try:
            os.fsync(file)  # after the lock, so that the next writer need not wait for the disk
        finally:
            os.close(file)
        return room

    def _refuse(self, count: int) -> None:
        with suppress(OSError):
            (self._folder / _REFUSED).write_text(str(self.refused() + count))

    def refused(self) -> int:
        """Return how many lines were refused: the spool was full, or they could not be sealed."""
        try:
            return int((self._folder / _REFUSED).read_text())
        except (OSError, ValueError):
            return 0

    def forget_refused(self) -> None:
        (self._folder / _REFUSED).unlink(missing_ok=True)

    def waiting(self, name: str | None = None) -> bool:
        """Whether any lines wait; with `name`, whether any of that name do."""
        start = ("",) if name is None else (f"{_file_name(name)}.", f"{_hidden(name)}.")
        try:
            files = os.listdir(self._folder)  # noqa: PTH208
        except OSError:
            return False
        return any(file.endswith((".jsonl", ".draining")) and file.startswith(start) for file in files)

    def drain(self, deliver: Callable[[list[bytes]], int]) -> int:
        """Pass the lines of each file to `deliver`, and return the sum of what it returns.

        A file is deleted once it is delivered. After a crash it is delivered again; one that `deliver` has no time for
        (`TimeoutError`) stays. Raise `WrongKey` if there are sealed lines and the key is not at hand; they stay.
        """
        if not self._folder.is_dir():
            return 0
        count = 0
        with one_at_a_time(self._folder / "drain.lock"):
            for path in self._claimed():
                with suppress(TimeoutError):
                    count += deliver(self._opened(path.read_bytes().splitlines()))
                    path.unlink()
        return count

    def _opened(self, lines: list[bytes]) -> list[bytes]:
        if self._database is None or not any(line.startswith(SEALED) for line in lines):
            return lines
        from recollect.store.keys import find_key

        key = find_key(self._database, os.environ)
        return lines if key is None else [_unsealed(line, key) for line in lines]

    def _claimed(self) -> Iterator[Path]:
        """Yield files that nobody appends to any more, those of an interrupted drain first."""
        yield from sorted(self._folder.glob("*.draining"))
        for path in sorted(self._folder.glob("*.jsonl")):
            mine = path.with_suffix(f".{os.urandom(8).hex()}.draining")
            with one_at_a_time(self._folder / "append.lock"):
                path.rename(mine)
            yield mine

    def reseal(self, old: str | None, public: str | None) -> None:
        """Rewrite all lines for a store that is encrypted from now on (`public`), or no longer (with its `old` key)."""
        with one_at_a_time(self._folder / "drain.lock"), one_at_a_time(self._folder / "append.lock"):
            for path in (*self._folder.glob("*.draining"), *self._folder.glob("*.jsonl")):
                data = path.read_bytes()
                lines = (
                    data.splitlines() if old is None else [_unsealed(line, old) for line in data.splitlines()]
                )
                plain = b"".join(line + b"\n" for line in lines if line)
                _replace(path, plain if public is None else _sealed(plain, public))


def spool_folders(home: Path) -> list[Path]:
    """Return the folders of a home in which lines may wait."""
    return [folder for folder in ((home / "spool"), *(home / "spool").rglob("*")) if folder.is_dir()]


def count_refused(home: Path) -> int:
    """Return how many lines were refused in a home since the count was last reset."""
    return sum(SpoolFiles(folder).refused() for folder in spool_folders(home))


def reset_refused(home: Path) -> None:
    for folder in spool_folders(home):
        SpoolFiles(folder).forget_refused()


def plain_spool_files(home: Path) -> list[Path]:
    """Return the spool files with a line that is not sealed."""
    files = [
        path
        for folder in spool_folders(home)
        for path in folder.iterdir()
        if path.suffix in (".jsonl", ".draining")
    ]
    return [
        path for path in files if any(not line.startswith(SEALED) for line in path.read_bytes().splitlines())
    ]


def _public_key(database: Path | None) -> str | None:
    """Return the key to seal with; None if the store is not encrypted, "" if its note has none yet."""
    if database is None or not os.path.exists(f"{database}.key.json"):  # noqa: PTH110 - the usual case, and cheap
        return None
    from recollect.errors import WrongKey
    from recollect.store.keys import is_encrypted, read_note

    try:
        note = read_note(database) if is_encrypted(database) else None
    except WrongKey:
        return ""
    return None if note is None else note.public


def _sealed(data: bytes, public: str) -> bytes:
    from recollect.store.sealing import seal

    lines = (line if line.startswith(SEALED) else SEALED + seal(line, public) for line in data.splitlines())
    return b"".join(line + b"\n" for line in lines)


def _unsealed(line: bytes, key: str) -> bytes:
    """Return the line as it was before it was sealed; nothing if it was cut off by a crash."""
    from recollect.store.sealing import unseal

    with suppress(ValueError):
        return unseal(line.removeprefix(SEALED), key) if line.startswith(SEALED) else line
    return b""


def _replace(path: Path, data: bytes) -> None:
    fresh = path.with_suffix(".rewriting")
    file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(file, data)
        os.fsync(file)
    finally:
        os.close(file)
    fresh.replace(path)


def _file_name(name: str) -> str:
    return _NAME.sub("_", name)[:80] or "session"


def _hidden(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]
