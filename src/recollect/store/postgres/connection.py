"""Connections to a team's database, and the transactions of one identity on them.

`Pool` holds the connections of a server process. `Database` is what one caller has of it: every transaction begins by
setting tenant, user, role and the token's projects, which the policies compare; they end with the transaction. A write
first takes the tenant's lock, so that nobody else writes in between, as in SQLite; other tenants are not held up.
"""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
from psycopg import errors, sql

from recollect.errors import (
    ContentRefused,
    OutOfScope,
    RecollectError,
    Refused,
    StoreBusy,
    StoreError,
    StoreUnwritable,
)
from recollect.model.team import Identity
from recollect.store.journal import Journal
from recollect.store.postgres.schema import SCHEMA

CONNECTIONS = 10  # of one process: PostgreSQL works best with few per core
PATIENCE = 30.0  # seconds that a call waits for a connection or a lock
CHANNEL = "recollect"  # of notifications
# The policies compare settings that are not known when a statement is planned, so a plan made for one call is no better
# than one for all; planning a query over eight partitions takes longer than running it.
_PLANS = "-c plan_cache_mode=force_generic_plan"
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"  # of a tenant, until the transaction ends
_NOTIFY = "SELECT pg_notify(%s, %s || ' ' || coalesce((SELECT seq FROM change), 0) || ' ' || %s || ' ' || %s)"
PEOPLE = "people"  # instead of a project in a notification: somebody has left, or a token was revoked
Row = tuple[Any, ...]
Connection = psycopg.Connection[Row]


class Pool:
    """Connections of one process to one database, as the server's role."""

    def __init__(self, url: str, connections: int = CONNECTIONS) -> None:
        self.url = url
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._free = threading.Semaphore(connections)
        self._thread = threading.local()
        self._closed = False

    def connect(self) -> Connection:
        """Open a connection of its own, not counted in the pool."""
        with translated():
            return psycopg.connect(
                self.url,
                autocommit=True,
                options=f"-c search_path={SCHEMA} -c lock_timeout={int(PATIENCE * 1000)} {_PLANS}",
                connect_timeout=10,
                prepare_threshold=1,
            )

    @contextlib.contextmanager
    def transaction(self, begin: sql.Composed) -> Iterator[Connection]:
        """Run a transaction that starts with the statements `begin`. A connection that has failed is not used again.

        A thread that has one already gets another at once: if it waited, all might wait for each other.
        """
        if getattr(self._thread, "is_inside", False):
            with self._transaction(begin) as connection:
                yield connection
            return
        if not self._free.acquire(timeout=PATIENCE):
            raise StoreBusy("All connections to the database are in use.", "Try again in a moment.")
        self._thread.is_inside = True
        try:
            with self._transaction(begin) as connection:
                yield connection
        finally:
            self._thread.is_inside = False
            self._free.release()

    @contextlib.contextmanager
    def _transaction(self, begin: sql.Composed) -> Iterator[Connection]:
        connection = self._begun(begin)
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            _roll_back(connection)
            raise
        finally:
            self._give_back(connection)

    def _begun(self, begin: sql.Composed) -> Connection:
        """Return a connection in a new transaction. Idle ones that the database has closed meanwhile are dropped."""
        while (connection := self._idle_connection()) is not None:
            try:
                connection.execute(begin, prepare=False)
                return connection
            except psycopg.OperationalError:
                if not connection.broken:
                    raise
                connection.close()
        connection = self.connect()
        connection.execute(begin, prepare=False)
        return connection

    def _idle_connection(self) -> Connection | None:
        with self._lock:
            if self._closed:
                raise StoreError("The store is closed.", "Open it again.")
            return self._idle.pop() if self._idle else None

    def _give_back(self, connection: Connection) -> None:
        idle = psycopg.pq.TransactionStatus.IDLE
        with self._lock:
            if not self._closed and not connection.closed and connection.info.transaction_status == idle:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


