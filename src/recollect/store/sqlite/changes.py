"""Changes to memories, recorded row by row so that they can be listed and undone."""

import contextlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import apsw

import recollect.model as m
from recollect.errors import ChangeNotFound, Refused
from recollect.store.journal import Journal
from recollect.store.row_snapshots import (
    ALL_TABLES,
    LOOSE_RELATIONS,
    MEMORY_TABLES,
    RowSnapshot,
    combined,
    is_unchanged,
    owners,
    pack,
    removed_memories,
    replaced_texts,
    unpack,
    values_to_restore,
    with_new_grace,
)
from recollect.store.rows import CHANGE_COLUMNS, change_from, change_row
from recollect.store.sqlite.connection import Database
from recollect.store.sqlite.single_rows import Rows, key_condition

_MISSING_TAGS = (
    "SELECT DISTINCT m.user_id, t.tag FROM memory_tags t JOIN memories m USING (num)"
    " WHERE NOT EXISTS (SELECT 1 FROM tags g WHERE g.user_id = m.user_id AND g.name = t.tag)"
)
Key = tuple[str, tuple[Any, ...]]  # a table and the key of a row in it
Reindex = Callable[[apsw.Connection, Collection[int]], None]


class SqliteChangeLog:
    """Implements `ChangeLog`. `reindex` updates the full text of memories by number; `transaction` is the store's."""

    def __init__(
        self,
        database: Database,
        reindex: Reindex,
        transaction: Callable[[], contextlib.AbstractContextManager[None]],
    ) -> None:
        self._db = database
        self._transaction = transaction
        self._reindex = reindex

    # recording

    @contextlib.contextmanager
    def recorded(self, change: m.Change, *, projects: bool = False) -> Iterator[None]:
        if self._db.journal.is_recording:
            yield
            return
        tables = ALL_TABLES if projects else MEMORY_TABLES
        with self._transaction(), self._db.writing() as db:
            with self._db.journal.recording(Rows(db), tables) as recording:
                yield
            if rows := recording.snapshots():
                self._store(db, change, rows)

    def _store(self, db: apsw.Connection, change: m.Change, rows: Sequence[RowSnapshot]) -> None:
        places = ", ".join("?" * len(CHANGE_COLUMNS.split(", ")))
        db.execute(f"INSERT OR IGNORE INTO changes ({CHANGE_COLUMNS}) VALUES ({places})", change_row(change))
        part = int(db.execute("SELECT count(*) FROM change_parts WHERE change = ?", (change.id,)).get)
        db.execute("INSERT INTO change_parts VALUES (?, ?, ?)", (change.id, part, pack(rows)))

    def finish(self, change: m.Change) -> None:
        with self._db.writing() as db:
            db.execute(
                "UPDATE changes SET summary = ?, finished_at = ? WHERE id = ?",
                (change.summary, _time(change.finished_at), change.id),
            )

    def removed_before(self, before: datetime) -> list[tuple[str, str]]:
        """Return id and fingerprint of the memories that changes before then removed, and of which there is no other copy."""
        query = (
            "SELECT c.user_id, p.rows FROM change_parts p JOIN changes c ON c.id = p.change WHERE c.at < ?"
        )
        with self._db.reading() as db:
            parts = list(db.execute(query, (m.to_text(before),)))
            gone = [pair for user_id, part in parts for pair in removed_memories(unpack(part, user_id))]
            known = "SELECT 1 FROM memories WHERE id = ? OR fingerprint = ?"
            return [pair for pair in gone if db.execute(known, pair).fetchone() is None]

    def expire(self, before: datetime) -> int:
        old = "(SELECT id FROM changes WHERE at < ?)"
        with self._db.writing() as db:
            query = f"SELECT count(DISTINCT change) FROM change_parts WHERE change IN {old}"
            count = int(db.execute(query, (m.to_text(before),)).get)
            db.execute(f"DELETE FROM change_parts WHERE change IN {old}", (m.to_text(before),))
        return count

    # listing

    def newest(
        self,
        user_id: str,
        project_id: str | None,
        limit: int,
        *,
        all_projects: bool = False,
        actions: Sequence[str] = (),
    ) -> list[m.Change]:
        query = (
            f"SELECT {CHANGE_COLUMNS} FROM changes WHERE user_id = ? AND (? OR project_id IS NULL OR project_id IS ?)"
            " AND (? = '[]' OR action IN (SELECT value FROM json_each(?))) ORDER BY id DESC LIMIT ?"
        )
        wanted = json.dumps(actions)
        with self._db.reading() as db:
            rows = db.execute(query, (user_id, all_projects, project_id, wanted, wanted, limit))
            return [change_from(row) for row in rows]

    def get(self, user_id: str, name: str) -> m.Change:
        wanted = name.strip().lstrip("#").lower()
        if not wanted.isalnum() or len(wanted) > m.LONGEST_ID:
            raise ChangeNotFound(name)
        query = f"SELECT {CHANGE_COLUMNS} FROM changes WHERE user_id = ? AND (id GLOB ? OR id GLOB ?) LIMIT 2"
        with self._db.reading() as db:
            rows = db.execute(query, (user_id, f"{wanted}*", f"*{wanted}"))
            found = [change_from(row) for row in rows]
        if len(found) != 1:
            raise ChangeNotFound(name)
        return found[0]

    def touched(self, change_id: str) -> list[str]:
        with self._db.reading() as db:
            return _names(db, owners(self._all(db, change_id)))

    def texts_before(self, change_id: str) -> dict[str, str]:
        with self._db.reading() as db:
            texts = replaced_texts(self._all(db, change_id))
            named = {num: _names(db, {num}) for num in texts}
        return {name: texts[num] for num, names in named.items() for name in names}

    # undoing

    def mark_undone(self, change_id: str, at: datetime | None) -> None:
        with self._db.writing() as db:
            db.execute("UPDATE changes SET undone_at = ? WHERE id = ?", (_time(at), change_id))

    def undo(self, change_id: str, at: datetime) -> m.Undone:
        with self._db.writing() as db:
            rows = self._all(db, change_id)
            if not rows:
                raise Refused(
                    "The rows that this change replaced have expired.",
                    "Changes can be undone for 30 days. A backup may reach further back.",
                )
            _refuse_dependence(db, rows)
            table_rows = Rows(db)
            same: list[RowSnapshot] = []
            changed: list[RowSnapshot] = []
            for row in rows:
                (same if is_unchanged(row, table_rows.get(row.table, row.key)) else changed).append(row)
            again = _said_again(db, table_rows, same, owners(rows), change_id)
            left = owners(changed) | again.keys()
            chosen = [with_new_grace(row, at) for row in same if row.memory_num not in left]
            if not chosen and again:
                raise Refused(
                    f"Memory {min(again.values())} has the same text and is active.",
                    "There is nothing to restore.",
                )
            if not chosen:
                raise Refused(
                    "Everything in this change has been changed since.",
                    "Run `recollect changes` to list the later changes, and undo those first.",
                )
            names = _names(db, left)
            back = _names(db, owners(chosen))
            self._restore(db, chosen)
            self.mark_undone(change_id, at)
            back = sorted({*back, *_names(db, owners(chosen))})
        return m.Undone(change_id, tuple(back), tuple(names))

    def _restore(self, db: apsw.Connection, rows: Sequence[RowSnapshot]) -> None:
        order, journal, table_rows = list(ALL_TABLES), self._db.journal, Rows(db)
        db.execute("PRAGMA defer_foreign_keys = ON")  # parents and children in any order
        for row in sorted(rows, key=lambda row: order.index(row.table)):
            _put_back(db, journal, table_rows, row)
        for tag in db.execute(_MISSING_TAGS).fetchall():  # dropped since
            journal.created("tags", *tag)
            db.execute("INSERT INTO tags (user_id, name) VALUES (?, ?)", tag)
        _drop_dangling(db, journal)
        if any(row.table == "messages" for row in rows):
            db.execute("UPDATE message_change SET purge = purge + 1")
        nums = owners(rows)
        gone = any(row.before is None or row.table == "vectors" for row in rows if row.memory_num is not None)
        seq = int(
            db.execute("UPDATE change SET seq = seq + 1, purge = purge + ? RETURNING seq", (int(gone),)).get
        )
        for num in nums:
            db.execute("UPDATE memories SET seq = ? WHERE num = ?", (seq, num))
        self._reindex(db, nums)

    def _all(self, db: apsw.Connection, change_id: str) -> list[RowSnapshot]:
        """Return every row once: before the first part and after the last."""
        query = (
            "SELECT c.user_id, p.rows FROM change_parts p JOIN changes c ON c.id = p.change"
            " WHERE c.id = ? ORDER BY p.part"
        )
        rows: dict[Key, RowSnapshot] = {}
        for user_id, part in db.execute(query, (change_id,)):
            for row in unpack(part, user_id):
                earlier = rows.get((row.table, row.key))
                rows[row.table, row.key] = row if earlier is None else combined(earlier, row)
        return [row for row in rows.values() if not (row.before is None and row.after is None)]


