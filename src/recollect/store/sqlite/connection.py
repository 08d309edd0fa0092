"""Connections to one SQLite file, safe with many processes and threads, power cuts, full disks and wrong keys."""

import contextlib
import logging
import os
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import apsw

from recollect.errors import (
    ContentRefused,
    RecollectError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreMissing,
    StoreTooNew,
    StoreUnwritable,
    WrongKey,
)
from recollect.store import open_files
from recollect.store.fair_lock import lock_of
from recollect.store.file_lock import FileLock, identity_of
from recollect.store.journal import Journal
from recollect.store.keys import is_encrypted
from recollect.store.sqlite import checksums

logger = logging.getLogger(__name__)

BUSY_SECONDS = 30.0  # eight writers at once wait far less; after this, something is stuck
GLANCE_SECONDS = 0.05  # that one who only reads, and must not wait, waits for a lock
Value = int | float | bytes | str | None  # what a column holds and a query is given
# Raised when a row with damaged bytes is read, and by mistakes in our own code.
UNREADABLE = (ValueError, KeyError, TypeError, IndexError, AttributeError, zlib.error)
_UNUSABLE = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.IOError, apsw.PermissionsError)
_OPEN = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI

# SQLite's messages quote what it has read, and stderr belongs to the host: nobody gets them.
apsw.config(apsw.SQLITE_CONFIG_LOG, None)


