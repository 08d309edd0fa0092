"""What was done to memories by one act, row by row, so that it can be seen and undone."""

import base64
import contextlib
import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import apsw

import recollect.model as m
from recollect.errors import ChangeNotFound, Refused
from recollect.store.connection import Database

# What an act on memories may touch, parents first, each with the column that says which memory a row belongs to.
_TABLES = {
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
_COLUMNS = "id, user_id, project_id, at, actor, action, summary, finished_at, undone_at"
_KEPT = frozenset({"seq", "updated_at"})  # differ after every write: no sign that someone else was here
_WORN = _KEPT | {"access_count", "last_accessed_at", "confidence"}  # and by mere use

Values = dict[str, Any]
Key = tuple[str, tuple[Any, ...]]  # a table and the key of a row in it
Reindex = Callable[[apsw.Connection, Collection[int]], None]


@dataclass(frozen=True, slots=True)
class _Row:
    """One row as it was and as it became: the columns that differ. All of them for one that went."""

    table: str
    key: tuple[Any, ...]
    before: Values | None  # None = there was none
    after: Values | None  # None = there is none now

    @property
    def owner(self) -> int | None:
        """The number of the memory it belongs to, where it belongs to just one."""
        return self.key[0] if _TABLES[self.table] else None


class ChangeLog:
    """`reindex` brings the words of memories, by number, up to date with their rows."""

    def __init__(self, database: Database, reindex: Reindex) -> None:
        self._db = database
        self._reindex = reindex

    # keeping

    @contextlib.contextmanager
    def recorded(self, change: m.Change) -> Iterator[None]:
        """A transaction whose writes to memories and all that hangs on them are kept as the next part of `change`.

        The same change may be given again: a long act is many transactions, and `finish` ends it.
        """
        with self._db.writing() as db:
            session = apsw.Session(db, "main")
            try:
                for table in _TABLES:
                    session.attach(table)
                yield
                rows = _rows_in(db, session.changeset())
            finally:
                session.close()
            if rows:
                self._keep(db, change, rows)

    def _keep(self, db: apsw.Connection, change: m.Change, rows: Sequence[_Row]) -> None:
        places = ", ".join("?" * len(_COLUMNS.split(", ")))
        db.execute(f"INSERT OR IGNORE INTO changes ({_COLUMNS}) VALUES ({places})", _row_of(change))
        part = int(db.execute("SELECT count(*) FROM change_parts WHERE change = ?", (change.id,)).get)
        db.execute("INSERT INTO change_parts VALUES (?, ?, ?)", (change.id, part, _packed(rows)))

    def finish(self, change: m.Change) -> None:
        """It has come to its end, with the summary and time `change` has now. One that touched nothing left no trace."""
        with self._db.writing() as db:
            db.execute(
                "UPDATE changes SET summary = ?, finished_at = ? WHERE id = ?",
                (change.summary, _time(change.finished_at), change.id),
            )

    def expire(self, before: datetime) -> int:
        """Forget what the rows were in changes older than that, which can then no longer be undone; how many."""
        old = "(SELECT id FROM changes WHERE at < ?)"
        with self._db.writing() as db:
            query = f"SELECT count(DISTINCT change) FROM change_parts WHERE change IN {old}"
            count = int(db.execute(query, (m.to_text(before),)).get)
            db.execute(f"DELETE FROM change_parts WHERE change IN {old}", (m.to_text(before),))
        return count

    # looking

    def newest(self, user_id: str, project_id: str | None, limit: int) -> list[m.Change]:
        """Newest first: those of the project and those of none."""
        query = (
            f"SELECT {_COLUMNS} FROM changes WHERE user_id = ? AND (project_id IS NULL OR project_id IS ?)"
            " ORDER BY id DESC LIMIT ?"
        )
        with self._db.reading() as db:
            return [_change_from(row) for row in db.execute(query, (user_id, project_id, limit))]

    def get(self, user_id: str, name: str) -> m.Change:
        """By id, its beginning or its end. Raises `ChangeNotFound`."""
        wanted = name.strip().lstrip("#").lower()
        if not wanted.isalnum():
            raise ChangeNotFound(name)
        query = f"SELECT {_COLUMNS} FROM changes WHERE user_id = ? AND (id GLOB ? OR id GLOB ?) LIMIT 2"
        with self._db.reading() as db:
            found = db.execute(query, (user_id, f"{wanted}*", f"*{wanted}")).fetchall()
        if len(found) != 1:
            raise ChangeNotFound(name)
        return _change_from(found[0])

    def touched(self, change_id: str) -> list[str]:
        """Ids of the memories it touched that are still there, oldest first."""
        with self._db.reading() as db:
            return _names(db, _owners(self._all(db, change_id)))

    # undoing

    def undo(self, change_id: str, at: datetime) -> m.Undone:
        """Put every row back as it was, save those of memories that have changed since.

        The caller has the transaction. Raises `Refused` where nothing could be put back or later memories depend on it.
        """
        with self._db.writing() as db:
            rows = self._all(db, change_id)
            if not rows:
                raise Refused(
                    "What was there before this change is no longer kept.",
                    "Changes can be undone for 30 days; a backup may reach further back.",
                )
            _refuse_dependence(db, rows)
            changed = [row for row in rows if not _still(db, row)]
            left = _owners(changed)
            chosen = [row for row in rows if row not in changed and row.owner not in left]
            if not chosen:
                raise Refused(
                    "Everything this change touched has changed since.",
                    "`recollect changes` shows the later ones; undo those first.",
                )
            names = _names(db, left)
            back = _names(db, _owners(chosen))
            self._restore(db, chosen)
            db.execute("UPDATE changes SET undone_at = ? WHERE id = ?", (m.to_text(at), change_id))
            back = sorted({*back, *_names(db, _owners(chosen))})
        return m.Undone(change_id, tuple(back), tuple(names))

    def _restore(self, db: apsw.Connection, rows: Sequence[_Row]) -> None:
        order = list(_TABLES)
        db.execute("PRAGMA defer_foreign_keys = ON")  # parents and children in whatever order
        for row in sorted(rows, key=lambda row: order.index(row.table)):
            _put_back(db, row)
        nums = _owners(rows)
        gone = any(row.before is None or row.table == "vectors" for row in rows if row.owner is not None)
        seq = int(
            db.execute("UPDATE change SET seq = seq + 1, purge = purge + ? RETURNING seq", (int(gone),)).get
        )
        for num in nums:
            db.execute("UPDATE memories SET seq = ? WHERE num = ?", (seq, num))
        self._reindex(db, nums)

    def _all(self, db: apsw.Connection, change_id: str) -> list[_Row]:
        """Every row once, from before the first part to after the last."""
        query = "SELECT rows FROM change_parts WHERE change = ? ORDER BY part"
        rows: dict[Key, _Row] = {}
        for (packed,) in db.execute(query, (change_id,)):
            for row in _unpacked(packed):
                earlier = rows.get((row.table, row.key))
                rows[row.table, row.key] = row if earlier is None else _joined(earlier, row)
        return [row for row in rows.values() if not (row.before is None and row.after is None)]


def _rows_in(db: apsw.Connection, changeset: bytes) -> list[_Row]:
    """A changeset of SQLite as rows, without the columns nobody asks for."""
    names = {table: _column_names(db, table) for table in _TABLES}
    found = [_row_from(change, names[change.name]) for change in apsw.Changeset.iter(changeset)]
    new = {row.key[0] for row in found if row.table == "memories" and row.before is None}
    return [
        row
        for row in found  # what hangs on a new memory goes with it; and what only bookkeeping touched has not changed
        if (row.table == "memories" or row.owner not in new)
        and (row.before is None or row.before != row.after)
    ]


def _row_from(change: apsw.TableChange, names: Sequence[str]) -> _Row:
    old, new = change.old or (), change.new or ()
    values = [(name, old[at] if old else None, new[at] if new else None) for at, name in enumerate(names)]
    source = old or new
    key = tuple(source[at] for at in sorted(change.pk_columns))
    if change.op == "INSERT":
        return _Row(change.name, key, None, {"": _digest({name: value for name, _, value in values})})
    if change.op == "DELETE":
        return _Row(change.name, key, {name: value for name, value, _ in values}, None)
    differing = [
        (name, before, after)
        for at, (name, before, after) in enumerate(values)
        if after is not apsw.no_change and at not in change.pk_columns and name != "seq"
    ]
    return _Row(
        change.name,
        key,
        {name: before for name, before, _ in differing},
        {name: after for name, _, after in differing},
    )


def _joined(first: _Row, second: _Row) -> _Row:
    """What two parts did to one row, as one."""
    before = first.before if first.before is None or second.before is None else second.before | first.before
    if second.after is None:
        after = None
    elif first.before is None:
        after = {}  # made and written again: nobody knows any more what it was at the end
    elif first.after is None or second.before is None:
        after = second.after  # went and came back
    else:
        after = first.after | second.after
    return _Row(first.table, first.key, before, after)


def _still(db: apsw.Connection, row: _Row) -> bool:
    """Whether the row is as the change left it, use and bookkeeping aside."""
    current = _current(db, row)
    if row.after is None:
        return current is None
    if current is None:
        return row.before is None  # made by it and gone since: that much is undone already
    if row.before is None:
        return row.after.get("") in (None, _digest(current))
    return all(current[name] == value for name, value in row.after.items() if name not in _KEPT and name)


def _put_back(db: apsw.Connection, row: _Row) -> None:
    where = " AND ".join(f"{name} = ?" for name in _key_names(db, row.table))
    if row.before is None:
        if row.table == "memories":
            db.execute("DELETE FROM memory_words WHERE rowid = ?", row.key)
        db.execute(f"DELETE FROM {row.table} WHERE {where}", row.key)
    elif row.after is None or _current(db, row) is None:
        names = ", ".join(row.before)
        places = ", ".join("?" * len(row.before))
        db.execute(f"INSERT INTO {row.table} ({names}) VALUES ({places})", tuple(row.before.values()))
    elif row.before:
        sets = ", ".join(f"{name} = ?" for name in row.before)
        db.execute(f"UPDATE {row.table} SET {sets} WHERE {where}", (*row.before.values(), *row.key))


def _refuse_dependence(db: apsw.Connection, rows: Iterable[_Row]) -> None:
    """What the change brought can be taken away only while nothing that came later leans on it."""
    made = {row.key[0] for row in rows if row.table == "memories" and row.before is None}
    links = {row.key for row in rows if row.table == "links"}
    for name in _names(db, made):
        query = (
            "SELECT source, target, relation FROM links WHERE source = ?1 OR target = ?1"
            " UNION SELECT superseded_by, id, 'supersedes' FROM memories WHERE superseded_by = ?1"
        )
        for source, target, relation in db.execute(query, (name,)):
            other = target if source == name else source
            num = db.execute("SELECT num FROM memories WHERE id = ?", (other,)).get
            if (source, target, relation) not in links and num not in made:
                raise Refused(
                    f"Memory {other} leans on {name}, which this change brought: {relation.replace('_', ' ')}.",
                    f"Look at both with `recollect links {name}`; `recollect forget` takes out single ones.",
                )


def _current(db: apsw.Connection, row: _Row) -> Values | None:
    where = " AND ".join(f"{name} = ?" for name in _key_names(db, row.table))
    found = db.execute(f"SELECT * FROM {row.table} WHERE {where}", row.key).fetchone()
    return dict(zip(_column_names(db, row.table), found, strict=True)) if found else None


def _column_names(db: apsw.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})")]


