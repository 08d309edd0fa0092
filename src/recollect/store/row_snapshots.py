"""Rows as they were and as they became: read off SQLite's changesets, packed, joined, put back."""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import apsw

# What an act on memories may touch, parents first, each with the column that says which memory a row belongs to.
OF_MEMORIES = {
    "memories": "num",
    "tags": None,
    "memory_tags": "num",
    "vectors": "num",
    "links": None,
    "clusters": None,
    "cluster_members": None,
    "reviews": None,
    "findings": None,
}
# What else hangs on a project, for acts on all of it.
_OF_PROJECTS = {"sessions": None, "session_events": None, "messages": None, "gaps": None, "settings": None}
EVERY = _OF_PROJECTS | OF_MEMORIES
_USE = frozenset({"access_count", "last_accessed_at", "confidence"})  # differ by mere use
_WORN = _USE | {
    "seq",
    "updated_at",
    "deleted_at",
}  # and after every write: no sign that someone else was here


Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it was and as it became: the columns that differ. All of them for one that went."""

    table: str
    key: tuple[Any, ...]
    before: Values | None  # None = there was none
    after: Values | None  # None = there is none now

    @property
    def owner(self) -> int | None:
        """The number of the memory it belongs to, where it belongs to just one."""
        return self.key[0] if EVERY[self.table] else None


def rows_in(db: apsw.Connection, changeset: bytes, tables: Iterable[str]) -> list[Row]:
    """A changeset of SQLite as rows, without what hangs on a new memory, which goes with it, and mere bookkeeping."""
    names = {table: column_names(db, table) for table in tables}
    new = {
        change.new[0]
        for change in apsw.Changeset.iter(changeset)
        if change.name == "memories" and change.op == "INSERT" and change.new
    }
    rows = []
    for change in apsw.Changeset.iter(changeset):
        if (
            EVERY[change.name]
            and change.name != "memories"
            and (change.old or change.new or (None,))[0] in new
        ):
            continue
        row = _row_from(change, names[change.name])
        if row.before is None or row.before != row.after:
            rows.append(row)
    return rows


def _row_from(change: apsw.TableChange, names: Sequence[str]) -> Row:
    old: Sequence[Any] = change.old or ()
    new: Sequence[Any] = change.new or ()
    values = [(name, old[at] if old else None, new[at] if new else None) for at, name in enumerate(names)]
    source = old or new
    key = tuple(source[at] for at in sorted(change.pk_columns))
    if change.op == "INSERT":
        return Row(change.name, key, None, {"": _digest({name: value for name, _, value in values})})
    if change.op == "DELETE":
        return Row(change.name, key, {name: value for name, value, _ in values}, None)
    differing = [
        (name, before, after)
        for at, (name, before, after) in enumerate(values)
        if after is not apsw.no_change and at not in change.pk_columns and name != "seq"
    ]
    return Row(
        change.name,
        key,
        {name: before for name, before, _ in differing},
        {name: after for name, _, after in differing},
    )


def joined(first: Row, second: Row) -> Row:
    """What two parts did to one row, as one."""
    before = first.before if first.before is None or second.before is None else second.before | first.before
    if second.after is None:
        after = None
    elif first.before is None or "" in (first.after or ()):
        after = {}  # made and written again: nobody knows any more what it was at the end
    elif first.after is None or second.before is None:
        after = second.after  # went and came back
    else:
        after = first.after | second.after
    return Row(first.table, first.key, before, after)


class Tables:
    """The tables of one connection, and single rows of them."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    @cached_property
    def _columns(self) -> dict[str, list[str]]:
        return {table: column_names(self._db, table) for table in EVERY}

    @cached_property
    def _where(self) -> dict[str, str]:
        keys = {
            table: [str(row[1]) for row in self._db.execute(f"PRAGMA table_info({table})") if row[5]]
            for table in EVERY
        }
        return {table: " AND ".join(f"{name} = ?" for name in names) for table, names in keys.items()}

    def current(self, row: Row) -> Values | None:
        """The row as it is now; None where there is none."""
        found = self._db.execute(
            f"SELECT * FROM {row.table} WHERE {self._where[row.table]}", row.key
        ).fetchone()
        return dict(zip(self._columns[row.table], found, strict=True)) if found else None

    def still(self, row: Row) -> bool:
        """Whether the row is as the change left it, use and bookkeeping aside."""
        current = self.current(row)
        if row.after is None:
            return current is None
        if current is None:
            return row.before is None  # made by it and gone since: that much is undone already
        if row.before is None or "" in row.after:
            return row.after.get("") in (None, _digest(current))
        return all(current[name] == value for name, value in row.after.items() if name not in _WORN)

    def put_back(self, row: Row) -> None:
        """Uses that were counted since stay counted."""
        where = self._where[row.table]
        if row.before is None:
            if row.table == "memories":
                self._db.execute("DELETE FROM memory_words WHERE rowid = ?", row.key)
            self._db.execute(f"DELETE FROM {row.table} WHERE {where}", row.key)
        elif row.after is None or (current := self.current(row)) is None:
            names = ", ".join(row.before)
            places = ", ".join("?" * len(row.before))
            # What has the same meaning may have come since under another key: a question asked again, say.
            or_not = "" if row.table == "memories" else "OR IGNORE "
            sql = f"INSERT {or_not}INTO {row.table} ({names}) VALUES ({places})"
            self._db.execute(sql, tuple(row.before.values()))
        else:
            used = {name for name in _USE & row.after.keys() if current[name] != row.after[name]}
            values = {name: value for name, value in row.before.items() if name not in used}
            if values:
                sets = ", ".join(f"{name} = ?" for name in values)
                self._db.execute(f"UPDATE {row.table} SET {sets} WHERE {where}", (*values.values(), *row.key))


def column_names(db: apsw.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})")]


def _digest(values: Values) -> str:
    kept = [(name, value) for name, value in values.items() if name not in _WORN and value is not None]
    return hashlib.blake2b(repr(kept).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def packed(rows: Iterable[Row]) -> bytes:
    listed = [(row.table, row.key, row.before, row.after) for row in rows]
    return zlib.compress(json.dumps(listed, default=_as_text, separators=(",", ":")).encode(), 6)


def unpacked(packed: bytes) -> Iterator[Row]:
    for table, key, before, after in json.loads(zlib.decompress(packed)):
        yield Row(table, tuple(key), _with_bytes(before), _with_bytes(after))


def _as_text(value: bytes) -> Values:
    return {"bytes": base64.b64encode(value).decode()}


def _with_bytes(values: Values | None) -> Values | None:
    if values is None:
        return None
    return {
        name: base64.b64decode(value["bytes"]) if isinstance(value, dict) else value
        for name, value in values.items()
    }
