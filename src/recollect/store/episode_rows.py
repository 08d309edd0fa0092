"""What episodes are made of, and their rows: tools that ran, files they touched, tasks, patterns and learnings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import recollect.model as m

if TYPE_CHECKING:  # loads SQLite, which those who ask DuckDB do not need
    from recollect.store.connection import Value

TABLES = {
    "tool_executions": {
        "id": "BIGINT",
        "timestamp": "TIMESTAMP",
        "session_id": "VARCHAR",
        "task_id": "VARCHAR",
        "tool_name": "VARCHAR",
        "parameters": "VARCHAR",
        "result": "VARCHAR",
        "success": "BOOLEAN",
        "error_message": "VARCHAR",
        "duration_ms": "BIGINT",
        "context_tokens": "BIGINT",
        "project_id": "VARCHAR",
    },
    "file_interactions": {
        "id": "BIGINT",
        "timestamp": "TIMESTAMP",
        "session_id": "VARCHAR",
        "task_id": "VARCHAR",
        "file_path": "VARCHAR",
        "operation": "VARCHAR",
        "line_range": "VARCHAR",
        "success": "BOOLEAN",
        "context": "VARCHAR",
        "changes_summary": "VARCHAR",
        "project_id": "VARCHAR",
    },
    "task_history": {
        "id": "BIGINT",
        "task_id": "VARCHAR",
        "session_id": "VARCHAR",
        "description": "VARCHAR",
        "intent": "VARCHAR",
        "status": "VARCHAR",
        "started_at": "TIMESTAMP",
        "completed_at": "TIMESTAMP",
        "files_touched": "VARCHAR",
        "tools_used": "VARCHAR",
        "outcome": "VARCHAR",
        "project_id": "VARCHAR",
    },
    "context_snapshots": {
        "id": "BIGINT",
        "timestamp": "TIMESTAMP",
        "session_id": "VARCHAR",
        "task_id": "VARCHAR",
        "context_items": "VARCHAR",
        "total_tokens": "BIGINT",
        "pruned_items": "VARCHAR",
        "reason": "VARCHAR",
        "project_id": "VARCHAR",
    },
    "learned_patterns": {
        "id": "BIGINT",
        "pattern_type": "VARCHAR",
        "pattern_data": "VARCHAR",
        "confidence": "DOUBLE",
        "observed_count": "BIGINT",
        "first_seen": "TIMESTAMP",
        "last_seen": "TIMESTAMP",
        "project_id": "VARCHAR",
    },
    "session_learnings": {
        "id": "BIGINT",
        "session_id": "VARCHAR",
        "learning_type": "VARCHAR",
        "data": "VARCHAR",
        "confidence": "DOUBLE",
        "project_id": "VARCHAR",
    },
}
GROWING = frozenset({"tool_executions", "file_interactions", "context_snapshots"})  # rows never change


class Operation(StrEnum):
    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    SEARCH = "search"
    ANALYZE = "analyze"


class Status(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"


class Intent(StrEnum):
    READING = "CodeReading"
    WRITING = "CodeWriting"
    FIXING = "ProjectFixing"
    EXPLORING = "ProjectExploration"


@dataclass(frozen=True, slots=True)
class Owner:
    user_id: str
    project_id: str | None = None  # None = outside any project


@dataclass(frozen=True, slots=True)
class Execution:
    """A tool that ran. What is in it is redacted and bounded already."""

    key: str
    at: datetime
    session: str
    tool: str
    parameters: Mapping[str, Any]
    success: bool
    task: str | None = None
    result: Mapping[str, Any] | None = None  # None = not known
    error: str | None = None
    duration_ms: int | None = None  # None = not known
    context_tokens: int | None = None  # None = not known
    id: int = 0  # 0 = not kept yet


@dataclass(frozen=True, slots=True)
class Touch:
    """A file that something was done with."""

    key: str
    at: datetime
    session: str
    path: str
    operation: Operation
    success: bool = True
    task: str | None = None
    lines: tuple[int, int] | None = None  # None = all of it, or not known
    context: str | None = None  # what for
    changes: str | None = None
    id: int = 0


@dataclass(frozen=True, slots=True)
class Task:
    id: str
    session: str
    description: str
    started_at: datetime
    status: Status = Status.ACTIVE
    intent: Intent | None = None  # None = not clear yet
    completed_at: datetime | None = None
    files: tuple[str, ...] = ()
    tools: Mapping[str, int] = field(default_factory=dict)
    outcome: str = ""
    number: int = 0  # what people call it by


@dataclass(frozen=True, slots=True)
class Sighting:
    """Of a pattern, under a key that counts once."""

    kind: str
    name: str
    data: Mapping[str, Any]
    key: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Pattern:
    kind: str
    name: str  # what makes it the same pattern when it is seen again
    data: Mapping[str, Any]
    confidence: float
    count: int
    first_seen: datetime
    last_seen: datetime


@dataclass(frozen=True, slots=True)
class Learning:
    kind: str
    name: str
    data: Mapping[str, Any]
    confidence: float
    session: str


@dataclass(frozen=True, slots=True)
class FileTotal:
    """All that was ever done with a file, rows that have gone included."""

    reads: int = 0
    edits: int = 0
    last_seen: datetime | None = None  # None = never


EXECUTION_COLUMNS = (
    "key, timestamp, session_id, task_id, tool_name, parameters, result, success, error_message,"
    " duration_ms, context_tokens"
)
TOUCH_COLUMNS = (
    "key, timestamp, session_id, task_id, file_path, operation, line_range, success, context, changes_summary"
)
TASK_COLUMNS = (
    "task_id, session_id, description, intent, status, started_at, completed_at, files_touched, tools_used,"
    " outcome"
)


def execution_row(each: Execution) -> "tuple[Value, ...]":
    return (
        each.key,
        m.to_text(each.at),
        each.session,
        each.task,
        each.tool,
        m.dumps(each.parameters),
        None if each.result is None else m.dumps(each.result),
        int(each.success),
        each.error,
        each.duration_ms,
        each.context_tokens,
    )


def execution_from(row: Sequence[Any]) -> Execution:
    number, key, at, session, task, tool, parameters, result, success, error, duration, tokens = row
    return Execution(
        key,
        m.from_text(at),
        session,
        tool,
        json.loads(parameters),
        bool(success),
        task,
        None if result is None else json.loads(result),
        error,
        duration,
        tokens,
        number,
    )


def touch_row(touch: Touch) -> "tuple[Value, ...]":
    lines = None if touch.lines is None else m.dumps({"start": touch.lines[0], "end": touch.lines[1]})
    return (
        touch.key,
        m.to_text(touch.at),
        touch.session,
        touch.task,
        touch.path,
        str(touch.operation),
        lines,
        int(touch.success),
        touch.context,
        touch.changes,
    )


def touch_from(row: Sequence[Any]) -> Touch:
    number, key, at, session, task, path, operation, lines, success, context, changes = row
    span = json.loads(lines) if lines else None
    return Touch(
        key,
        m.from_text(at),
        session,
        path,
        Operation(operation),
        bool(success),
        task,
        (span["start"], span["end"]) if span else None,
        context,
        changes,
        number,
    )


def task_row(task: Task) -> "tuple[Value, ...]":
    return (
        task.id,
        task.session,
        task.description,
        task.intent,
        str(task.status),
        m.to_text(task.started_at),
        m.to_text(task.completed_at) if task.completed_at else None,
        m.dumps(task.files),
        m.dumps(task.tools),
        task.outcome,
    )


def task_from(row: Sequence[Any]) -> Task:
    number, name, session, description, intent, status, started, completed, files, tools, outcome = row
    return Task(
        name,
        session,
        description,
        m.from_text(started),
        Status(status),
        Intent(intent) if intent else None,
        m.from_text(completed) if completed else None,
        tuple(json.loads(files)),
        json.loads(tools),
        outcome or "",
        number,
    )


def pattern_from(row: Sequence[Any]) -> Pattern:
    kind, name, data, confidence, count, first, last = row
    return Pattern(kind, name, json.loads(data), confidence, count, m.from_text(first), m.from_text(last))
