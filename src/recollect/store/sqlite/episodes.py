"""Tools, files, tasks, snapshots, patterns and learnings in SQLite."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import apsw

import recollect.model as m
from recollect.model import (
    EPISODE_TABLES,
    CoEdit,
    ContextSnapshot,
    FileTotal,
    FileTouch,
    Owner,
    Pattern,
    PatternSighting,
    SessionLearning,
    Task,
    TaskStatus,
    ToolExecution,
)
from recollect.store.sqlite.connection import Database, Value
from recollect.store.sqlite.episode_rows import (
    EXECUTION_COLUMNS,
    TASK_COLUMNS,
    TOUCH_COLUMNS,
    execution_from,
    execution_row,
    pattern_from,
    task_from,
    task_row,
    touch_from,
    touch_row,
)

MOST_FILES = 200  # names that a task keeps
_AGING = ("tool_executions", "file_interactions", "context_snapshots")
_OWNED = (*EPISODE_TABLES, "tool_days", "file_totals")
_PAGE = 100_000  # rows read at once
_MINE = "user_id = ? AND project_id = ?"
_ADD_EXECUTION = f"INSERT OR IGNORE INTO tool_executions (user_id, project_id, {EXECUTION_COLUMNS}) VALUES ({', '.join('?' * 13)})"
_ADD_TOUCH = f"INSERT OR IGNORE INTO file_interactions (user_id, project_id, {TOUCH_COLUMNS}) VALUES ({', '.join('?' * 12)})"


class SqliteEpisodes:
    """Implements `EpisodeStore`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    # what was done

    def add(self, owner: Owner, executions: Iterable[ToolExecution], touches: Iterable[FileTouch]) -> int:
        tools: dict[str, Counter[str]] = defaultdict(Counter)
        files: dict[str, dict[str, None]] = defaultdict(dict)
        new = 0
        with self._db.writing() as db:
            for each in executions:
                db.execute(_ADD_EXECUTION, (*_mine(owner), *execution_row(each)))
                if db.changes():
                    new += 1
                    if each.task:
                        tools[each.task][each.tool] += 1
            for touch in touches:
                db.execute(_ADD_TOUCH, (*_mine(owner), *touch_row(touch)))
                if db.changes() and touch.task:
                    files[touch.task].setdefault(touch.path)
            for task in {*tools, *files}:
                _enrich(db, owner, task, tools[task], files[task])
        return new

    def touches(
        self,
        owner: Owner,
        *,
        path: str | None = None,
        like: str | None = None,
        task: str | None = None,
        session: str | None = None,
        limit: int = 5,
    ) -> list[FileTouch]:
        which, params = _MINE, list(_mine(owner))
        if session is not None:
            which, params = f"{which} AND session_id = ?", [*params, session]
        if path is not None:
            which, params = f"{which} AND file_path = ?", [*params, path]
        if like is not None:  # the names are few and indexed; the rows are many
            names = (
                "SELECT DISTINCT file_path FROM file_interactions WHERE user_id = ? AND project_id = ?"
                " AND file_path LIKE ? ESCAPE '\\'"
            )
            which, params = f"{which} AND file_path IN ({names})", [*params, *params, _anywhere(like)]
        if task is not None:
            which, params = "+user_id = ? AND +project_id = ? AND task_id = ?", [*params, task]
        query = f"SELECT id, {TOUCH_COLUMNS} FROM file_interactions WHERE {which} ORDER BY timestamp DESC, id DESC LIMIT ?"
        with self._db.reading() as db:
            return [touch_from(row) for row in db.execute(query, (*params, limit))]

    def paths_ending(self, owner: Owner, name: str) -> list[str]:
        query = (
            f"SELECT DISTINCT file_path FROM file_interactions WHERE {_MINE} AND file_path LIKE ? ESCAPE '\\'"
        )
        with self._db.reading() as db:
            return [str(row[0]) for row in db.execute(query, (*_mine(owner), f"%/{_literal(name)}"))]

    def total(self, owner: Owner, path: str) -> FileTotal:
        live = (
            "SELECT count(*) FILTER (WHERE operation = 'read'), count(*) FILTER (WHERE operation IN ('edit', 'write')),"
            f" max(timestamp) FROM file_interactions WHERE {_MINE} AND file_path = ?"
        )
        gone = f"SELECT reads, edits, last_seen FROM file_totals WHERE {_MINE} AND file_path = ?"
        with self._db.reading() as db:
            found = [
                *db.execute(live, (*_mine(owner), path)),
                *db.execute(gone, (*_mine(owner), path)),
            ]
            seen = [m.from_text(row[2]) for row in found if row[2]]
        return FileTotal(sum(row[0] for row in found), sum(row[1] for row in found), max(seen, default=None))

    def executions(
        self,
        owner: Owner,
        *,
        after: int = 0,
        session: str | None = None,
        task: str | None = None,
        before: int | None = None,
        limit: int,
    ) -> list[ToolExecution]:
        params: list[Value] = [*_mine(owner), after]
        which = "id > ?"
        for name, value in (("session_id", session), ("task_id", task)):
            if value is not None:
                which, params = f"{which} AND {name} = ?", [*params, value]
        if before is not None:
            which, params = f"{which} AND id < ?", [*params, before]
        query = (
            f"SELECT id, {EXECUTION_COLUMNS} FROM tool_executions WHERE {_MINE} AND {which}"
            f" ORDER BY id {'ASC' if before is None else 'DESC'} LIMIT ?"
        )
        with self._db.reading() as db:
            found = [execution_from(row) for row in db.execute(query, (*params, limit))]
        return found if before is None else found[::-1]

    # tasks

    def start(self, owner: Owner, task: Task, words: str) -> bool:
        with self._db.writing() as db:
            columns = ", ".join("?" * 13)
            db.execute(
                f"INSERT OR IGNORE INTO task_history (user_id, project_id, {TASK_COLUMNS}, words) VALUES ({columns})",
                (*_mine(owner), *task_row(task), words),
            )
            if not db.changes():
                return False
            if task.status is TaskStatus.ACTIVE:
                _pause_others(db, owner, task)
        return True

    def update(self, owner: Owner, task: Task) -> None:
        with self._db.writing() as db:
            db.execute(
                "UPDATE task_history SET status = ?, intent = ?, completed_at = ?, outcome = ?"
                f" WHERE task_id = ? AND {_MINE}",
                (
                    str(task.status),
                    task.intent,
                    m.to_text(task.completed_at) if task.completed_at else None,
                    task.outcome,
                    task.id,
                    *_mine(owner),
                ),
            )
            if task.status is TaskStatus.ACTIVE:
                _pause_others(db, owner, task)

    def task(self, owner: Owner, name: str) -> Task | None:
        numbered = name.isdecimal() and len(name) < 19  # fewer digits than the largest row number
        which = "id = ?" if numbered else "task_id = ?"
        found = self._tasks(f"WHERE {_MINE} AND {which}", *_mine(owner), int(name) if numbered else name)
        return found[0] if found else None

    def active(self, owner: Owner, session: str) -> Task | None:
        return next(
            iter(
                self._tasks(
                    f"WHERE {_MINE} AND status = 'active' AND session_id IN (?, '')"
                    " ORDER BY started_at DESC, id DESC LIMIT 1",
                    *_mine(owner),
                    session,
                )
            ),
            None,
        )

    def tasks(
        self, owner: Owner, statuses: Iterable[TaskStatus] = tuple(TaskStatus), limit: int = 20
    ) -> list[Task]:
        return self._tasks(
            f"WHERE {_MINE} AND status IN (SELECT value FROM json_each(?)) ORDER BY started_at DESC, id DESC LIMIT ?",
            *_mine(owner),
            json.dumps([str(each) for each in statuses]),
            limit,
        )

    def tasks_numbered(self, owner: Owner, numbers: Iterable[int]) -> list[Task]:
        return self._tasks(
            f"WHERE {_MINE} AND id IN (SELECT value FROM json_each(?))",
            *_mine(owner),
            json.dumps(list(numbers)),
        )

    def _tasks(self, which: str, *params: Value) -> list[Task]:
        with self._db.reading() as db:
            return [
                task_from(row)
                for row in db.execute(f"SELECT id, {TASK_COLUMNS} FROM task_history {which}", params)
            ]

    def tasks_with(self, owner: Owner, words: Sequence[str]) -> tuple[int, list[tuple[int, str]]]:
        any_of = " OR ".join(["instr(' ' || words || ' ', ?)"] * len(words)) or "0"
        with self._db.reading() as db:
            total = db.execute(f"SELECT count(*) FROM task_history WHERE {_MINE}", _mine(owner)).get
            query = f"SELECT id, words FROM task_history WHERE {_MINE} AND ({any_of})"
            found: list[Any] = list(db.execute(query, (*_mine(owner), *(f" {word} " for word in words))))
        return int(str(total)), found

    def task_vectors(self, owner: Owner, model: str) -> tuple[list[int], bytes]:
        query = (
            "SELECT v.id, v.vector FROM task_history t JOIN task_vectors v USING (id)"
            " WHERE t.user_id = ? AND t.project_id = ? AND v.model = ?"
        )
        with self._db.reading() as db:
            found = db.execute(query, (*_mine(owner), model)).fetchall()
        numbers: list[Any] = [row[0] for row in found]
        vectors: list[Any] = [row[1] for row in found]
        return numbers, b"".join(vectors)

    def without_vector(self, owner: Owner, model: str, limit: int) -> list[tuple[int, str]]:
        query = (
            f"SELECT id, description FROM task_history t WHERE {_MINE} AND NOT EXISTS"
            " (SELECT 1 FROM task_vectors v WHERE v.id = t.id AND v.model = ?) ORDER BY id DESC LIMIT ?"
        )
        with self._db.reading() as db:
            return list(db.execute(query, (*_mine(owner), model, limit)))

    def put_vectors(self, model: str, vectors: Iterable[tuple[int, bytes]]) -> None:
        with self._db.writing() as db:
            db.executemany(
                "INSERT OR REPLACE INTO task_vectors SELECT ?1, ?2, ?3 WHERE ?1 IN (SELECT id FROM task_history)",
                ((number, model, vector) for number, vector in vectors),
            )

    # snapshots

    def put_snapshot(
        self,
        owner: Owner,
        session: str,
        at: datetime,
        items: Sequence[Mapping[str, Any]],
        total_tokens: int,
        pruned: Sequence[Mapping[str, Any]],
        reason: str,
        task: str | None,
    ) -> int:
        with self._db.writing() as db:
            db.execute(
                "INSERT INTO context_snapshots (user_id, project_id, timestamp, session_id, task_id, context_items,"
                " total_tokens, pruned_items, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *_mine(owner),
                    m.to_text(at),
                    session,
                    task,
                    m.dumps(list(items)),
                    total_tokens,
                    m.dumps(list(pruned)),
                    reason,
                ),
            )
            return int(db.last_insert_rowid())

    def snapshots(self, owner: Owner, session: str, limit: int = 100) -> list[ContextSnapshot]:
        query = (
            "SELECT id, timestamp, context_items, total_tokens, pruned_items, reason, task_id FROM context_snapshots"
            f" WHERE {_MINE} AND session_id = ? ORDER BY id DESC LIMIT ?"
        )
        with self._db.reading() as db:
            rows: list[Any] = db.execute(query, (*_mine(owner), session, limit)).fetchall()
            return [
                ContextSnapshot(
                    number,
                    m.from_text(at),
                    tuple(json.loads(items)),
                    total,
                    tuple(json.loads(pruned or "[]")),
                    reason,
                    task,
                )
                for number, at, items, total, pruned, reason, task in reversed(rows)
            ]

    # patterns and learnings

    def add_sighting(self, owner: Owner, seen: PatternSighting) -> None:
        when = m.to_text(seen.at)
        with self._db.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO learned_patterns (user_id, project_id, pattern_type, name, pattern_data,"
                " confidence, observed_count, first_seen, last_seen) VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?)",
                (*_mine(owner), seen.kind, seen.name, m.dumps(seen.data), when, when),
            )
            which = f"{_MINE} AND pattern_type = ? AND name = ?"
            name = (*_mine(owner), seen.kind, seen.name)
            number = db.execute(f"SELECT id FROM learned_patterns WHERE {which}", name).get
            db.execute("INSERT OR IGNORE INTO pattern_sightings VALUES (?, ?)", (seen.key, number))
            db.execute(
                "UPDATE learned_patterns SET observed_count = observed_count + ?4,"
                " confidence = (observed_count + ?4) / (observed_count + ?4 + 1.0), pattern_data = ?2,"
                " first_seen = min(first_seen, ?3), last_seen = max(last_seen, ?3) WHERE id = ?1",
                (number, m.dumps(seen.data), when, db.changes()),
            )

    def put_patterns(self, owner: Owner, kind: str, patterns: Iterable[Pattern]) -> None:
        with self._db.writing() as db:
            db.executemany(
                "INSERT INTO learned_patterns (user_id, project_id, pattern_type, name, pattern_data, confidence,"
                " observed_count, first_seen, last_seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET pattern_data = excluded.pattern_data, confidence = excluded.confidence,"
                " observed_count = excluded.observed_count, first_seen = min(first_seen, excluded.first_seen),"
                " last_seen = max(last_seen, excluded.last_seen)",
                (
                    (
                        *_mine(owner),
                        kind,
                        each.name,
                        m.dumps(each.data),
                        each.confidence,
                        each.count,
                        m.to_text(each.first_seen),
                        m.to_text(each.last_seen),
                    )
                    for each in patterns
                ),
            )

    def patterns(self, owner: Owner, kind: str | None = None, limit: int = 1000) -> list[Pattern]:
        query = (
            "SELECT pattern_type, name, pattern_data, confidence, observed_count, first_seen, last_seen"
            f" FROM learned_patterns WHERE {_MINE} AND (?3 IS NULL OR pattern_type = ?3) AND observed_count > 0"
            " ORDER BY confidence DESC, observed_count DESC, last_seen DESC LIMIT ?4"
        ).replace(_MINE, "user_id = ?1 AND project_id = ?2")
        with self._db.reading() as db:
            return [pattern_from(row) for row in db.execute(query, (*_mine(owner), kind, limit))]

    def put_learning(self, owner: Owner, learning: SessionLearning) -> None:
        with self._db.writing() as db:
            db.execute(
                "INSERT INTO session_learnings (user_id, project_id, session_id, learning_type, name, data, confidence)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET session_id = excluded.session_id,"
                " data = excluded.data, confidence = excluded.confidence",
                (
                    *_mine(owner),
                    learning.session,
                    learning.kind,
                    learning.name,
                    m.dumps(learning.data),
                    learning.confidence,
                ),
            )

    def learnings(self, owner: Owner, kind: str | None = None) -> list[SessionLearning]:
        query = (
            "SELECT learning_type, name, data, confidence, session_id FROM session_learnings"
            " WHERE user_id = ?1 AND project_id = ?2 AND (?3 IS NULL OR learning_type = ?3) ORDER BY confidence DESC, id"
        )
        with self._db.reading() as db:
            found = db.execute(query, (*_mine(owner), kind))
            return [SessionLearning(row[0], row[1], json.loads(row[2]), row[3], row[4]) for row in found]

    # columns, for those who count

    def columns(
        self, table: str, names: Sequence[str], user_id: str, project_id: str | None
    ) -> Iterator[list[tuple[Any, ...]]]:
        kinds = EPISODE_TABLES[table]
        # numpy reads times without a zone only.
        wanted = ", ".join(f"substr({name}, 1, 26)" if kinds[name] == "TIMESTAMP" else name for name in names)
        query = (
            f"SELECT {wanted} FROM {table} WHERE user_id = ?1 AND (?2 IS NULL OR project_id = ?2) ORDER BY id"
        )
        with self._db.reading() as db:
            found = db.execute(query, (user_id, project_id))
            while page := list(islice(found, _PAGE)):
                yield list(zip(*page, strict=True))

    def tool_use(self, owner: Owner, since: datetime) -> list[tuple[str, int, int, int, int]]:
        query = """
            SELECT tool_name, sum(executions), sum(successes), sum(timed), sum(duration_ms) FROM (
                SELECT tool_name, count(*) AS executions, sum(success) AS successes, count(duration_ms) AS timed,
                    coalesce(sum(duration_ms), 0) AS duration_ms
                FROM tool_executions WHERE user_id = ?1 AND project_id = ?2 AND timestamp >= ?3 GROUP BY tool_name
                UNION ALL
                SELECT tool_name, executions, successes, timed, duration_ms FROM tool_days
                WHERE user_id = ?1 AND project_id = ?2 AND day >= ?4
            ) GROUP BY tool_name
        """
        then = m.to_text(since)
        with self._db.reading() as db:
            return list(db.execute(query, (*_mine(owner), then, then[:10])))

    def tool_days(self, owner: Owner, since: datetime) -> list[tuple[str, int, int]]:
        query = (
            "SELECT substr(timestamp, 1, 10) AS day, sum(success), count(*) - sum(success) FROM tool_executions"
            f" WHERE {_MINE} AND timestamp >= ? GROUP BY day ORDER BY day"
        )
        with self._db.reading() as db:
            return list(db.execute(query, (*_mine(owner), m.to_text(since))))

    def co_edits(
        self, owner: Owner, within: timedelta, fewest: int, path: str | None, limit: int
    ) -> list[CoEdit]:
        query = """
            WITH edits AS MATERIALIZED (
                SELECT task_id, file_path, timestamp, unixepoch(timestamp, 'subsec') AS at FROM file_interactions
                WHERE user_id = ?1 AND project_id = ?2 AND operation IN ('edit', 'write') AND success
                    AND task_id IS NOT NULL
            )
            SELECT one.file_path, other.file_path, count(*) AS times, min(one.timestamp), max(other.timestamp)
            FROM edits one JOIN edits other ON one.task_id = other.task_id AND one.file_path < other.file_path
                AND abs(other.at - one.at) <= ?3
            WHERE ?5 IS NULL OR ?5 IN (one.file_path, other.file_path)
            GROUP BY 1, 2 HAVING count(*) >= ?4 ORDER BY times DESC, 1, 2 LIMIT ?6
        """
        given = (*_mine(owner), within.total_seconds(), fewest, path, limit)
        with self._db.reading() as db:
            return [
                CoEdit((one, other), times, m.from_text(first), m.from_text(last))
                for one, other, times, first, last in db.execute(query, given)
            ]

    # growing old

    def size(self) -> int:
        with self._db.reading() as db:
            return sum(
                int(str(db.execute(f"SELECT count(*) FROM {table}").get))
                for table in ("tool_executions", "file_interactions")
            )

    def time_of_row(self, place: int) -> datetime | None:
        query = (
            "SELECT timestamp FROM tool_executions UNION ALL SELECT timestamp FROM file_interactions"
            " ORDER BY timestamp LIMIT 1 OFFSET ?"
        )
        with self._db.reading() as db:
            found = db.execute(query, (place,)).get
            return m.from_text(str(found)) if found else None

    def roll_up(self, before: datetime) -> int:
        then = m.to_text(before)
        with (
            self._db.reading() as db
        ):  # usually there is nothing to do, and no need to wait for the write lock
            old = " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE timestamp < ?1)" for table in _AGING)
            if not db.execute(f"SELECT {old}", (then,)).get:
                return 0
        with self._db.writing() as db:
            db.execute(_ROLL_TOOLS, (then,))
            db.execute(_ROLL_FILES, (then,))
            gone = 0
            for table in _AGING:
                db.execute(f"DELETE FROM {table} WHERE timestamp < ?", (then,))
                gone += db.changes()
        return gone


