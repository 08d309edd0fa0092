"""Counts and timings in PostgreSQL."""

from collections.abc import Mapping
from datetime import datetime

import recollect.model as m
from recollect.store.postgres.connection import Database

Timings = Mapping[tuple[str, int], int]  # name and size → how often


_PUT = (
    "INSERT INTO measures (user_id, project_id, session, name, value, at) VALUES (%s, %s, %s, %s, %s, %s)"
    " ON CONFLICT (tenant, user_id, project_id, session, name) DO UPDATE SET "
)


class PostgresMeasures:
    """Implements `MeasureStore`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(
        self, user_id: str, project_id: str | None, session: str, values: Mapping[str, float], at: datetime
    ) -> None:
        with self._db.writing() as db:
            db.cursor().executemany(
                _PUT + "value = measures.value + excluded.value, at = excluded.at",
                [
                    (user_id, project_id or "", session, name, value, m.to_text(at))
                    for name, value in values.items()
                ],
            )

    def set(
        self, user_id: str, project_id: str | None, session: str, values: Mapping[str, float], at: datetime
    ) -> None:
        with self._db.writing() as db:
            db.cursor().executemany(
                _PUT + "value = excluded.value, at = excluded.at",
                [
                    (user_id, project_id or "", session, name, value, m.to_text(at))
                    for name, value in values.items()
                ],
            )

    def by_session(self, user_id: str, project_id: str | None) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        with self._db.reading() as db:
            for session, name, value in db.execute(
                "SELECT session, name, value FROM measures WHERE user_id = %s AND project_id = %s AND session <> ''"
                " ORDER BY at, session",
                (user_id, project_id or ""),
            ):
                found.setdefault(session, {})[name] = value
        return found

    def totals(
        self, user_id: str, project_id: str | None = None, *, everywhere: bool = False
    ) -> dict[str, float]:
        where = "" if everywhere else " AND project_id = %s"
        with self._db.reading() as db:
            query = f"SELECT name, sum(value) FROM measures WHERE user_id = %s{where} GROUP BY name"
            given = (user_id,) if everywhere else (user_id, project_id or "")
            return dict(db.execute(query, given).fetchall())

    def add_timings(self, user_id: str, project_id: str | None, day: str, timings: Timings) -> None:
        with self._db.writing() as db:
            db.cursor().executemany(
                "INSERT INTO timings (user_id, project_id, day, name, size, count) VALUES (%s, %s, %s, %s, %s, %s)"
                " ON CONFLICT (tenant, user_id, project_id, day, name, size) DO UPDATE"
                " SET count = timings.count + excluded.count",
                [(user_id, project_id or "", day, name, size, n) for (name, size), n in timings.items()],
            )

    def timings(
        self, user_id: str, project_id: str | None, since: str, *, everywhere: bool = False
    ) -> dict[str, dict[str, dict[int, int]]]:
        where = "" if everywhere else " AND project_id = %s"
        found: dict[str, dict[str, dict[int, int]]] = {}
        with self._db.reading() as db:
            for name, day, size, count in db.execute(
                "SELECT name, day, size, sum(count)::bigint FROM timings"
                f" WHERE user_id = %s AND day >= %s{where} GROUP BY name, day, size ORDER BY day",
                (user_id, since) if everywhere else (user_id, since, project_id or ""),
            ):
                found.setdefault(name, {}).setdefault(day, {})[size] = count
        return found

    def forget_before(self, at: datetime) -> None:
        with self._db.writing() as db:
            db.execute("DELETE FROM measures WHERE at < %s", (m.to_text(at),))
            db.execute("DELETE FROM timings WHERE day < %s", (f"{at:%Y-%m-%d}",))
