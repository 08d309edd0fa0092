"""What agents were told, in PostgreSQL."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import recollect.model as m
from recollect.store.postgres.connection import Connection, Database
from recollect.store.postgres.views import equals

_COLUMNS = "id, user_id, project_id, session, moment, host, at, tokens, text"


class PostgresDeliveries:
    """Implements `DeliveryStore`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def put(self, deliveries: Iterable[m.DeliveryRecord]) -> None:
        with self._db.writing() as db:
            for record in deliveries:
                row = (*record[:6], m.to_text(record.at), record.tokens, record.text)
                query = (
                    f"INSERT INTO deliveries ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
                    " ON CONFLICT DO NOTHING"
                )
                if db.execute(query, row).rowcount:
                    db.cursor().executemany(
                        "INSERT INTO delivered_items (delivery, position, key, tier, probability, used_at)"
                        " VALUES (%s, %s, %s, %s, %s, %s)",
                        [(record.id, place, *_item_row(item)) for place, item in enumerate(record.items)],
                    )

    def of_session(self, user_id: str, session: str) -> list[m.DeliveryRecord]:
        return self._read("user_id = %s AND session = %s ORDER BY id", (user_id, session))

    def newest(self, user_id: str, project_id: str | None, limit: int) -> list[m.DeliveryRecord]:
        place, params = equals("project_id", project_id)
        return self._read(f"user_id = %s AND {place} ORDER BY id DESC LIMIT %s", (user_id, *params, limit))

    def of_item(self, user_id: str, key: str, limit: int) -> list[m.DeliveryRecord]:
        among = "id IN (SELECT delivery FROM delivered_items WHERE key = %s)"
        return self._read(f"user_id = %s AND {among} ORDER BY id DESC LIMIT %s", (user_id, key, limit))

    def mark_used(self, user_id: str, session: str, keys: Iterable[str], at: datetime) -> int:
        query = (
            "UPDATE delivered_items SET used_at = %s WHERE used_at IS NULL AND key = ANY (%s)"
            " AND delivery IN (SELECT id FROM deliveries WHERE user_id = %s AND session = %s)"
        )
        with self._db.writing() as db:
            return db.execute(query, (m.to_text(at), list(keys), user_id, session)).rowcount

    def drop_before(self, when: datetime) -> int:
        then = m.to_text(when)
        with self._db.writing() as db:
            return db.execute("DELETE FROM deliveries WHERE at < %s", (then,)).rowcount  # and their items

    def _read(self, where: str, params: Sequence[Any]) -> list[m.DeliveryRecord]:
        items: dict[str, list[m.ShownItem]] = {}
        with self._db.reading() as db:
            rows: list[Any] = db.execute(
                f"SELECT {_COLUMNS} FROM deliveries WHERE {where}", params
            ).fetchall()
            query = (
                "SELECT delivery, key, tier, probability, used_at FROM delivered_items"
                " WHERE delivery = ANY (%s) ORDER BY delivery, position"
            )
            names = [row[0] for row in rows]
            parts: list[Any] = db.execute(query, (names,)).fetchall()
            for name, key, tier, probability, used_at in parts:
                used = m.from_text(used_at) if used_at else None
                items.setdefault(name, []).append(m.ShownItem(key, tier, probability, used))
            return [_record(row, items.get(row[0], ())) for row in rows]


def erase_items(db: Connection, keys: Sequence[str]) -> None:
    """Delete the items with these keys, and the texts that they are part of."""
    among = "key = ANY (%s)"
    named = list(keys)
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
