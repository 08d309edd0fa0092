"""Counts and timings in SQLite."""

from collections.abc import Mapping
from datetime import datetime

import recollect.model as m
from recollect.store.sqlite.connection import Database

Timings = Mapping[tuple[str, int], int]  # name and size → how often


class SqliteMeasures:
    """Implements `MeasureStore`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(
        self, user_id: str, project_id: str | None, session: str, values: Mapping[str, float], at: datetime
    ) -> None:
        with self._db.writing() as db:
            db.executemany(
                "INSERT INTO measures VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET value = value + excluded.value, at = excluded.at",
                [
                    (user_id, project_id or "", session, name, value, m.to_text(at))
                    for name, value in values.items()
                ],
            )

    def set(
        self, user_id: str, project_id: str | None, session: str, values: Mapping[str, float], at: datetime
    ) -> None:
        with self._db.writing() as db:
            db.executemany(
                "INSERT OR REPLACE INTO measures VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (user_id, project_id or "", session, name, value, m.to_text(at))
                    for name, value in values.items()
                ],
            )

    def by_session(self, user_id: str, project_id: str | None) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        with self._db.reading() as db:
            for session, name, value in db.execute(
                "SELECT session, name, value FROM measures WHERE user_id = ? AND project_id = ? AND session <> ''"
                " ORDER BY at, session",
                (user_id, project_id or ""),
            ):
                found.setdefault(session, {})[name] = value
        return found

    def totals(
        self, user_id: str, project_id: str | None = None, *, everywhere: bool = False
    ) -> dict[str, float]:
        where = "" if everywhere else " AND project_id = ?"
        with self._db.reading() as db:
            return dict(
                db.execute(
                    f"SELECT name, sum(value) FROM measures WHERE user_id = ?{where} GROUP BY name",
                    (user_id,) if everywhere else (user_id, project_id or ""),
                )
            )

    def add_timings(self, user_id: str, project_id: str | None, day: str, timings: Timings) -> None:
        with self._db.writing() as db:
            db.executemany(
                "INSERT INTO timings VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET count = count + excluded.count",
                [(user_id, project_id or "", day, name, size, n) for (name, size), n in timings.items()],
            )

    def timings(
        self, user_id: str, project_id: str | None, since: str, *, everywhere: bool = False
    ) -> dict[str, dict[str, dict[int, int]]]:
        where = "" if everywhere else " AND project_id = ?"
        found: dict[str, dict[str, dict[int, int]]] = {}
        with self._db.reading() as db:
            for name, day, size, count in db.execute(
                "SELECT name, day, size, sum(count) FROM timings"
                f" WHERE user_id = ? AND day >= ?{where} GROUP BY name, day, size ORDER BY day",
                (user_id, since) if everywhere else (user_id, since, project_id or ""),
            ):
                found.setdefault(name, {}).setdefault(day, {})[size] = count
        return found

    def forget_before(self, at: datetime) -> None:
        with self._db.writing() as db:
            db.execute("DELETE FROM measures WHERE at < ?", (m.to_text(at),))
            db.execute("DELETE FROM timings WHERE day < ?", (f"{at:%Y-%m-%d}",))
