"""Messages of sessions in PostgreSQL."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import recollect.model as m
from recollect.store.postgres.connection import Connection, Database, number
from recollect.store.postgres.views import equals
from recollect.store.rows import MESSAGE_COLUMNS, message_from, message_row

_PUT_VECTOR = (
    "INSERT INTO message_vectors (num, model, vector) VALUES (%s, %s, %s)"
    " ON CONFLICT (tenant, num, model) DO UPDATE SET vector = excluded.vector"
)
_THERE = "forgotten_at IS NULL"


class PostgresMessages:
    """Implements `MessageStore`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def put(
        self,
        messages: Sequence[m.Message],
        model: str | None,
        vectors: Sequence[bytes] | None,
        now: datetime | None = None,
    ) -> None:
        with self._db.writing() as db:
            for position, message in enumerate(messages):
                place = (message.user_id, message.session, message.order)
                which = "user_id = %s AND session = %s AND position = %s"
                self._db.journal.before_delete("messages", which, place)
                replaced = db.execute(f"DELETE FROM messages WHERE {which}", place).rowcount > 0
                num = _bump(db, purge=replaced)
                db.execute(
                    f"INSERT INTO messages (num, {MESSAGE_COLUMNS}, kept_at)"
                    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
                    (num, *message_row(message), m.to_text(now or message.created_at)),
                )
                self._db.journal.created("messages", num)
                if vectors is not None and model is not None:
                    db.execute(_PUT_VECTOR, (num, model, vectors[position]))

    def put_vector(self, num: int, model: str, vector: bytes) -> None:
        with self._db.writing() as db:
            db.execute(_PUT_VECTOR, (num, model, vector))
            _bump(db, purge=True)

    def state(self) -> tuple[int, int]:
        with self._db.reading() as db:
            row = db.execute("SELECT message_seq, message_purge FROM change").fetchone() or (0, 0)
        return int(row[0]), int(row[1])

    def after(self, num: int, model: str) -> list[m.MessageRow]:
        columns = ", ".join(f"s.{name}" for name in MESSAGE_COLUMNS.split(", "))
        query = (
            f"SELECT s.num, {columns}, v.vector FROM messages s"
            " LEFT JOIN message_vectors v ON v.num = s.num AND v.model = %s"
            " WHERE s.num > %s AND s.forgotten_at IS NULL ORDER BY s.num"
        )
        with self._db.reading() as db:
            return [
                m.MessageRow(row[0], message_from(row[1:8]), row[8])
                for row in db.execute(query, (model, num))
            ]

    def orders(self, user_id: str, session: str) -> set[int]:
        query = f"SELECT position FROM messages WHERE user_id = %s AND session = %s AND {_THERE}"
        with self._db.reading() as db:
            return {int(row[0]) for row in db.execute(query, (user_id, session))}

    def span(self, user_id: str, session: str, first: int, last: int) -> list[m.Message]:
        query = (
            f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE user_id = %s AND session = %s AND {_THERE}"
            " AND position BETWEEN %s AND %s ORDER BY position"
        )
        with self._db.reading() as db:
            return [message_from(row) for row in db.execute(query, (user_id, session, first, last))]

    def iterate(self, view: m.View) -> Iterator[m.Message]:
        query = (
            f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE user_id = %s AND (%s OR project_id IS NULL OR project_id = %s)"
            " AND (session, position) > (%s, %s) ORDER BY session, position LIMIT 500"
        )
        last: tuple[str, int] = ("", -1)
        while True:
            with self._db.reading() as db:
                given = (view.user_id, view.all_projects, view.project_id, *last)
                page = [message_from(row) for row in db.execute(query, given)]
            yield from page
            if len(page) < 500:
                return
            last = (page[-1].session, page[-1].order)

    def count(self, user_id: str, project_id: str | None) -> int:
        with self._db.reading() as db:
            place, params = equals("project_id", project_id)
            query = f"SELECT count(*) FROM messages WHERE user_id = %s AND {place} AND {_THERE}"
            return number(db, query, (user_id, *params))

    def session(self, user_id: str, session: str) -> list[m.Message]:
        query = (
            f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE user_id = %s AND session = %s AND {_THERE}"
            " ORDER BY position"
        )
        with self._db.reading() as db:
            return [message_from(row) for row in db.execute(query, (user_id, session))]

    def drop_before(self, when: datetime) -> int:
        with self._db.writing() as db:
            self._db.journal.before_delete("messages", "kept_at < %s", (m.to_text(when),))
            dropped = db.execute("DELETE FROM messages WHERE kept_at < %s", (m.to_text(when),)).rowcount
            if dropped:
                _bump(db, purge=True)
        return dropped


def _bump(db: Connection, *, purge: bool) -> int:
    """Count a write to messages and return its number."""
    return number(
        db,
        "INSERT INTO change (message_seq, message_purge) VALUES (1, %s) ON CONFLICT (tenant) DO UPDATE SET"
        " message_seq = change.message_seq + 1, message_purge = change.message_purge + excluded.message_purge"
        " RETURNING message_seq",
        (int(purge),),
    )