_ROLL_TOOLS = """
    INSERT INTO tool_days
    SELECT user_id, project_id, substr(timestamp, 1, 10), tool_name, count(*), sum(success), count(duration_ms),
        coalesce(sum(duration_ms), 0)
    FROM tool_executions WHERE timestamp < ? GROUP BY 1, 2, 3, 4
    ON CONFLICT DO UPDATE SET executions = executions + excluded.executions,
        successes = successes + excluded.successes, timed = timed + excluded.timed,
        duration_ms = duration_ms + excluded.duration_ms
"""
_ROLL_FILES = """
    INSERT INTO file_totals
    SELECT user_id, project_id, file_path, count(*) FILTER (WHERE operation = 'read'),
        count(*) FILTER (WHERE operation IN ('edit', 'write')), max(timestamp)
    FROM file_interactions WHERE timestamp < ? GROUP BY 1, 2, 3
    ON CONFLICT DO UPDATE SET reads = reads + excluded.reads, edits = edits + excluded.edits,
        last_seen = max(last_seen, excluded.last_seen)
"""


def clear(db: apsw.Connection, user_id: str, project_id: str | None) -> None:
    """Delete everything of a project, or everything of the user if `project_id` is None."""
    for table in _OWNED:
        db.execute(
            f"DELETE FROM {table} WHERE user_id = ?1 AND (?2 IS NULL OR project_id = ?2)",
            (user_id, project_id),
        )


