"""What agents were told, in SQLite."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import apsw

import recollect.model as m
from recollect.store.sqlite.connection import Database

_COLUMNS = "id, user_id, project_id, session, moment, host, at, tokens, text"


class SqliteDeliveries:
    """Implements `DeliveryStore`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def put(self, deliveries: Iterable[m.DeliveryRecord]) -> None:
        with self._db.writing() as db:
            for record in deliveries:
                row = (*record[:6], m.to_text(record.at), record.tokens, record.text)
                db.execute(
                    f"INSERT OR IGNORE INTO deliveries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row
                )
                if db.changes():
                    db.executemany(
                        "INSERT INTO delivered_items VALUES (?, ?, ?, ?, ?, ?)",
                        [(record.id, place, *_item_row(item)) for place, item in enumerate(record.items)],
                    )

    def of_session(self, user_id: str, session: str) -> list[m.DeliveryRecord]:
        return self._read("user_id = ? AND session = ? ORDER BY id", (user_id, session))

    def newest(self, user_id: str, project_id: str | None, limit: int) -> list[m.DeliveryRecord]:
        return self._read(
            "user_id = ? AND project_id IS ? ORDER BY id DESC LIMIT ?", (user_id, project_id, limit)
        )

    def of_item(self, user_id: str, key: str, limit: int) -> list[m.DeliveryRecord]:
        among = "id IN (SELECT delivery FROM delivered_items WHERE key = ?)"
        return self._read(f"user_id = ? AND {among} ORDER BY id DESC LIMIT ?", (user_id, key, limit))

    def mark_used(self, user_id: str, session: str, keys: Iterable[str], at: datetime) -> int:
        query = (
            "UPDATE delivered_items SET used_at = ? WHERE used_at IS NULL"
            " AND key IN (SELECT value FROM json_each(?))"
            " AND delivery IN (SELECT id FROM deliveries WHERE user_id = ? AND session = ?)"
        )
        with self._db.writing() as db:
            db.execute(query, (m.to_text(at), json.dumps(list(keys)), user_id, session))
            return db.changes()

    def drop_before(self, when: datetime) -> int:
        then = m.to_text(when)
        with self._db.reading() as db:  # usually there is nothing to do, and no need for the write lock
            if not db.execute("SELECT EXISTS (SELECT 1 FROM deliveries WHERE at < ?)", (then,)).get:
                return 0
        with self._db.writing() as db:
            db.execute("DELETE FROM deliveries WHERE at < ?", (then,))  # and their items
            return db.changes()

    def _read(self, where: str, params: Sequence[Any]) -> list[m.DeliveryRecord]:
        items: dict[str, list[m.ShownItem]] = {}
        with self._db.reading() as db:
            rows: list[Any] = db.execute(
                f"SELECT {_COLUMNS} FROM deliveries WHERE {where}", params
            ).fetchall()
            query = (
                "SELECT delivery, key, tier, probability, used_at FROM delivered_items"
                " WHERE delivery IN (SELECT value FROM json_each(?)) ORDER BY delivery, position"
            )
            names = json.dumps([row[0] for row in rows])
            parts: list[Any] = db.execute(query, (names,)).fetchall()
            for name, key, tier, probability, used_at in parts:
                used = m.from_text(used_at) if used_at else None
                items.setdefault(name, []).append(m.ShownItem(key, tier, probability, used))
            return [_record(row, items.get(row[0], ())) for row in rows]


def erase_items(db: apsw.Connection, keys: Sequence[str]) -> None:
    """Delete the items with these keys, and the texts that they are part of."""
    among = "key IN (SELECT value FROM json_each(?))"
    named = json.dumps(list(keys))
    db.execute(
        f"UPDATE deliveries SET text = '' WHERE id IN (SELECT delivery FROM delivered_items WHERE {among})",
        (named,),
    )
    db.execute(f"DELETE FROM delivered_items WHERE {among}", (named,))


def _item_row(item: m.ShownItem) -> tuple[str, str, float | None, str | None]:
    return item.key, item.tier, item.probability, m.to_text(item.used_at) if item.used_at else None


def _record(row: Sequence[Any], items: Iterable[m.ShownItem]) -> m.DeliveryRecord:
    name, user_id, project_id, session, moment, host, at, tokens, text = row
    return m.DeliveryRecord(
        name, user_id, project_id, session, moment, host, m.from_text(at), tokens, text, tuple(items)
    )