class Database:
    """A pool of connections to one file. A thread keeps its own connection during a transaction."""

    def __init__(self, path: Path, key: str | None = None, *, read_only: bool = False) -> None:
        """Open the file. With `read_only`, create and change nothing, and wait for nobody."""
        self.path = path
        self.read_only = read_only
        self._patience = GLANCE_SECONDS if read_only else BUSY_SECONDS
        self.schema_version: int | None = None  # of the file when it was opened, after migrations
        self.journal = Journal()
        self._key = key
        self._idle: list[apsw.Connection] = []
        self._out = 0  # connections at work
        self._lock = threading.Lock()
        self._writer = lock_of(path)
        self._thread = threading.local()
        self._closed = False
        self.ended_badly = False
        self._identity: tuple[int, int] | None = None  # of the file, once it is open
        self._noted: tuple[int, int] | None = None  # in `open_files`
        self._presence: FileLock | None = None
        if not read_only:
            self._announce()
        try:
            with self._translated():
                encrypted = self.encrypted
                self._idle.append(self._connect())
            self._note_open(plain=not encrypted)
        except BaseException:
            self.close()
            raise

    def _announce(self) -> None:
        """Show other processes that the file is open, and find out whether the last one ended badly."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise unwritable(self.path.parent, error) from error
        self._presence = FileLock(Path(f"{self.path}.lock"))
        alone = self._presence.exclude_others()
        self._presence.admit_others()
        wal = Path(f"{self.path}-wal")
        self.ended_badly = alone and wal.exists() and wal.stat().st_size > 0

    @property
    def encrypted(self) -> bool:
        return is_encrypted(self.path)

    @property
    def suspect(self) -> bool:
        """Return whether a read has met damage since the file was last checked."""
        return suspicion(self.path).exists()

    def suspected(self) -> None:
        """Record that a read has met damage, so that the next opening checks the whole file."""
        with contextlib.suppress(OSError):
            suspicion(self.path).touch()

    def cleared(self) -> None:
        """Record that the file was checked and is good."""
        self.ended_badly = False
        with contextlib.suppress(OSError):
            suspicion(self.path).unlink(missing_ok=True)

    @contextlib.contextmanager
    def alone(self, what: str) -> Iterator[None]:
        """Close all connections and keep other processes out. Raise `StoreBusy` if another process has the store open."""
        with self._lock:  # threads that want a connection wait
            if self._out:
                raise StoreBusy(f"Cannot {what} while the store is in use.", "Try again when it is done.")
            self._drop_connections()
            if self._presence is None:
                raise self._refusal()
            if not self._presence.exclude_others():
                raise StoreBusy(
                    f"Cannot {what}: another process has {self.path.name} open.",
                    "Close the programs that use it, and try again.",
                )
            try:
                with self._translated():
                    yield
            finally:
                self._presence.admit_others()

    def add_checksums(self) -> None:
        """Rewrite a file from before pages had checksums. Raise `StoreBusy` if anybody else has it open.

        A connection that has not seen the new file's first page would write pages without checksums.
        """
        if self._key is not None or self.read_only or self.has_checksums:
            return
        with self.alone("add checksums"):
            connection = connect(self.path, None)
            try:
                if checksums.can_be_added(connection):
                    checksums.reserve(connection)
                    connection.execute("VACUUM")
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                connection.close()

    @property
    def has_checksums(self) -> bool:
        with self.reading() as connection:
            return checksums.are_compared(connection)

    @property
    def key(self) -> str | None:
        return self._key

    def use_key(self, key: str | None) -> None:
        """Use `key` from now on: the file has been rewritten with it."""
        self._key = key
        self._note_closed()
        self._note_open(plain=key is None)

    def _note_open(self, *, plain: bool) -> None:
        """Remember which file is open, here and for the other parts of this process."""
        self._identity = self._noted = identity_of(self.path)
        if self._noted is not None:
            open_files.add(self._noted, plain=plain)

    def _note_closed(self) -> None:
        if self._noted is not None:
            open_files.remove(self._noted)
            self._noted = None

    # connections

    def refuse_replaced(self) -> None:
        """Raise `StoreMissing` if the file at our path is not the one that was opened.

        What is written to a file that was deleted is lost, and a file that was put in its place belongs to others.
        """
        if self._identity is not None and identity_of(self.path) != self._identity:
            raise StoreMissing(
                f"{self.path} was deleted, moved or replaced while it was open. Nothing was changed.",
                "Restart the agent or program that uses it. If the file is gone, run `recollect backup restore`.",
            )

    def _connect(self) -> apsw.Connection:
        self.refuse_replaced()
        encrypted = self.encrypted
        if encrypted and self._key is None:
            raise WrongKey(f"{self.path.name} is encrypted, and no key was given.", "Set RECOLLECT_KEY.")
        if self._presence is None:
            return self._connect_to_read(self._key if encrypted else None)
        with contextlib.suppress(OSError):  # SQLite would make the file and its log readable by all
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        return self._try_connect(self._key if encrypted else None)

    def _try_connect(self, key: str | None) -> apsw.Connection:
        try:
            return connect(self.path, key)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            if not self.path.exists() or os.access(self.path.parent, os.W_OK):
                raise
            self.read_only = True
        return self._connect_to_read(key)

    def _connect_to_read(self, key: str | None) -> apsw.Connection:
        url = self.path.resolve().as_uri()
        try:
            return connect(f"{url}?mode=ro", key, self._patience)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            if not self.path.exists() or os.access(self.path.parent, os.W_OK):
                raise
            # There is no log beside it and none can be created, so nobody can be writing.
            return connect(f"{url}?mode=ro&immutable=1", key, self._patience)

    def _take(self) -> apsw.Connection:
        with self._lock:
            if self._closed:
                raise StoreError("The store is closed.", "Open an Engine and keep it open while you use it.")
            connection = self._idle.pop() if self._idle else self._connect()
            self._out += 1
        return connection

    def _give_back(self, connection: apsw.Connection) -> None:
        # One on which a query was not read to its end would go on to show what was there when that began.
        is_idle = connection.txn_state() == apsw.SQLITE_TXN_NONE
        with self._lock:
            self._out -= 1
            if not self._closed and is_idle:
                self._idle.append(connection)
                return
        connection.close()

    def _drop_connections(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._drop_connections()
            self._note_closed()
        if self._presence is not None:
            self._presence.leave()

    # work

    @property
    def in_transaction(self) -> bool:
        return getattr(self._thread, "connection", None) is not None

    @contextlib.contextmanager
    def fresh(self) -> Iterator[apsw.Connection]:
        """Open a connection that has read nothing yet, for checks.

        `PRAGMA integrity_check` compares the full text with what its connection has cached, and takes what other
        connections wrote since for damage.
        """
        with self._translated():
            connection = self._connect()
            try:
                yield connection
            finally:
                connection.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Return the connection of this thread's transaction, or borrow one from the pool."""
        current: apsw.Connection | None = getattr(self._thread, "connection", None)
        with self._translated():
            if current is not None:
                yield current
                return
            connection = self._take()
            try:
                yield connection
            finally:
                self._give_back(connection)

    @contextlib.contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """Open a write transaction, or join this thread's."""
        if self.in_transaction:
            with self.reading() as connection:
                yield connection
            return
        if self.read_only:
            raise self._refusal()
        self.refuse_replaced()
        # Threads queue here: SQLite would make them sleep and retry, and give up on who has no luck.
        with self._writer(), self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")  # a deferred one fails when two processes write
            self._thread.connection = connection
            try:
                self._refuse_migrated(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._thread.connection = None

    def _refusal(self) -> StoreUnwritable:
        if self._presence is None:
            return StoreUnwritable(
                f"{self.path.name} was opened to be read: nothing was changed.", "Open it with `open_store`."
            )
        return StoreUnwritable(
            f"{self.path.parent} is read-only: nothing was changed.",
            "Make it writable, or set RECOLLECT_HOME to a writable folder.",
        )

    def _refuse_migrated(self, connection: apsw.Connection) -> None:
        """Raise `StoreTooNew` if a newer Recollect has migrated the file since it was opened, such as after an upgrade."""
        version = int(connection.pragma("user_version"))
        if self.schema_version is not None and version > self.schema_version:
            raise StoreTooNew(
                f"A newer Recollect has migrated {self.path.name} (version {version}; this process knows"
                f" {self.schema_version}).",
                "Restart the agent or program that uses it. Nothing was changed.",
            )

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate SQLite's errors into `RecollectError`s."""
        try:
            yield
        except RecollectError:
            raise
        except UnicodeEncodeError as error:  # from a text to store or to search for
            raise ContentRefused(
                "A given text is not valid UTF-8.", "Save it as UTF-8 and try again."
            ) from error
        except (*UNREADABLE, apsw.SQLError) as error:
            if (what := self._damage()) is None:
                raise  # our own mistake, or a caller's
            raise self._damaged(what) from error
        except (apsw.BusyError, apsw.LockedError) as error:
            raise StoreBusy(
                f"Another process has held {self.path.name} for {self._patience:g} seconds.",
                "Try again, or run `recollect doctor`.",
            ) from error
        except apsw.FullError as error:
            raise StoreUnwritable(
                f"The disk with {self.path.parent} is full: nothing was changed.",
                "Free some space and try again.",
            ) from error
        except apsw.Error as error:
            if checksums.is_damage(error):
                raise self._damaged(checksums.describe(error)) from error
            if not isinstance(error, _UNUSABLE):
                raise
            raise unwritable(self.path.parent, error) from error

    def _damage(self) -> str | None:
        """Return what is damaged, after reading or writing has failed. Reads the whole file."""
        from recollect.store.sqlite.check import damage_in

        try:
            connection = self._connect()
        except apsw.Error:
            return None
        try:
            return damage_in(connection)
        except apsw.Error as error:
            return checksums.describe(error)
        finally:
            connection.close()

    def _damaged(self, what: str) -> StoreDamaged:
        self.suspected()
        return StoreDamaged(
            f"{self.path} is damaged: {what}.",
            "The next command checks it, and repairs it or restores the newest intact backup.",
        )


def connect(
    path: Path | str, key: str | None, patience: float = BUSY_SECONDS, *, checked: bool = True
) -> apsw.Connection:
    """Open the file and read from it, so that a wrong key or damage shows at once. Wait `patience` seconds for locks.

    With `checked`, the pages of a new, unencrypted file get checksums, and those of a file that has them are compared.
    """
    if key is not None or not checked:
        return _open(path, key, patience, None)
    connection = _open(path, key, patience, checksums.vfs())
    if checksums.are_compared(connection) or not checksums.are_needed(connection):
        return connection
    connection.close()
    if checksums.vfs() is None:
        raise StoreError(
            f"{path} has checksums, which this build of apsw-sqlite3mc cannot write. Nothing was changed.",
            "Install its wheel: pip install --force-reinstall --only-binary :all: apsw-sqlite3mc",
        )
    # The file was still empty when it was opened: what SQLite has read comes from the log, past the checksums.
    return _open(path, key, patience, checksums.vfs())


def _open(path: Path | str, key: str | None, patience: float, vfs: str | None) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=_OPEN, vfs=vfs)
    try:
        if key is not None:
            connection.pragma("key", f"raw:{key}")
        connection.set_busy_timeout(round(patience * 1000))
        connection.pragma("temp_store", "memory")  # no texts in temporary files
        if vfs is not None and connection.pragma("page_count") == 0:
            checksums.reserve(connection)
        _keep_log(connection, patience)
        connection.pragma("synchronous", "full")
        connection.pragma("foreign_keys", True)
        connection.pragma("secure_delete", True)
        connection.pragma("journal_size_limit", 16 * 1024 * 1024)
        connection.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018 - reads the file, or raises
    except apsw.Error:
        connection.close()
        raise
    return connection


def _keep_log(connection: apsw.Connection, patience: float) -> None:
    """Switch to write-ahead logging. SQLite does not wait for another process that switches at the same time, so we do."""
    deadline = time.monotonic() + patience
    while True:
        try:
            if connection.pragma("journal_mode") != "wal" and not connection.readonly("main"):
                connection.pragma("journal_mode", "wal")
            return
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.01)


def suspicion(path: Path) -> Path:
    """Return the marker file that exists while damage is suspected."""
    return Path(f"{path}.suspect")


def unwritable(folder: Path, error: Exception) -> StoreUnwritable:
    return StoreUnwritable(
        f"Cannot use {folder}: {error}. Nothing was changed.",
        "Check its permissions and free space, or set RECOLLECT_HOME to another folder.",
    )
