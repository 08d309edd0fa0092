"""Single rows of the tables that undo knows, in SQLite."""

from collections.abc import Iterator, Sequence
from typing import Any

import apsw

from recollect.store.row_snapshots import ALL_TABLES, Values


class Rows:
    """Implements `SingleRows`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._columns: dict[str, list[str]] = {}

    def get(self, table: str, key: Sequence[Any]) -> Values | None:
        """Return the row, or None if it does not exist."""
        row = self._db.execute(f"SELECT * FROM {table} WHERE {key_condition(table)}", key).fetchone()
        return dict(zip(self._names(table), row, strict=True)) if row else None

    def matching(
        self, table: str, where: str, params: Sequence[Any]
    ) -> Iterator[tuple[tuple[Any, ...], Values]]:
        """Yield key and values of the rows that match."""
        names = self._names(table)
        for row in self._db.execute(f"SELECT * FROM {table} WHERE {where}", params).fetchall():
            values: Values = dict(zip(names, row, strict=True))
            yield tuple(values[name] for name in ALL_TABLES[table]), values

    def _names(self, table: str) -> list[str]:
        if table not in self._columns:
            self._columns[table] = [str(row[1]) for row in self._db.execute(f"PRAGMA table_info({table})")]
        return self._columns[table]


def key_condition(table: str) -> str:
    """Return the SQL condition for one row by its key."""
    return " AND ".join(f"{name} = ?" for name in ALL_TABLES[table])
