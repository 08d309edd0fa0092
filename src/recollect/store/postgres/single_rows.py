"""Single rows of the tables that undo knows, in PostgreSQL."""

from collections.abc import Iterator, Sequence
from typing import Any

from recollect.store.postgres.connection import Connection
from recollect.store.row_snapshots import ALL_TABLES, Values


class Rows:
    """Implements `SingleRows`. The tenant is left out: it is the transaction's."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def get(self, table: str, key: Sequence[Any]) -> Values | None:
        return next(self._select(table, key_condition(table), key), None)

    def matching(
        self, table: str, where: str, params: Sequence[Any]
    ) -> Iterator[tuple[tuple[Any, ...], Values]]:
        for values in list(self._select(table, where, params)):
            yield tuple(values[name] for name in ALL_TABLES[table]), values

    def _select(self, table: str, where: str, params: Sequence[Any]) -> Iterator[Values]:
        cursor = self._db.execute(f"SELECT * FROM {table} WHERE {where}", params)
        names = [column.name for column in cursor.description or ()]
        for row in cursor.fetchall():
            values: Values = dict(zip(names, row, strict=True))
            del values["tenant"]
            yield values


def key_condition(table: str) -> str:
    """Return the SQL condition for one row by its key."""
    return " AND ".join(f"{name} = %s" for name in ALL_TABLES[table])
