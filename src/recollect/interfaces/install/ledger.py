"""What is installed where (`installed.json` in RECOLLECT_HOME), and the files as they were before (`backups/hosts`)."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

from recollect.errors import Refused
from recollect.frozen import frozen
from recollect.interfaces.install.change import replace_file
from recollect.store.file_lock import one_at_a_time


@frozen
class InstalledFile:
    """A file that an installation wrote to."""

    path: str
    host: str
    scope: str  # user or project
    root: str  # of the project; empty for the user
    before: str | None  # digest of the file without our edit; None = there was no such file
    after: str  # digest of the file as we wrote it
    folders: tuple[str, ...] = ()  # that were created for it


class Ledger:
    """The record of installations, read from disk at every call.

    If it is lost, uninstalling still works, but no longer restores the exact bytes.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file = home / "installed.json"
        self._backups = home / "backups" / "hosts"

    def records(self) -> list[InstalledFile]:
        try:
            rows = json.loads(self._file.read_text(encoding="utf-8"))["files"]
            return [InstalledFile(**{**row, "folders": tuple(row["folders"])}) for row in rows]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refused(
                f"{self._file} cannot be read: {error}.",
                "Move it away: Recollect recognises its entries without it.",
            ) from error

    def of(self, path: Path, host: str) -> InstalledFile | None:
        """Return the record of a file that was written for `host`; None if there is none."""
        known = (record for record in self.records() if (record.path, record.host) == (str(path), host))
        return next(known, None)

    def original(self, record: InstalledFile) -> bytes | None:
        """Return what the file was before us. Raise `KeyError` if the backup is gone."""
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
        """Keep `data` where only the user can read it: it may hold secrets of other programs."""
        self._backups.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = self._backups / digest(data)
        if not file.exists():
            replace_file(file, data, 0o600)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Let one installation run at a time."""
        self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with one_at_a_time(self._home / "installed.lock"):
            yield

    def update(
        self, added: Sequence[InstalledFile], gone: Iterable[tuple[str, str]], folders: Sequence[Path] = ()
    ) -> None:
        """Record `added`, each in place of an older record for the same path and host, and drop `gone`.

        `folders` were created for files that are gone and still hold others of ours: these inherit them.
        """
        dropped = {*gone, *((record.path, record.host) for record in added)}
        others = [record for record in self.records() if (record.path, record.host) not in dropped]
        records = [_with_folders(record, folders) for record in (*others, *added)]
        text = json.dumps({"files": [asdict(record) for record in records]}, indent=1, ensure_ascii=False)
        replace_file(self._file, text.encode(), 0o600)
        wanted = {record.before for record in records}
        for file in self._backups.iterdir() if self._backups.is_dir() else ():
            if file.name not in wanted:
                with suppress(OSError):
                    file.unlink()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _with_folders(record: InstalledFile, folders: Sequence[Path]) -> InstalledFile:
    above = {str(folder) for folder in folders if folder in Path(record.path).parents}
    return replace(record, folders=tuple(sorted({*record.folders, *above})))
