"""Questions for a person, in SQLite."""

from collections.abc import Iterator
from datetime import datetime

import recollect.model as m
from recollect.errors import ReviewNotFound
from recollect.store.rows import REVIEW_COLUMNS, review_from, review_row
from recollect.store.sqlite.connection import Database


class SqliteReviews:
    """Implements `ReviewQueue`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def ask(self, review: m.Review, since: datetime | None = None) -> bool:
        row = review_row(review)[:-2]  # a new question is not decided
        with self._db.writing() as db:
            self._db.journal.before_put("reviews", review.id)
            self._db.journal.before_write("reviews", "kind = ? AND memories = ?", (row[3], row[4]))
            db.execute(
                f"INSERT INTO reviews ({REVIEW_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL)"
                " ON CONFLICT (kind, memories) DO UPDATE SET reason = excluded.reason,"
                " created_at = excluded.created_at, decided_at = NULL, decision = NULL WHERE decided_at < ?",
                (*row, m.to_text(since) if since else ""),
            )
            return db.changes() > 0

    def open(self, user_id: str, project_id: str | None, kind: str | None = None) -> list[m.Review]:
        query = (
            f"SELECT {REVIEW_COLUMNS} FROM reviews WHERE decided_at IS NULL AND user_id = ?1"
            " AND (project_id IS NULL OR project_id IS ?2) AND (?3 IS NULL OR kind = ?3) ORDER BY id"
        )
        with self._db.reading() as db:
            return [review_from(row) for row in db.execute(query, (user_id, project_id, kind))]

    def iterate(self, view: m.View) -> Iterator[m.Review]:
        query = (
            f"SELECT {REVIEW_COLUMNS} FROM reviews WHERE user_id = ? AND (? OR project_id IS NULL OR project_id IS ?)"
            " ORDER BY id"
        )
        with self._db.reading() as db:
            found = db.execute(query, (view.user_id, view.all_projects, view.project_id)).fetchall()
        return map(review_from, found)

    def get(self, user_id: str, name: str) -> m.Review:
        wanted = name.strip().lstrip("#").lower()
        if not wanted.isalnum() or len(wanted) > m.LONGEST_ID:
            raise ReviewNotFound(name)
        query = (
            f"SELECT {REVIEW_COLUMNS} FROM reviews"
            " WHERE decided_at IS NULL AND user_id = ? AND (id GLOB ? OR id GLOB ?) LIMIT 2"
        )
        with self._db.reading() as db:
            rows = db.execute(query, (user_id, f"{wanted}*", f"*{wanted}"))
            found = [review_from(row) for row in rows]
        if len(found) != 1:
            raise ReviewNotFound(name)
        return found[0]

    def decide(self, review_id: str, decision: str, at: datetime) -> bool:
        with self._db.writing() as db:
            self._db.journal.before_put("reviews", review_id)
            db.execute(
                "UPDATE reviews SET decision = ?, decided_at = ? WHERE id = ? AND decided_at IS NULL",
                (decision, m.to_text(at), review_id),
            )
            return db.changes() > 0
