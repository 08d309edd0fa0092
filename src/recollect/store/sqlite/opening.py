"""Opening the file: check it, migrate it, and replace a damaged one with a backup."""

import contextlib
from datetime import UTC, datetime
from pathlib import Path

import apsw

from recollect.errors import Refused, StoreDamaged, StoreMissing, StoreTooNew, StoreUnwritable
from recollect.store.file_lock import FileLock, identity_of, one_at_a_time
from recollect.store.keys import is_plain, sync
from recollect.store.sqlite.backup import Backups, begin
from recollect.store.sqlite.check import whole, whole_in_every_row
from recollect.store.sqlite.connection import Database, suspicion
from recollect.store.sqlite.repair import repair
from recollect.store.sqlite.schema import migrate, newest_version, version_of

_PATIENCE = 2.0  # seconds: other processes that met the same damage close the file within it


def open_or_restore(
    path: Path, user_id: str, key: str | None, backups: Backups
) -> tuple[Database, tuple[str, ...]]:
    """Return the open database, and notices for the user.

    Raise `StoreMissing` for a file that is gone and has backups: an empty store would soon push them out.
    """
    _finish_restoring(path)
    _refuse_missing(path, backups)
    found = identity_of(path)
    try:
        _refuse_emptied(path, backups)
        return _open(path, user_id, key, backups), ()
    except StoreDamaged as damage:
        notices = _restore_alone(path, found, backups, damage)
        return _open(path, user_id, key, backups), notices


def open_to_read(path: Path, key: str | None) -> Database:
    """Return the database without creating, changing, migrating or restoring anything.

    Raise `StoreError` or a subclass if it is missing, of another version, suspected of damage, or in exclusive use.
    """
    if not path.exists():
        raise StoreUnwritable(f"There is no {path.name} in {path.parent}.", "Nothing was created.")
    database = Database(path, key, read_only=True)
    try:
        if database.suspect:
            raise StoreDamaged(f"{path} may be damaged.", "The next command checks it.")
        with database.reading() as db:
            _refuse_newer(db, path)
            if version_of(db) < newest_version():
                raise StoreUnwritable(f"{path.name} needs a migration.", "The next command migrates it.")
            database.schema_version = version_of(db)
    except BaseException:
        database.close()
        raise
    return database


def _open(path: Path, user_id: str, key: str | None, backups: Backups) -> Database:
    database = Database(path, key)
    try:
        with database.reading() as db:
            _refuse_newer(db, path)
            if database.ended_badly or database.suspect:
                if not (whole_in_every_row(db) if database.suspect else whole(db)):
                    raise apsw.CorruptError("its parts do not fit together")
                database.cleared()
            _refuse_older(db, database)
            _migrate(db, user_id, backups)
            database.schema_version = version_of(db)
    except BaseException:
        database.close()
        raise
    return database


def restore_missing(path: Path, backups: Backups) -> str:
    """Put the newest intact backup in the place of a file that is gone; return a notice. Raise `Refused`, `StoreMissing`."""
    with one_at_a_time(Path(f"{path}.restoring")):
        _finish_restoring(path)
        if path.exists():
            raise Refused(
                f"{path.name} is there: nothing was restored.",
                f"Move it out of {path.parent} first if you want to go back to a backup.",
            )
        good = backups.newest_good()
        if good is None:
            raise StoreMissing(
                f"There is no intact backup in {path.parent / 'backups'}.",
                "Run `recollect import` with an export if you have one.",
            )
        for end in ("-wal", "-shm"):  # of the lost file: SQLite would replay the log
            with contextlib.suppress(FileNotFoundError):
                Path(f"{path}{end}").rename(f"{path}.lost{end}")
        backups.copy(good, _restored(path))
        _finish_restoring(path)
    return f"Restored {path.name} from the backup of {_made(good)}: later writes are missing."


def _refuse_missing(path: Path, backups: Backups) -> None:
    if path.exists() or not (existing := backups.existing()):
        return
    raise StoreMissing(
        f"{path} is gone, but has backups, the newest of {_made(existing[0])}. Nothing was changed.",
        "Run `recollect backup restore` to restore the newest intact one. To start with an empty memory instead, move the"
        f" folder {existing[0].parent} away.",
    )


