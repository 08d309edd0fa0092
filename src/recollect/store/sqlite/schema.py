"""The schema: its migrations, its version, and whether a file has all of it."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import apsw

_MIGRATIONS = Path(__file__).parent / "migrations"
Columns = frozenset[tuple[str, str]]  # table and column


def newest_version() -> int:
    return len(_scripts())


def version_of(db: apsw.Connection) -> int:
    return int(db.pragma("user_version"))


def migrate(db: apsw.Connection, user_id: str) -> None:
    """Bring the file to the newest version, one transaction per step. Other processes may do the same."""
    if version_of(db) == newest_version():
        return
    db.create_scalar_function("local_user", lambda *_: user_id, 0, deterministic=True)
    for number, script in enumerate(_scripts(), start=1):
        db.execute("BEGIN IMMEDIATE")
        try:
            if version_of(db) < number:  # another process may have done this step
                db.execute(script.read_text(encoding="utf-8"))
                db.pragma("user_version", number)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def tables(db: apsw.Connection) -> Iterator[tuple[str, list[str]]]:
    """Return the ordinary tables with their columns: those of the full text belong to SQLite."""
    for row in db.execute("PRAGMA main.table_list").fetchall():
        table, kind = str(row[1]), row[2]
        if kind == "table" and not table.startswith("sqlite_"):
            yield table, [str(column[1]) for column in db.execute(f'PRAGMA table_info("{table}")')]


def is_complete(db: apsw.Connection) -> bool:
    """Return whether a store of the newest version has all tables and columns; older ones are not compared."""
    return version_of(db) != newest_version() or _newest_columns() <= _columns(db)


def _columns(db: apsw.Connection) -> Columns:
    return frozenset((table, column) for table, columns in tables(db) for column in columns)


@cache
def _newest_columns() -> Columns:
    db = apsw.Connection(":memory:")
    try:
        migrate(db, "")
        return _columns(db)
    finally:
        db.close()


def _scripts() -> list[Path]:
    return sorted(_MIGRATIONS.glob("[0-9]*.sql"))