def _put_back(db: apsw.Connection, journal: Journal, table_rows: Rows, row: RowSnapshot) -> None:
    """Write the row as it was before the change."""
    current = table_rows.get(row.table, row.key)
    where = key_condition(row.table)
    if row.before is None:
        if row.table == "memories":
            db.execute("DELETE FROM memory_words WHERE rowid = ?", row.key)
        journal.before_delete(row.table, where, row.key)
        db.execute(f"DELETE FROM {row.table} WHERE {where}", row.key)
        return
    journal.before_put(row.table, *row.key)
    if row.after is None or current is None:
        names, places = ", ".join(row.before), ", ".join("?" * len(row.before))
        # A row with the same meaning may have come since under another key: a question asked again, say.
        or_ignore = "" if row.table == "memories" else "OR IGNORE "
        sql = f"INSERT {or_ignore}INTO {row.table} ({names}) VALUES ({places})"
        db.execute(sql, tuple(row.before.values()))
    elif values := values_to_restore(row, current):
        sets = ", ".join(f"{name} = ?" for name in values)
        db.execute(f"UPDATE {row.table} SET {sets} WHERE {where}", (*values.values(), *row.key))


def _drop_dangling(db: apsw.Connection, journal: Journal) -> None:
    """Delete restored links and cluster members of memories that have been purged since."""
    there = "(SELECT id FROM memories)"
    for table, where in (
        ("links", f"source NOT IN {there} OR target NOT IN {there}"),
        ("cluster_members", f"memory NOT IN {there}"),
    ):
        journal.before_delete(table, where)
        db.execute(f"DELETE FROM {table} WHERE {where}")


