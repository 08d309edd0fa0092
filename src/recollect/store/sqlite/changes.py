"""What was done to memories by one act, row by row, so that it can be seen and undone."""

import contextlib
import json
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import apsw

import recollect.model as m
from recollect.errors import ChangeNotFound, Refused
from recollect.store.row_snapshots import EVERY, OF_MEMORIES, Row, Tables, joined, packed, rows_in, unpacked
from recollect.store.sqlite.connection import Database

_COLUMNS = "id, user_id, project_id, at, actor, action, summary, finished_at, undone_at"
Key = tuple[str, tuple[Any, ...]]  # a table and the key of a row in it
Reindex = Callable[[apsw.Connection, Collection[int]], None]


class SqliteChangeLog:
    """`reindex` brings the words of memories, by number, up to date with their rows; `transaction` is the store's."""

    def __init__(
        self,
        database: Database,
        reindex: Reindex,
        transaction: Callable[[], contextlib.AbstractContextManager[None]],
    ) -> None:
        self._db = database
        self._transaction = transaction
        self._reindex = reindex
        self._thread = threading.local()  # `recording` is set while a change is being recorded

    # keeping

    @contextlib.contextmanager
    def recorded(self, change: m.Change, *, projects: bool = False) -> Iterator[None]:
        """A transaction whose writes to memories and all that hangs on them are kept as the next part of `change`.

        The same change may be given again: a long act is many transactions, and `finish` ends it. Within a change that
        is being recorded it is part of that one. `projects`: also what else hangs on projects, sessions and such.
        """
        if getattr(self._thread, "recording", False):
            yield
            return
        tables = EVERY if projects else OF_MEMORIES
        with self._transaction(), self._db.writing() as db:
            session = apsw.Session(db, "main")
            self._thread.recording = True
            try:
                for table in tables:
                    session.attach(table)
                yield
                rows = rows_in(db, session.changeset(), tables)
            finally:
                self._thread.recording = False
                session.close()
            if rows:
                self._keep(db, change, rows)

    def _keep(self, db: apsw.Connection, change: m.Change, rows: Sequence[Row]) -> None:
        places = ", ".join("?" * len(_COLUMNS.split(", ")))
        db.execute(f"INSERT OR IGNORE INTO changes ({_COLUMNS}) VALUES ({places})", _row_of(change))
        part = int(db.execute("SELECT count(*) FROM change_parts WHERE change = ?", (change.id,)).get)
        db.execute("INSERT INTO change_parts VALUES (?, ?, ?)", (change.id, part, packed(rows)))

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
            tables = Tables(db)
            same: list[Row] = []
            changed: list[Row] = []
            for row in rows:
                (same if tables.still(row) else changed).append(row)
            again = _said_again(db, tables, same, _owners(rows), change_id)
            left = _owners(changed) | again.keys()
            chosen = [_with_new_grace(row, at) for row in same if row.owner not in left]
            if not chosen and again:
                raise Refused(
                    f"Memory {min(again.values())} says the same and is active.",
                    "There is nothing to bring back.",
                )
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

    def _restore(self, db: apsw.Connection, rows: Sequence[Row]) -> None:
        order, tables = list(EVERY), Tables(db)
        db.execute("PRAGMA defer_foreign_keys = ON")  # parents and children in whatever order
        for row in sorted(rows, key=lambda row: order.index(row.table)):
            tables.put_back(row)
        db.execute("INSERT OR IGNORE INTO tags (name) SELECT DISTINCT tag FROM memory_tags")  # dropped since
        _drop_loose_ends(db)
        if any(row.table == "messages" for row in rows):
            db.execute("UPDATE message_change SET purge = purge + 1")
        nums = _owners(rows)
        gone = any(row.before is None or row.table == "vectors" for row in rows if row.owner is not None)
        seq = int(
            db.execute("UPDATE change SET seq = seq + 1, purge = purge + ? RETURNING seq", (int(gone),)).get
        )
        for num in nums:
            db.execute("UPDATE memories SET seq = ? WHERE num = ?", (seq, num))
        self._reindex(db, nums)

    def _all(self, db: apsw.Connection, change_id: str) -> list[Row]:
        """Every row once, from before the first part to after the last."""
        query = "SELECT rows FROM change_parts WHERE change = ? ORDER BY part"
        rows: dict[Key, Row] = {}
        for (part,) in db.execute(query, (change_id,)):
            for row in unpacked(part):
                earlier = rows.get((row.table, row.key))
                rows[row.table, row.key] = row if earlier is None else joined(earlier, row)
        return [row for row in rows.values() if not (row.before is None and row.after is None)]


