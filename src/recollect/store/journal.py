"""The rows that a transaction writes while a change is being recorded, as they were before.

Every write method calls one of these, in the same transaction as its SQL. Outside a recorded change they cost nothing.

- `before_put`: before the row with a known key is inserted, changed, or deleted where nothing cascades
- `before_write`: the same for all rows that match a condition and exist
- `before_delete`: before all rows that match a condition are deleted, with what the database deletes along (`_CASCADES`)
- `created`: after a row was inserted under a key that the database chose

Only tables of `row_snapshots` are recorded, and notes about others are ignored: a new table goes there, and its foreign
keys that cascade into `_CASCADES`.
"""

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from recollect.store.row_snapshots import (
    MEMORY_PARTS,
    RowSnapshot,
    Values,
    snapshot,
    without_parts_of_new_memories,
)

# What the database deletes together with a row: table, its column, and the column of the row that it refers to.
_CASCADES = {
    "memories": (
        ("memory_tags", "num", "num"),
        ("vectors", "num", "num"),
        ("links", "source", "id"),
        ("links", "target", "id"),
        ("cluster_members", "memory", "id"),
    ),
    "clusters": (("cluster_members", "cluster", "id"),),
    "sessions": (("findings", "session", "id"), ("session_events", "session", "id")),
}


class SingleRows(Protocol):
    """Single rows of the tables that undo knows, as they are now, with their columns by name."""

    def get(self, table: str, key: Sequence[Any]) -> Values | None:
        """Return the row, or None if it does not exist."""

    def matching(
        self, table: str, where: str, params: Sequence[Any]
    ) -> Iterator[tuple[tuple[Any, ...], Values]]:
        """Yield key and values of the rows that match."""


class Journal:
    """Records per thread: a transaction belongs to one thread."""

    def __init__(self) -> None:
        self._thread = threading.local()

    @property
    def is_recording(self) -> bool:
        return self._current is not None

    @property
    def _current(self) -> "_Recording | None":
        return getattr(self._thread, "recording", None)

    @contextlib.contextmanager
    def recording(self, rows: "SingleRows", tables: Mapping[str, Any]) -> Iterator["_Recording"]:
        """Record the writes of this thread to `tables` until the block ends."""
        self._thread.recording = recording = _Recording(rows, frozenset(tables))
        try:
            yield recording
        finally:
            self._thread.recording = None

    def before_write(self, table: str, where: str, params: Sequence[Any] = ()) -> None:
        """Note the rows that match `where`, which are about to be updated or replaced."""
        if (recording := self._current) is not None:
            recording.note_matching(table, where, params)

    def before_delete(self, table: str, where: str, params: Sequence[Any] = ()) -> None:
        """Note the rows that match `where`, and those that are deleted together with them."""
        if (recording := self._current) is None:
            return
        for child, column, parent_column in _CASCADES.get(table, ()):
            parents = f"(SELECT {parent_column} FROM {table} WHERE {where})"
            recording.note_matching(child, f"{column} IN {parents}", params)
        recording.note_matching(table, where, params)

    def before_put(self, table: str, *key: Any) -> None:
        """Note the row with this key, which is about to be written, whether it exists or not."""
        if (recording := self._current) is not None:
            recording.note(table, key)

    def created(self, table: str, *key: Any) -> None:
        """Note a row that has just been inserted under a new key."""
        if (recording := self._current) is not None:
            recording.note_created(table, key)


class _Recording:
    def __init__(self, rows: "SingleRows", tables: frozenset[str]) -> None:
        self._rows = rows
        self._tables = tables
        self._before: dict[tuple[str, tuple[Any, ...]], Values | None] = {}
        self._new_memories: set[int] = set()

    def note(self, table: str, key: tuple[Any, ...]) -> None:
        if table not in self._tables or (table, key) in self._before:
            return
        if table in MEMORY_PARTS and key[0] in self._new_memories:
            return  # deleted with the memory
        self._before[table, key] = self._rows.get(table, key)

    def note_created(self, table: str, key: tuple[Any, ...]) -> None:
        if table not in self._tables:
            return
        before = self._before.setdefault((table, key), None)
        if table == "memories" and before is None:
            self._new_memories.add(key[0])

    def note_matching(self, table: str, where: str, params: Sequence[Any]) -> None:
        if table in self._tables:
            for key, values in self._rows.matching(table, where, params):
                self._before.setdefault((table, key), values)

    def snapshots(self) -> list[RowSnapshot]:
        """Return every noted row that has changed, in the order they were first written."""
        rows = (
            snapshot(table, key, before, self._rows.get(table, key))
            for (table, key), before in self._before.items()
        )
        return without_parts_of_new_memories(row for row in rows if row is not None)
