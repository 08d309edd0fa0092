"""What was installed where: `installed.json` in RECOLLECT_HOME, and the files as they were before, in `backups/hosts`."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from recollect.errors import Refused
from recollect.interfaces.install.change import replace_file
from recollect.store.file_lock import one_at_a_time


@dataclass(frozen=True, slots=True)
class Record:
    """A file that we wrote to."""

    path: str
    host: str
    scope: str  # user or project
    root: str  # of the project; empty for the user
    before: str | None  # digest of what it was without us; None = there was no such file
    after: str  # digest of what we made of it
    folders: tuple[str, ...] = ()  # that had to be made for it


class Ledger:
    """Small, read anew at every call; lost, it costs the exact bytes but not the way back."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file = home / "installed.json"
        self._backups = home / "backups" / "hosts"

    def records(self) -> list[Record]:
        try:
            rows = json.loads(self._file.read_text(encoding="utf-8"))["files"]
            return [Record(**{**row, "folders": tuple(row["folders"])}) for row in rows]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refused(
                f"{self._file} cannot be read: {error}.",
                "Move it away: what is installed is recognised without it, too.",
            ) from error

    def of(self, path: Path, host: str) -> Record | None:
        return next((each for each in self.records() if each.path == str(path) and each.host == host), None)

    def original(self, record: Record) -> bytes | None:
        """What the file was before us. Raises `KeyError` if that is no longer known."""
        if record.before is None:
            return None
        try:
            data = (self._backups / record.before).read_bytes()
        except OSError as error:
            raise KeyError(record.path) from error
        if digest(data) != record.before:
            raise KeyError(record.path)
        return data

    def back_up(self, data: bytes) -> None:
        """It may hold secrets of other programs: nobody else may read it."""
        self._backups.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = self._backups / digest(data)
        if not file.exists():
            replace_file(file, data, 0o600)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One installation at a time."""
        self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with one_at_a_time(self._home / "installed.lock"):
            yield

    def update(
        self, added: Sequence[Record], gone: Iterable[tuple[str, str]], folders: Sequence[Path] = ()
    ) -> None:
        """Keep `added`, each in place of one for the same path and host; drop `gone`.

        `folders` were made for those that are gone and hold other files of ours: they go with the last of them.
        """
        dropped = {*gone, *((record.path, record.host) for record in added)}
        kept = [each for each in self.records() if (each.path, each.host) not in dropped]
        kept = [_with_folders(each, folders) for each in (*kept, *added)]
        text = json.dumps({"files": [asdict(record) for record in kept]}, indent=1, ensure_ascii=False)
        replace_file(self._file, text.encode(), 0o600)
        wanted = {record.before for record in kept}
        for file in self._backups.iterdir() if self._backups.is_dir() else ():
            if file.name not in wanted:
                with suppress(OSError):
                    file.unlink()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _with_folders(record: Record, folders: Sequence[Path]) -> Record:
    above = {str(each) for each in folders if each in Path(record.path).parents}
    return replace(record, folders=tuple(sorted({*record.folders, *above})))