def _drop_loose_ends(db: apsw.Connection) -> None:
    """What was put back and hangs on a memory that has been purged since."""
    there = "(SELECT id FROM memories)"
    db.execute(f"DELETE FROM links WHERE source NOT IN {there} OR target NOT IN {there}")
    db.execute(f"DELETE FROM cluster_members WHERE memory NOT IN {there}")


def _refuse_dependence(db: apsw.Connection, rows: Iterable[Row]) -> None:
    """What the change brought can be taken away only while nothing that came later leans on it."""
    made = set(_names(db, {row.key[0] for row in rows if row.table == "memories" and row.before is None}))
    links = {row.key for row in rows if row.table == "links"}
    among = "(SELECT value FROM json_each(?1))"
    query = (
        f"SELECT source, target, relation FROM links WHERE source IN {among} OR target IN {among}"
        f" UNION SELECT superseded_by, id, 'supersedes' FROM memories WHERE superseded_by IN {among}"
    )
    for source, target, relation in db.execute(query, (json.dumps(sorted(made)),)):
        if (source, target, relation) not in links and not (source in made and target in made):
            name, other = (source, target) if source in made else (target, source)
            raise Refused(
                f"Memory {other} leans on {name}, which this change brought: {relation.replace('_', ' ')}.",
                f"Look at both with `recollect links {name}`; `recollect forget` takes out single ones.",
            )


def _said_again(
    db: apsw.Connection, tables: Tables, rows: Iterable[Row], touched: Collection[int], change_id: str
) -> dict[int, str]:
    """Memories that would come back although somebody has said the same since, each with that one's id."""
    same = " AND ".join(
        f"new.{name} IS :{name}" for name in ("user_id", "project_id", "scope", "branch", "season")
    )
    query = (
        "SELECT new.num, new.id FROM memories new, changes WHERE changes.id = :change AND new.created_at >= changes.at"
        f" AND new.fingerprint = :fingerprint AND new.state = 'active' AND {same}"
        " AND (new.scope <> 'session' OR new.session IS :session)"
    )
    found: dict[int, str] = {}
    for row in rows:
        if row.table != "memories" or row.before is None:
            continue
        now = tables.current(row) or {}
        then = now | row.before
        if then["state"] != "active" or now.get("state") == "active":
            continue
        for num, name in db.execute(query, then | {"change": change_id}):
            if num not in touched:
                found[row.key[0]] = name
    return found


def _with_new_grace(row: Row, at: datetime) -> Row:
    """What is out of sight again can be brought back for as long as if it had gone today."""
    name = {"memories": "deleted_at", "messages": "forgotten_at"}.get(row.table, "")
    if not row.before or not row.after or not row.before.get(name) or name not in row.after:
        return row
    return replace(row, before=row.before | {name: m.to_text(at)})


def _owners(rows: Iterable[Row]) -> set[int]:
    return {row.owner for row in rows if row.owner is not None}


def _names(db: apsw.Connection, nums: Iterable[int | None]) -> list[str]:
    query = "SELECT id FROM memories WHERE num IN (SELECT value FROM json_each(?)) ORDER BY id"
    return [str(row[0]) for row in db.execute(query, (json.dumps(list(nums)),))]


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