def _made(backup: Path) -> str:
    return datetime.fromtimestamp(backup.stat().st_mtime, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _refuse_emptied(path: Path, backups: Backups) -> None:
    """Raise `StoreDamaged` for an empty file with backups: it was truncated, and SQLite would take it for a new store."""
    if not path.exists() or path.stat().st_size > 0 or not backups.existing():
        return
    presence = FileLock(Path(f"{path}.lock"))
    try:
        if presence.exclude_others():  # else another process is just creating it
            raise StoreDamaged(f"{path} is empty.")
    finally:
        presence.leave()


def _restore_alone(
    path: Path, found: tuple[int, int] | None, backups: Backups, damage: StoreDamaged
) -> tuple[str, ...]:
    """Restore the file unless another process has just done so; return notices for the user.

    A file that another process has open is never replaced: what that process writes would be lost.
    """
    with one_at_a_time(Path(f"{path}.restoring")):
        if identity_of(path) != found:
            return ()
        presence = FileLock(Path(f"{path}.lock"))
        try:
            if not presence.exclude_others(_PATIENCE):
                raise StoreDamaged(
                    f"{damage.message} Another process still has it open.",
                    "Close the programs that use it, and try again: a backup will be restored.",
                ) from damage
            return (_restore(path, backups, damage),)
        finally:
            presence.leave()


def _restore(path: Path, backups: Backups, damage: StoreDamaged) -> str:
    """Set the damaged file aside, put a repaired copy or the newest good backup in its place; return a notice for the user."""
    done = _repaired(path, backups)
    if done is None:
        good = backups.newest_good()
        if good is None:
            raise StoreDamaged(
                f"{damage.message} No intact backup was found.",
                f"Move {path} away to start with an empty store, then run `recollect import` with an export if you have one.",
            ) from damage
        backups.copy(good, _restored(path))
        done = f"restored from the backup of {_made(good)}: later writes are missing"
    sync(_restored(path))
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    for end in ("-wal", "-shm"):  # SQLite would replay a log left beside the new file
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{end}").rename(f"{aside}{end}")
    path.rename(aside)
    _finish_restoring(path)
    suspicion(path).unlink(missing_ok=True)
    return (
        f"The store was damaged ({damage.message}) and was {done}. The damaged file is kept as {aside.name}."
    )


def _repaired(path: Path, backups: Backups) -> str | None:
    """Write a repaired copy of a file with flipped bits, and return what was done; None if it cannot be repaired."""
    if not path.stat().st_size or not is_plain(path):
        return None
    backup = backups.open_newest_good()
    try:
        begin(_restored(path))
        done = repair(path, backup, _restored(path))
    finally:
        if backup is not None:
            backup.close()
    return None if done is None else f"repaired: {done}"


def _finish_restoring(path: Path) -> None:
    """Finish the last step of a restore, also one that was interrupted: without the old file, the new one is complete."""
    if not path.exists():
        with contextlib.suppress(OSError):
            _restored(path).rename(path)


def _restored(path: Path) -> Path:
    return path.with_name(f"{path.name}.restored")


def _refuse_newer(db: apsw.Connection, path: Path) -> None:
    found, known = version_of(db), newest_version()
    if found > known:
        raise StoreTooNew(
            f"{path.name} was written by a newer Recollect (version {found}; this one knows {known}).",
            "Upgrade Recollect. Nothing was changed.",
        )


def _refuse_older(db: apsw.Connection, database: Database) -> None:
    """Raise `StoreUnwritable` for an older store that cannot be migrated because it is read-only."""
    found, known = version_of(db), newest_version()
    if found < known and database.read_only:
        raise StoreUnwritable(
            f"{database.path.name} was written by an older Recollect (version {found}; this one needs {known}),"
            f" and {database.path.parent} is read-only: nothing was changed.",
            "Make it writable, or open it with the Recollect that wrote it.",
        )


def _migrate(db: apsw.Connection, user_id: str, backups: Backups) -> None:
    """Bring the file to the current schema, after a backup."""
    if 0 < version_of(db) < newest_version():
        backups.make(db)
    migrate(db, user_id)
