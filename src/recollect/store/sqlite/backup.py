"""Three rolling backups by the online API, and rewriting the file with another key.

Never a file copy: the write-ahead log holds what the file does not have yet.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import apsw

from recollect.errors import StoreError
from recollect.model import KeyNote
from recollect.store.file_lock import one_at_a_time
from recollect.store.keys import is_plain, note_path, read_note, sync, write_note
from recollect.store.sqlite.check import whole_in_every_row
from recollect.store.sqlite.connection import Database, connect, unwritable

KEPT = 3


class Backups:
    def __init__(self, path: Path, key: str | None) -> None:
        self._path = path
        self._key = key
        self._folder = path.parent / "backups"

    def _slot(self, number: int) -> Path:
        return self._folder / f"{self._path.stem}-{number}.db"

    def existing(self) -> list[Path]:
        """Newest first."""
        return [slot for slot in map(self._slot, range(1, KEPT + 1)) if slot.exists()]

    def age(self, now: datetime) -> float | None:
        """Hours since the newest one; None if there is none."""
        found = self.existing()
        if not found:
            return None
        return (now - datetime.fromtimestamp(found[0].stat().st_mtime, UTC)).total_seconds() / 3600

    def make(self, db: apsw.Connection) -> Path:
        """Back up now; the oldest of more than three goes."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with one_at_a_time(self._folder / f"{self._path.stem}.lock"):
                return self._make(db)
        except OSError as error:
            raise unwritable(self._folder, error) from error

    def _make(self, db: apsw.Connection) -> Path:
        fresh = self._folder / f"{self._path.stem}-new.db"
        try:
            self._copy_pages(db, fresh)
            sync(fresh)
            for number in range(KEPT, 1, -1):
                if self._slot(number - 1).exists():
                    self._slot(number - 1).replace(self._slot(number))
            fresh.replace(self._slot(1))
            sync(self._slot(1))
        finally:
            fresh.unlink(missing_ok=True)
        return self._slot(1)

    def copy(self, source: Path, target: Path) -> None:
        """`source`, a backup, as a new file at `target`."""
        db = self._read(source)
        try:
            self._copy_pages(db, target)
        finally:
            db.close()
        sync(target)

    def newest_good(self) -> Path | None:
        for candidate in self.existing():
            try:
                db = self._read(candidate)
            except apsw.Error:
                continue
            try:
                if whole_in_every_row(db):
                    return candidate
            except apsw.Error:
                continue
            finally:
                db.close()
        return None

    def rekey(self, database: Database, make_key: Callable[[], tuple[str, KeyNote]] | None) -> KeyNote | None:
        """Rewrite the store and its backups with a new key, None for none. A crash leaves the old or the new one.

        The key is made when nobody else can make another one.
        """
        with database.alone("change the encryption"):
            try:
                self._refuse_damaged_files(needed=make_key is not None)
                key, note = make_key() if make_key is not None else (None, None)
                self._rekey(key, note)
            except OSError as error:
                raise unwritable(self._path.parent, error) from error
            self._key = key
            database.use_key(key)
        return note

    def _rekey(self, key: str | None, note: KeyNote | None) -> None:
        if note is not None:
            write_note(self._path, note)
        for backup in self.existing():
            try:
                self._rewrite(backup, self._read(backup), key)
            except (apsw.NotADBError, apsw.CorruptError):
                backup.unlink()  # damaged, or left by an attempt that was cut off, with a key nobody has
        store = connect(self._path, None if is_plain(self._path) else self._key)
        store.execute(
            "PRAGMA wal_checkpoint(TRUNCATE)"
        ).fetchall()  # raises if what is in the log has no room
        self._rewrite(self._path, store, key)
        for left in self._left_overs():
            left.unlink()
        if note is None:
            note_path(self._path).unlink(missing_ok=True)
            sync(self._path)

    def _left_overs(self) -> list[Path]:
        """What backups, restores and changes of key have left behind that were cut off."""
        name, stem = self._path.name, self._path.stem
        beside = [self._path.parent.glob(f"{name}.{what}*") for what in ("rekeyed", "restored")]
        return [*beside[0], *beside[1], *self._folder.glob(f"{stem}-new*"), *self._folder.glob("*.rekeyed*")]

    def _refuse_damaged_files(self, needed: bool) -> None:
        """What was set aside cannot be rewritten, and may not stay in the clear. It is not ours to destroy."""
        aside = sorted(self._path.parent.glob(f"{self._path.name}.damaged-*"))
        if aside and needed:
            raise StoreError(
                f"{aside[0].name} holds memories and cannot be encrypted; nothing was changed.",
                f"Move it out of {self._path.parent}, or delete it, and try again.",
            )

    def _rewrite(self, path: Path, db: apsw.Connection, key: str | None) -> None:
        """`path`, open as `db`, with another key."""
        fresh = path.with_name(f"{path.name}.rekeyed")
        try:
            _begin(fresh)
            db.execute("VACUUM INTO ?", (f"{fresh.resolve().as_uri()}?key={'raw:' + key if key else ''}",))
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        finally:
            db.close()
        sync(fresh)
        for end in ("-wal", "-shm"):  # empty by now; a log left beside the new file would be played into it
            Path(f"{path}{end}").unlink(missing_ok=True)
        fresh.replace(path)
        sync(path)

    def _read(self, path: Path) -> apsw.Connection:
        """A backup, which is never written to."""
        return connect(f"{path.resolve().as_uri()}?mode=ro", self._key if not is_plain(path) else None)

    def _copy_pages(self, db: apsw.Connection, target: Path) -> None:
        """In one go, so that others who write meanwhile cannot make it begin again and again."""
        _begin(target)
        copy = apsw.Connection(str(target))
        try:
            if self._key is not None and read_note(self._path) is not None:
                copy.pragma("key", f"raw:{self._key}")
            with copy.backup("main", db, "main") as work:
                work.step(-1)
            copy.pragma("journal_mode", "delete")  # one file, whole in itself
        finally:
            copy.close()


def _begin(path: Path) -> None:
    """An empty file that only its owner can read, with nothing left of an earlier attempt."""
    for end in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    path.touch(0o600)