def _key_names(db: apsw.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})") if row[5]]


def _owners(rows: Iterable[_Row]) -> set[int]:
    return {row.owner for row in rows if row.owner is not None}


def _names(db: apsw.Connection, nums: Iterable[int | None]) -> list[str]:
    query = "SELECT id FROM memories WHERE num IN (SELECT value FROM json_each(?)) ORDER BY id"
    return [str(row[0]) for row in db.execute(query, (json.dumps(list(nums)),))]


def _digest(values: Values) -> str:
    kept = [(name, value) for name, value in values.items() if name not in _WORN]
    return hashlib.blake2b(repr(kept).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _packed(rows: Iterable[_Row]) -> bytes:
    listed = [(row.table, row.key, row.before, row.after) for row in rows]
    return zlib.compress(json.dumps(listed, default=_as_text, separators=(",", ":")).encode(), 6)


def _unpacked(packed: bytes) -> Iterator[_Row]:
    for table, key, before, after in json.loads(zlib.decompress(packed)):
        yield _Row(table, tuple(key), _with_bytes(before), _with_bytes(after))


def _as_text(value: bytes) -> Values:
    return {"bytes": base64.b64encode(value).decode()}


def _with_bytes(values: Values | None) -> Values | None:
    if values is None:
        return None
    return {
        name: base64.b64decode(value["bytes"]) if isinstance(value, dict) else value
        for name, value in values.items()
    }


def _row_of(change: m.Change) -> tuple[Any, ...]:
    return (
        change.id,
        change.user_id,
        change.project_id,
        m.to_text(change.at),
        change.actor,
        change.action,
        change.summary,
        _time(change.finished_at),
        _time(change.undone_at),
    )


def _change_from(row: Sequence[Any]) -> m.Change:
    change_id, user_id, project_id, at, actor, action, summary, finished, undone = row
    return m.Change(
        change_id,
        user_id,
        project_id,
        m.from_text(at),
        actor,
        action,
        summary,
        m.from_text(finished) if finished else None,
        m.from_text(undone) if undone else None,
    )


def _time(when: datetime | None) -> str | None:
    return m.to_text(when) if when else None