class Database:
    """The transactions of one identity. A thread keeps its connection during a transaction."""

    def __init__(self, pool: Pool, identity: Identity) -> None:
        self.identity = identity
        self.journal = Journal()
        self._pool = pool
        self._begin = sql.SQL("BEGIN; ") + _identified(identity)
        self._begin_to_read = sql.SQL("BEGIN READ ONLY; ") + _identified(identity)
        self._thread = threading.local()

    @property
    def in_transaction(self) -> bool:
        return self._current is not None

    @property
    def _current(self) -> Connection | None:
        return getattr(self._thread, "connection", None)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Return the connection of this thread's transaction, or open one to read."""
        with translated():
            if (current := self._current) is not None:
                yield current
                return
            together: contextlib.ExitStack | None = getattr(self._thread, "together", None)
            if together is None:
                with self._pool.transaction(self._begin_to_read) as connection:
                    yield connection
                return
            if self._thread.shared is None:
                self._thread.shared = together.enter_context(self._pool.transaction(self._begin_to_read))
            yield self._thread.shared

    @contextlib.contextmanager
    def reading_together(self) -> Iterator[None]:
        """Let all reads of this thread in the block share one transaction: each alone takes two round trips more.

        A write in the block ends that transaction before it begins its own, and later reads open another.
        """
        if self.in_transaction or getattr(self._thread, "together", None) is not None:
            yield
            return
        with translated(), contextlib.ExitStack() as together:
            self._thread.together, self._thread.shared, self._thread.settings = together, None, None
            try:
                yield
            finally:
                self._thread.together = self._thread.shared = None

    def settings(self, user: str) -> dict[tuple[str, str], str] | None:
        """Return all settings of the user by project and name; None outside a block of reads. The block reads them once."""
        if self.in_transaction or getattr(self._thread, "together", None) is None:
            return None
        if self._thread.settings is None:
            query = "SELECT project_id, name, value FROM settings WHERE user_id = %s"
            with self.reading() as db:
                rows = db.execute(query, (user,)).fetchall()
            self._thread.settings = {(project, name): value for project, name, value in rows}
        found: dict[tuple[str, str], str] = self._thread.settings
        return found

    def _end_reading(self) -> None:
        self._thread.settings = None
        if getattr(self._thread, "shared", None) is not None:
            self._thread.together.close()
            self._thread.shared = None

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a write transaction with the tenant's lock, or join this thread's."""
        with translated():
            if (current := self._current) is not None:
                yield current
                return
            self._end_reading()
            with self._pool.transaction(self._begin) as connection:
                connection.execute(_LOCK, (self.identity.tenant,))
                self._thread.connection = connection
                self._thread.notices = set()
                try:
                    yield connection
                    for user, project in sorted(self._thread.notices):
                        connection.execute(_NOTIFY, (CHANNEL, self.identity.tenant, user, project))
                finally:
                    self._thread.connection = None

    def notify(self, project_id: str | None, only: str = "") -> None:
        """Tell listeners, when the transaction is committed, that something in the project has changed, or `PEOPLE`.

        `only` names the one person who is told, if nobody else may see it.
        """
        self._thread.notices.add((only, project_id or ""))


def _identified(identity: Identity) -> sql.Composed:
    """Return the statement that sets who acts until the transaction ends."""
    projects = "" if identity.projects is None else _array(sorted(identity.projects))
    values = {
        "tenant": identity.tenant,
        "user": identity.user,
        "role": str(identity.role),
        "projects": projects,
        "secret": "",
    }
    return settings(values)


def by_secret(secret_hash: str) -> sql.Composed:
    """Return the statements that begin a transaction in which only the row with this hash is seen."""
    values = {"tenant": "", "user": "", "role": "", "projects": "", "secret": secret_hash}
    return sql.SQL("BEGIN READ ONLY; ") + settings(values)


def settings(values: dict[str, str]) -> sql.Composed:
    """Return the statement that sets `recollect.NAME` to these values until the transaction ends."""
    parts = [
        sql.SQL("set_config({}, {}, true)").format(sql.Literal(f"recollect.{name}"), sql.Literal(value))
        for name, value in values.items()
    ]
    return sql.SQL("SELECT ") + sql.SQL(", ").join(parts)


def _array(values: Sequence[str]) -> str:
    quoted = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return "{" + ",".join(f'"{value}"' for value in quoted) + "}"


def _roll_back(connection: Connection) -> None:
    with contextlib.suppress(psycopg.Error):
        if not connection.closed:
            connection.execute("ROLLBACK")


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Raise the database's errors as ours, without what they quote."""
    try:
        yield
    except RecollectError:
        raise
    except errors.InsufficientPrivilege as error:
        raise OutOfScope(
            "You may not do this: it is not yours, or your role does not allow it.",
            "Ask an admin of your team.",
        ) from error
    except (
        errors.UniqueViolation
    ) as error:  # of a row that the caller may not see, else it would have been found
        raise Refused("Something with this id is there already.", "Use another id.") from error
    except (errors.LockNotAvailable, errors.QueryCanceled, errors.DeadlockDetected) as error:
        raise StoreBusy(
            "The database is busy: somebody else is writing.", "Try again in a moment."
        ) from error
    except (errors.DiskFull, errors.ReadOnlySqlTransaction) as error:
        raise StoreUnwritable(
            "The database cannot be written to: nothing was changed.", "Ask whoever runs the team server."
        ) from error
    except (UnicodeEncodeError, errors.UntranslatableCharacter, errors.CharacterNotInRepertoire) as error:
        raise ContentRefused("The text is not valid UTF-8.", "Remove the invalid characters.") from error
    except psycopg.DataError as error:
        if "NUL" in str(error):
            raise ContentRefused("The text holds a NUL character.", "Remove it.") from error
        raise
    except psycopg.OperationalError as error:
        raise StoreError(
            "The database does not answer: nothing is certain to have been changed.",
            "Try again in a moment. Repeat a write under the same key.",
        ) from error


def number(db: Connection, query: str, params: Sequence[Any] = ()) -> int:
    """Return the one number that the query gives."""
    row = db.execute(query, params).fetchone()
    assert row is not None
    return int(row[0])
