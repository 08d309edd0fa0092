"""Events of sessions and their findings in SQLite."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import recollect.model as m
from recollect.store import rows
from recollect.store.sqlite.connection import Database


class SqliteEvents:
    """Implements `EventStore`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def append(self, session: str, events: Sequence[m.StoredEvent]) -> int:
        with self._db.writing() as db:
            after = "SELECT coalesce(max(position), -1) + 1 FROM session_events WHERE session = ?"
            position = first = int(db.execute(after, (session,)).get)
            for event in events:
                self._db.journal.before_put("session_events", event.id)
                db.execute(
                    "INSERT OR IGNORE INTO session_events VALUES (?, ?, ?, ?, ?)",
                    (event.id, session, position, m.to_text(event.at), event.event),
                )
                position += db.changes()
            if position > first:
                last = m.to_text(max(event.at for event in events))
                self._db.journal.before_put("sessions", session)
                db.execute("UPDATE sessions SET active_at = ? WHERE id = ?", (last, session))
        return position - first

    def unprocessed(self, session: str) -> list[tuple[int, str]]:
        query = (
            "SELECT position, event FROM session_events"
            " WHERE session = ? AND event IS NOT NULL ORDER BY position"
        )
        with self._db.reading() as db:
            return [(int(row[0]), str(row[1])) for row in db.execute(query, (session,))]

    def mark_processed(self, session: str, last: int) -> None:
        processed = "session = ? AND position <= ?"
        with self._db.writing() as db:
            self._db.journal.before_write("session_events", processed, (session, last))
            db.execute(f"UPDATE session_events SET event = NULL WHERE {processed}", (session, last))

    def drop_processed(self, before: datetime) -> int:
        with self._db.writing() as db:
            processed = (
                "event IS NULL AND at < ? AND position <"
                " (SELECT max(position) FROM session_events last WHERE last.session = session_events.session)"
            )
            self._db.journal.before_delete("session_events", processed, (m.to_text(before),))
            db.execute(f"DELETE FROM session_events WHERE {processed}", (m.to_text(before),))
            return db.changes()

    # sessions that want something done

    def idle_sessions(self, user_id: str, project_id: str | None, idle_since: datetime) -> list[m.Session]:
        query = (
            f"SELECT {rows.SESSION_COLUMNS} FROM sessions WHERE user_id = ? AND project_id IS ?"
            " AND extracted_at IS NULL AND coalesce(active_at, started_at) < ? ORDER BY started_at, id"
        )
        with self._db.reading() as db:
            found = db.execute(query, (user_id, project_id, m.to_text(idle_since)))
            return [rows.session_from(row) for row in found]

    # findings

    def put_findings(self, session: str, findings: Iterable[m.Finding], *, since: int | None = None) -> int:
        kept = list(findings)
        with self._db.writing() as db:
            if since is not None:
                marks = m.dumps([each.fingerprint for each in kept])
                superseded = (
                    "session = ? AND promoted_to IS NULL"
                    " AND messages ->> 0 >= ? AND fingerprint NOT IN (SELECT value FROM json_each(?))"
                )
                self._db.journal.before_delete("findings", superseded, (session, since, marks))
                db.execute(f"DELETE FROM findings WHERE {superseded}", (session, since, marks))
            places = ", ".join("?" * len(rows.FINDING_COLUMNS.split(", ")))
            new = 0
            for each in kept:
                self._db.journal.before_put("findings", each.id)
                db.execute(
                    f"INSERT OR IGNORE INTO findings ({rows.FINDING_COLUMNS}) VALUES ({places})",
                    rows.finding_row(each),
                )
                new += db.changes()
        return new

    def mark_promoted(self, finding: str, memory: str) -> None:
        with self._db.writing() as db:
            self._db.journal.before_put("findings", finding)
            db.execute("UPDATE findings SET promoted_to = ? WHERE id = ?", (memory, finding))

    def count_sightings(self, user_id: str, project_id: str | None, fingerprint: str) -> tuple[int, int]:
        query = (
            "SELECT count(DISTINCT coalesce(s.parent, s.id)), count(DISTINCT s.agent) FROM findings f"
            " JOIN sessions s ON s.id = f.session"
            " WHERE f.fingerprint = ? AND s.user_id = ? AND s.project_id IS ?"
        )
        with self._db.reading() as db:
            sessions, agents = next(db.execute(query, (fingerprint, user_id, project_id)))
        return int(sessions), int(agents)
