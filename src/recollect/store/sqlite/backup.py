"""Three rolling backups through SQLite's backup API, and rewriting the file with another key.

Files are never copied: the write-ahead log holds pages that the file does not have yet.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from recollect.errors import StoreError
from recollect.model import BackupCheck, KeyNote
from recollect.store.file_lock import identity_of, one_at_a_time
from recollect.store.keys import (
    drop_key,
    intent_path,
    is_plain,
    note_path,
    read_note,
    sync,
    write_intent,
    write_note,
)
from recollect.store.spool_files import SpoolFiles, spool_folders
from recollect.store.sqlite import checksums
from recollect.store.sqlite.check import damage_in
from recollect.store.sqlite.connection import Database, connect, unwritable

KEPT = 3


class Backups:
    """The backups of one store file."""

    def __init__(self, path: Path, key: str | None) -> None:
        self._path = path
        self._key = key
        self._folder = path.parent / "backups"

    def _slot(self, number: int) -> Path:
        return self._folder / f"{self._path.stem}-{number}.db"

    def existing(self) -> list[Path]:
        """Return the backups that exist, newest first."""
        return [slot for slot in map(self._slot, range(1, KEPT + 1)) if slot.exists()]

    def age(self, now: datetime) -> float | None:
        """Return the hours since the newest backup, or None if there is none."""
        found = self.existing()
        if not found:
            return None
        return (now - datetime.fromtimestamp(found[0].stat().st_mtime, UTC)).total_seconds() / 3600

    def make(self, db: apsw.Connection) -> Path:
        """Make a backup and return its path; the oldest of more than three is deleted."""
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
        """Copy the backup `source` to a new file `target`."""
        db = self._read(source)
        try:
            self._copy_pages(db, target)
        finally:
            db.close()
        sync(target)

    def open_newest_good(self) -> apsw.Connection | None:
        """Open the newest intact backup to read it; None if there is none."""
        good = self.newest_good()
        return None if good is None else self._read(good)

    def newest_good(self) -> Path | None:
        return next((backup for backup in self.existing() if self._damage(backup) is None), None)

    def check(self) -> list[BackupCheck]:
        """Open and read every backup, newest first."""
        return [
            BackupCheck(
                str(backup), datetime.fromtimestamp(backup.stat().st_mtime, UTC), self._damage(backup)
            )
            for backup in self.existing()
        ]

    def _damage(self, backup: Path) -> str | None:
        """Return what is damaged in the backup, and None if nothing is."""
        try:
            db = self._read(backup)
            try:
                return damage_in(db)
            finally:
                db.close()
        except apsw.Error as error:
            return checksums.describe(error)
        except OSError as error:
            return str(error)

    def rekey(self, database: Database, make_key: Callable[[], tuple[str, KeyNote]] | None) -> KeyNote | None:
        """Rewrite the store and its backups with a new key, or without one. A crash leaves the old key or the new one.

        `make_key` is called while no other process can open the store.
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

    def finish_rekeying(self, key: str | None, note: KeyNote | None) -> None:
        """Finish an interrupted change to `key`, or to no key. Nobody else may have the store open."""
        try:
            self._rekey(key, note)
        except OSError as error:
            raise unwritable(self._path.parent, error) from error

    def _rekey(self, key: str | None, note: KeyNote | None) -> None:
        """Rewrite everything. Each step may be repeated: until the intent is deleted, the next opening does so."""
        before = self._identities()
        try:
            write_intent(self._path, encrypted=note is not None)
            self._rewrite_all(key, note)
        except Exception:
            if self._identities() == before:  # nothing was rewritten, such as on a full disk
                intent_path(self._path).unlink(missing_ok=True)
            raise
        intent_path(self._path).unlink(missing_ok=True)
        sync(self._path)

    def _identities(self) -> list[object]:
        return [identity_of(path) for path in (self._path, *map(self._slot, range(1, KEPT + 1)))]

    def _rewrite_all(self, key: str | None, note: KeyNote | None) -> None:
        if note is not None:
            write_note(self._path, note)
        for backup in self.existing():
            try:
                self._rewrite(backup, self._read(backup), key)
            except apsw.Error as error:
                if not checksums.is_damage(error):
                    raise
                backup.unlink()  # damaged, or left by an interrupted attempt whose key is lost
        store = connect(self._path, None if is_plain(self._path) else self._key)
        store.execute(
            "PRAGMA wal_checkpoint(TRUNCATE)"
        ).fetchall()  # raises if the log does not fit on the disk
        self._rewrite(self._path, store, key)
        for left in self._left_overs():
            left.unlink()
        for folder in spool_folders(self._path.parent):
            SpoolFiles(folder).reseal(self._key, note.public if note else None)
        if note is None:
            if (old := read_note(self._path)) is not None:
                drop_key(self._path, old)
            note_path(self._path).unlink(missing_ok=True)
            sync(self._path)

    def _left_overs(self) -> list[Path]:
        """Return index files, and files left behind by interrupted backups, restores and changes of key."""
        name, stem = self._path.name, self._path.stem
        beside = [self._path.parent.glob(f"{name}.{what}*") for what in ("rekeyed", "restored", "*.index")]
        return [
            *beside[0],
            *beside[1],
            *beside[2],
            *self._folder.glob(f"{stem}-new*"),
            *self._folder.glob("*.rekeyed*"),
        ]

    def _refuse_damaged_files(self, needed: bool) -> None:
        """Raise `StoreError` if a damaged file was set aside: it cannot be encrypted, and deleting it is up to the user."""
        aside = sorted(self._path.parent.glob(f"{self._path.name}.damaged-*"))
        if aside and needed:
            raise StoreError(
                f"{aside[0].name} contains memories and cannot be encrypted; nothing was changed.",
                f"Move it out of {self._path.parent}, or delete it, and try again.",
            )

    def _rewrite(self, path: Path, db: apsw.Connection, key: str | None) -> None:
        """Rewrite `path`, open as `db`, with another key."""
        fresh = path.with_name(f"{path.name}.rekeyed")
        try:
            begin(fresh)
            if key is None:
                copy_rows(db, fresh)
            else:
                options = f"vfs={checksums.default_vfs()}&key=raw:{key}"
                db.execute("VACUUM INTO ?", (f"{fresh.resolve().as_uri()}?{options}",))
        except apsw.CantOpenError:
            fresh.unlink(missing_ok=True)
            raise apsw.CantOpenError(
                f"unable to open {fresh.name}"
            ) from None  # SQLite's message quotes the key
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        finally:
            db.close()
        sync(fresh)
        for end in ("-wal", "-shm"):  # empty by now; SQLite would replay a log left beside the new file
            Path(f"{path}{end}").unlink(missing_ok=True)
        fresh.replace(path)
        sync(path)

    def _read(self, path: Path) -> apsw.Connection:
        """Open a backup read-only."""
        return connect(f"{path.resolve().as_uri()}?mode=ro", self._key if not is_plain(path) else None)

    def _copy_pages(self, db: apsw.Connection, target: Path) -> None:
        """Copy all pages in one step, so that concurrent writers cannot restart the copy again and again."""
        begin(target)
        key = self._key if read_note(self._path) is not None else None
        copy = apsw.Connection(str(target), vfs=None if key else checksums.vfs())
        try:
            if key is not None:
                copy.pragma("key", f"raw:{key}")
            elif checksums.vfs() is not None and checksums.are_needed(db):
                # Pages that are written before the file has a first page with room for checksums would have none.
                checksums.reserve(copy)
                copy.execute("CREATE TABLE begun (id); DROP TABLE begun")
            with copy.backup("main", db, "main") as work:
                work.step(-1)
            copy.pragma("journal_mode", "delete")  # a single file without a log
        finally:
            copy.close()


