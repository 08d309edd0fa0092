"""Texts that left a context window, and saved windows, in SQLite."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw

import recollect.model as m
from recollect.store.sqlite.connection import Database, Value
from recollect.text.words import index_text, passages, query_terms

_SHIFT = 12  # bits of a row's number that count passages
_MOST_PASSAGES = 1 << _SHIFT
# A deleted passage stays in the index until that part of the index is rewritten.
FORGET_WORDS = "INSERT INTO pruned_words (pruned_words) VALUES ('optimize')"
_COLUMNS = "id, session, task, at, gist, text, tokens"
_NAME = re.compile(r"[A-Za-z0-9_-]{6,64}")


class SqlitePrunedTexts:
    """Implements `PrunedTextStore`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def put(self, user_id: str, project_id: str | None, texts: Iterable[m.PrunedText]) -> None:
        with self._db.writing() as db:
            for text in texts:
                _delete(db, "user_id = ? AND session = ? AND id = ?", (user_id, text.session, text.id))
                row = (user_id, project_id, *text[:3], m.to_text(text.at), *text[4:])
                num = db.execute(
                    f"INSERT INTO pruned (user_id, project_id, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING num",
                    row,
                ).get
                whole = f"{text.gist}\n{text.text}"
                for number, passage in zip(range(_MOST_PASSAGES), passages(whole), strict=False):
                    db.execute(
                        "INSERT INTO pruned_words (rowid, passage) VALUES (?, ?)",
                        ((num << _SHIFT) + number, index_text(passage)),
                    )

    def get(self, user_id: str, name: str, session: str | None = None) -> m.PrunedText | None:
        return self._newest(user_id, name, "?3 IS NULL OR session = ?3", session)

    def get_in_project(self, user_id: str, project_id: str | None, name: str) -> m.PrunedText | None:
        return self._newest(user_id, name, "project_id IS ?3", project_id)

    def _newest(self, user_id: str, name: str, where: str, value: str | None) -> m.PrunedText | None:
        if not _NAME.fullmatch(name):
            return None
        query = (
            f"SELECT {_COLUMNS} FROM pruned WHERE user_id = ?1 AND ({where})"
            " AND (id = ?2 OR substr(id, -length(?2)) = ?2) ORDER BY id = ?2 DESC, num DESC LIMIT 1"
        )
        with self._db.reading() as db:
            row = db.execute(query, (user_id, name, value)).fetchone()
        return _text(row) if row else None

    def find(self, user_id: str, session: str, query: str, limit: int) -> list[m.PrunedText]:
        words = query_terms(query)
        if not words:
            return []
        expression = " OR ".join(f'"{word}"' for word in words)  # words hold no quotes
        # Without MATERIALIZED the query is flattened, and bm25 cannot be asked in an aggregate.
        sql = (
            "WITH scored AS MATERIALIZED"
            " (SELECT rowid AS place, bm25(pruned_words) AS score FROM pruned_words WHERE pruned_words MATCH ?),"
            f" best AS (SELECT place >> {_SHIFT} AS num, min(score) AS score FROM scored GROUP BY 1)"
            f" SELECT {_COLUMNS} FROM best JOIN pruned USING (num) WHERE user_id = ? AND session = ?"
            " ORDER BY score, num DESC LIMIT ?"
        )
        with self._db.reading() as db:
            return [_text(row) for row in db.execute(sql, (expression, user_id, session, limit))]

    def drop_before(self, when: datetime) -> int:
        then = m.to_text(when)
        with (
            self._db.reading() as db
        ):  # usually there is nothing to do, and no need to wait for the write lock
            query = "SELECT EXISTS (SELECT 1 FROM pruned WHERE at < ?1) OR EXISTS (SELECT 1 FROM window_items WHERE at < ?1)"
            if not db.execute(query, (then,)).get:
                return 0
        with self._db.writing() as db:
            db.execute("DELETE FROM window_items WHERE at < ?", (then,))
            gone = _delete(db, "at < ?", (then,))
            db.execute(FORGET_WORDS)
            return gone

    def save_window(
        self,
        user_id: str,
        project_id: str | None,
        session: str,
        at: datetime,
        changed: Mapping[str, tuple[int, Mapping[str, Any]]],
        gone: Iterable[str],
    ) -> None:
        with self._db.writing() as db:
            db.executemany(
                "DELETE FROM window_items WHERE user_id = ? AND session = ? AND id = ?",
                [(user_id, session, name) for name in gone],
            )
            db.executemany(
                "INSERT OR REPLACE INTO window_items VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (user_id, session, name, project_id, position, m.to_text(at), json.dumps(item))
                    for name, (position, item) in changed.items()
                ],
            )

    def window(self, user_id: str, session: str) -> list[Mapping[str, Any]]:
        query = "SELECT item FROM window_items WHERE user_id = ? AND session = ? ORDER BY position, id"
        with self._db.reading() as db:
            return [json.loads(row[0]) for row in db.execute(query, (user_id, session))]


def _delete(db: apsw.Connection, where: str, params: Sequence[Value]) -> int:
    nums = [int(row[0]) for row in db.execute(f"SELECT num FROM pruned WHERE {where}", params)]
    for num in nums:
        db.execute(
            "DELETE FROM pruned_words WHERE rowid BETWEEN ? AND ?", (num << _SHIFT, ((num + 1) << _SHIFT) - 1)
        )
        db.execute("DELETE FROM pruned WHERE num = ?", (num,))
    return len(nums)


def _text(row: Sequence[Any]) -> m.PrunedText:
    name, session, task, at, gist, text, tokens = row
    return m.PrunedText(name, session, task, m.from_text(at), gist, text, tokens)
