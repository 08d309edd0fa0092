"""Questions for a person, in PostgreSQL."""

from collections.abc import Iterator
from datetime import datetime

import recollect.model as m
from recollect.errors import ReviewNotFound
from recollect.store.postgres.connection import Database
from recollect.store.rows import REVIEW_COLUMNS, review_from, review_row


class PostgresReviews:
    """Implements `ReviewQueue`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def ask(self, review: m.Review, since: datetime | None = None) -> bool:
        row = review_row(review)[:-2]  # a new question is not decided
        with self._db.writing() as db:
            self._db.journal.before_put("reviews", review.id)
            self._db.journal.before_write(
                "reviews", "user_id = %s AND kind = %s AND memories = %s", (row[1], row[3], row[4])
            )
            asked = db.execute(
                f"INSERT INTO reviews ({REVIEW_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, NULL, NULL)"
                " ON CONFLICT (tenant, user_id, kind, memories) DO UPDATE SET reason = excluded.reason,"
                " created_at = excluded.created_at, decided_at = NULL, decision = NULL WHERE reviews.decided_at < %s",
                (*row, m.to_text(since) if since else ""),
            )
            return asked.rowcount > 0

    def open(self, user_id: str, project_id: str | None, kind: str | None = None) -> list[m.Review]:
        query = (
            f"SELECT {REVIEW_COLUMNS} FROM reviews WHERE decided_at IS NULL AND user_id = %s"
            " AND (project_id IS NULL OR project_id = %s) AND (%s::text IS NULL OR kind = %s) ORDER BY id"
        )
        with self._db.reading() as db:
            return [review_from(row) for row in db.execute(query, (user_id, project_id, kind, kind))]

    def iterate(self, view: m.View) -> Iterator[m.Review]:
        query = (
            f"SELECT {REVIEW_COLUMNS} FROM reviews WHERE user_id = %s AND (%s OR project_id IS NULL OR project_id = %s)"
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
            " WHERE decided_at IS NULL AND user_id = %s AND (starts_with(id, %s) OR right(id, %s) = %s) LIMIT 2"
        )
        with self._db.reading() as db:
            found = db.execute(query, (user_id, wanted, len(wanted), wanted)).fetchall()
        if len(found) != 1:
            raise ReviewNotFound(name)
        return review_from(found[0])

    def decide(self, review_id: str, decision: str, at: datetime) -> bool:
        with self._db.writing() as db:
            self._db.journal.before_put("reviews", review_id)
            closed = db.execute(
                "UPDATE reviews SET decision = %s, decided_at = %s WHERE id = %s AND decided_at IS NULL",
                (decision, m.to_text(at), review_id),
            )
            return closed.rowcount > 0