def begin(path: Path) -> None:
    """Create an empty file that only its owner can read, and delete what an earlier attempt left."""
    for end in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    path.touch(0o600)


Rows = Callable[[apsw.Connection, str, Sequence[str]], Iterable[Sequence[Any]]]


def _all_rows(db: apsw.Connection, table: str, columns: Sequence[str]) -> Iterable[Sequence[Any]]:
    return db.execute(f'SELECT * FROM "{table}"')


def copy_rows(db: apsw.Connection, target: Path, read_rows: Rows = _all_rows) -> None:
    """Copy everything in `db` to a new, unencrypted file with checksums. `read_rows` returns the rows of a table.

    `VACUUM INTO` would reserve as many bytes per page as encryption needs, and checksums need another number.
    """
    copy = connect(target, None)
    try:
        copy.pragma("foreign_keys", False)
        copy.pragma("user_version", db.pragma("user_version"))
        copy.execute("BEGIN")
        entries = db.execute(
            "SELECT type, name, rootpage, sql FROM sqlite_schema WHERE sql IS NOT NULL"
            " ORDER BY name LIKE 'sqlite_%'"  # SQLite makes its own tables with those that need them
        ).fetchall()
        for kind, name, page, sql in entries:
            if kind == "table" and page:
                if str(name).startswith("sqlite_"):
                    copy.execute(f'DELETE FROM "{name}"')
                else:
                    copy.execute(str(sql))
                columns = [str(column[1]) for column in db.execute(f'PRAGMA table_info("{name}")').fetchall()]
                places = ", ".join("?" * len(columns))
                copy.executemany(f'INSERT INTO "{name}" VALUES ({places})', read_rows(db, str(name), columns))
        for kind, _, page, sql in entries:
            if kind != "table" and page:
                copy.execute(str(sql))
        copy.pragma(
            "writable_schema", True
        )  # as SQLite does: creating a virtual table would create its tables as well
        copy.executemany(
            "INSERT INTO sqlite_schema VALUES ('table', ?, ?, 0, ?)",
            ((name, name, sql) for _, name, page, sql in entries if not page),
        )
        copy.execute("COMMIT")
        copy.pragma("journal_mode", "delete")  # a single file without a log
    finally:
        copy.close()