def _mine(owner: Owner) -> tuple[str, str]:
    return owner.user_id, owner.project_id or ""


def _pause_others(db: apsw.Connection, owner: Owner, task: Task) -> None:
    db.execute(
        f"UPDATE task_history SET status = 'paused' WHERE {_MINE} AND session_id = ? AND status = 'active'"
        " AND task_id <> ?",
        (*_mine(owner), task.session, task.id),
    )


def _enrich(
    db: apsw.Connection, owner: Owner, task: str, tools: Mapping[str, int], files: Iterable[str]
) -> None:
    query = f"SELECT files_touched, tools_used FROM task_history WHERE task_id = ? AND {_MINE}"
    known = db.execute(query, (task, *_mine(owner))).fetchone()
    if known is None:
        return
    touched = list(dict.fromkeys([*json.loads(known[0]), *files]))[:MOST_FILES]
    used = Counter(json.loads(known[1])) + Counter(tools)
    db.execute(
        "UPDATE task_history SET files_touched = ?, tools_used = ? WHERE task_id = ?",
        (m.dumps(touched), m.dumps(used), task),
    )


def _literal(text: str) -> str:
    """Return `text` with the wildcards of LIKE escaped."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _anywhere(text: str) -> str:
    return f"%{_literal(text)}%"