def _refuse_dependence(db: apsw.Connection, rows: Iterable[RowSnapshot]) -> None:
    """Raise `Refused` if a later memory depends on one that the change created."""
    made = set(_names(db, {row.key[0] for row in rows if row.table == "memories" and row.before is None}))
    links = {row.key for row in rows if row.table == "links"}
    among = "(SELECT value FROM json_each(?1))"
    query = (
        f"SELECT source, target, relation FROM links WHERE source IN {among} OR target IN {among}"
        f" UNION SELECT superseded_by, id, 'supersedes' FROM memories WHERE superseded_by IN {among}"
    )
    for source, target, relation in db.execute(query, (json.dumps(sorted(made)),)):
        if relation in LOOSE_RELATIONS:
            continue  # the link goes with the memory
        if (source, target, relation) not in links and not (source in made and target in made):
            name, other = (source, target) if source in made else (target, source)
            raise Refused(
                f"Memory {other} depends on {name}, which this change created: {relation.replace('_', ' ')}.",
                f"Run `recollect links {name}` to see both. Use `recollect forget` to remove a single memory.",
            )


def _said_again(
    db: apsw.Connection,
    table_rows: Rows,
    rows: Iterable[RowSnapshot],
    touched: Collection[int],
    change_id: str,
) -> dict[int, str]:
    """Return the memories whose text was stored again since, by number, each with the id of the newer one."""
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
        now = table_rows.get(row.table, row.key) or {}
        then = now | row.before
        if then["state"] != "active" or now.get("state") == "active":
            continue
        for num, name in db.execute(query, then | {"change": change_id}):
            if num not in touched:
                found[row.key[0]] = name
    return found


def _names(db: apsw.Connection, nums: Iterable[int | None]) -> list[str]:
    query = "SELECT id FROM memories WHERE num IN (SELECT value FROM json_each(?)) ORDER BY id"
    return [str(row[0]) for row in db.execute(query, (json.dumps(list(nums)),))]


def _time(when: datetime | None) -> str | None:
    return m.to_text(when) if when else None
