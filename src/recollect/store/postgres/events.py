"""Events of sessions and their findings in PostgreSQL."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import recollect.model as m
from recollect.store import rows
from recollect.store.postgres.connection import Database, number
from recollect.store.postgres.views import equals


class PostgresEvents:
    """Implements `EventStore`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def append(self, session: str, events: Sequence[m.StoredEvent]) -> int:
        with self._db.writing() as db:
            after = "SELECT coalesce(max(position), -1) + 1 FROM session_events WHERE session = %s"
            position = first = number(db, after, (session,))
            for event in events:
                self._db.journal.before_put("session_events", event.id)
                added = db.execute(
                    "INSERT INTO session_events (id, session, position, at, event) VALUES (%s, %s, %s, %s, %s)"
                    " ON CONFLICT DO NOTHING",
                    (event.id, session, position, m.to_text(event.at), event.event),
                )
                position += added.rowcount
            if position > first:
                last = m.to_text(max(event.at for event in events))
                self._db.journal.before_put("sessions", session)
                db.execute("UPDATE sessions SET active_at = %s WHERE id = %s", (last, session))
        return position - first

    def unprocessed(self, session: str) -> list[tuple[int, str]]:
        query = (
            "SELECT position, event FROM session_events"
            " WHERE session = %s AND event IS NOT NULL ORDER BY position"
        )
        with self._db.reading() as db:
            return [(int(row[0]), str(row[1])) for row in db.execute(query, (session,))]

    def mark_processed(self, session: str, last: int) -> None:
        processed = "session = %s AND position <= %s"
        with self._db.writing() as db:
            self._db.journal.before_write("session_events", processed, (session, last))
            db.execute(f"UPDATE session_events SET event = NULL WHERE {processed}", (session, last))

    def drop_processed(self, before: datetime) -> int:
        with self._db.writing() as db:
            processed = (
                "event IS NULL AND at < %s AND position <"
                " (SELECT max(position) FROM session_events last WHERE last.session = session_events.session)"
            )
            self._db.journal.before_delete("session_events", processed, (m.to_text(before),))
            return db.execute(f"DELETE FROM session_events WHERE {processed}", (m.to_text(before),)).rowcount

    # sessions that want something done

    def idle_sessions(self, user_id: str, project_id: str | None, idle_since: datetime) -> list[m.Session]:
        place, params = equals("project_id", project_id)
        query = (
            f"SELECT {rows.SESSION_COLUMNS} FROM sessions WHERE user_id = %s AND {place}"
            " AND extracted_at IS NULL AND coalesce(active_at, started_at) < %s ORDER BY started_at, id"
        )
        with self._db.reading() as db:
            found = db.execute(query, (user_id, *params, m.to_text(idle_since)))
            return [rows.session_from(row) for row in found]

    # findings

    def put_findings(self, session: str, findings: Iterable[m.Finding], *, since: int | None = None) -> int:
        kept = list(findings)
        with self._db.writing() as db:
            if since is not None:
                marks = [each.fingerprint for each in kept]
                superseded = (
                    "session = %s AND promoted_to IS NULL"
                    " AND (messages::json ->> 0)::bigint >= %s AND fingerprint <> ALL (%s::text[])"
                )
                self._db.journal.before_delete("findings", superseded, (session, since, marks))
                db.execute(f"DELETE FROM findings WHERE {superseded}", (session, since, marks))
            places = ", ".join(["%s"] * len(rows.FINDING_COLUMNS.split(", ")))
            new = 0
            for each in kept:
                self._db.journal.before_put("findings", each.id)
                added = db.execute(
                    f"INSERT INTO findings ({rows.FINDING_COLUMNS}) VALUES ({places}) ON CONFLICT DO NOTHING",
                    rows.finding_row(each),
                )
                new += added.rowcount
        return new

    def mark_promoted(self, finding: str, memory: str) -> None:
        with self._db.writing() as db:
            self._db.journal.before_put("findings", finding)
            db.execute("UPDATE findings SET promoted_to = %s WHERE id = %s", (memory, finding))

    def count_sightings(self, user_id: str, project_id: str | None, fingerprint: str) -> tuple[int, int]:
        place, params = equals("s.project_id", project_id)
        query = (
            "SELECT count(DISTINCT coalesce(s.parent, s.id)), count(DISTINCT s.agent) FROM findings f"
            " JOIN sessions s ON s.id = f.session"
            f" WHERE f.fingerprint = %s AND s.user_id = %s AND {place}"
        )
        with self._db.reading() as db:
            found = db.execute(query, (fingerprint, user_id, *params)).fetchone() or (0, 0)
        return int(found[0]), int(found[1])
