"""Messages of sessions in SQLite."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import recollect.model as m
from recollect.store.rows import MESSAGE_COLUMNS, message_from, message_row
from recollect.store.sqlite.connection import Database

_THERE = "forgotten_at IS NULL"


class SqliteMessages:
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
            for number, message in enumerate(messages):
                place = (message.user_id, message.session, message.order)
                which = "user_id = ? AND session = ? AND position = ?"
                self._db.journal.before_delete("messages", which, place)
                db.execute(f"DELETE FROM messages WHERE {which}", place)
                replaced = db.changes() > 0
                num = db.execute(
                    f"INSERT INTO messages ({MESSAGE_COLUMNS}, kept_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING num",
                    (*message_row(message), m.to_text(now or message.created_at)),
                ).get
                self._db.journal.created("messages", num)
                if vectors is not None and model is not None:
                    db.execute("INSERT INTO message_vectors VALUES (?, ?, ?)", (num, model, vectors[number]))
                db.execute("UPDATE message_change SET seq = seq + 1, purge = purge + ?", (int(replaced),))

    def put_vector(self, num: int, model: str, vector: bytes) -> None:
        with self._db.writing() as db:
            db.execute("INSERT OR REPLACE INTO message_vectors VALUES (?, ?, ?)", (num, model, vector))
            db.execute("UPDATE message_change SET seq = seq + 1, purge = purge + 1")

    def state(self) -> tuple[int, int]:
        with self._db.reading() as db:
            seq, purge = next(db.execute("SELECT seq, purge FROM message_change"))
        return int(seq), int(purge)

    def after(self, num: int, model: str) -> list[m.MessageRow]:
        columns = ", ".join(f"s.{name}" for name in MESSAGE_COLUMNS.split(", "))
        query = (
            f"SELECT s.num, {columns}, v.vector FROM messages s"
            " LEFT JOIN message_vectors v ON v.num = s.num AND v.model = ?"
            " WHERE s.num > ? AND s.forgotten_at IS NULL ORDER BY s.num"
        )
        with self._db.reading() as db:
            return [
                m.MessageRow(row[0], message_from(row[1:8]), row[8])
                for row in db.execute(query, (model, num))
            ]

    def orders(self, user_id: str, session: str) -> set[int]:
        query = f"SELECT position FROM messages WHERE user_id = ? AND session = ? AND {_THERE}"
        with self._db.reading() as db:
            return {int(row[0]) for row in db.execute(query, (user_id, session))}

    def span(self, user_id: str, session: str, first: int, last: int) -> list[m.Message]:
        query = (
            f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE user_id = ? AND session = ? AND {_THERE}"
            " AND position BETWEEN ? AND ? ORDER BY position"
        )
        with self._db.reading() as db:
            return [message_from(row) for row in db.execute(query, (user_id, session, first, last))]

    def iterate(self, view: m.View) -> Iterator[m.Message]:
        query = (
            f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE user_id = ?1 AND (?2 OR project_id IS NULL OR project_id IS ?3)"
            " AND (session, position) > (?4, ?5) ORDER BY session, position LIMIT 500"
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
            query = f"SELECT count(*) FROM messages WHERE user_id = ? AND project_id IS ? AND {_THERE}"
            return int(db.execute(query, (user_id, project_id)).get)

    def session(self, user_id: str, session: str) -> list[m.Message]:
        query = (
            f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE user_id = ? AND session = ? AND {_THERE}"
            " ORDER BY position"
        )
        with self._db.reading() as db:
            return [message_from(row) for row in db.execute(query, (user_id, session))]

    def drop_before(self, when: datetime) -> int:
        with (
            self._db.reading() as db
        ):  # usually there is nothing to do, and no need to wait for the write lock
            if not db.execute(
                "SELECT EXISTS (SELECT 1 FROM messages WHERE kept_at < ?)", (m.to_text(when),)
            ).get:
                return 0
        with self._db.writing() as db:
            self._db.journal.before_delete("messages", "kept_at < ?", (m.to_text(when),))
            db.execute("DELETE FROM messages WHERE kept_at < ?", (m.to_text(when),))
            dropped = db.changes()
            if dropped:
                db.execute("UPDATE message_change SET purge = purge + 1")
        return dropped
