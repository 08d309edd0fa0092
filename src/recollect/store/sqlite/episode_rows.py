"""Tool executions, file uses, tasks and patterns as rows of a table, and back."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.model import FileOperation, FileTouch, Pattern, Task, TaskIntent, TaskStatus, ToolExecution

if TYPE_CHECKING:
    from recollect.store.sqlite.connection import Value

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


def execution_row(each: ToolExecution) -> "tuple[Value, ...]":
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


def execution_from(row: Sequence[Any]) -> ToolExecution:
    number, key, at, session, task, tool, parameters, result, success, error, duration, tokens = row
    return ToolExecution(
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


def touch_row(touch: FileTouch) -> "tuple[Value, ...]":
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


def touch_from(row: Sequence[Any]) -> FileTouch:
    number, key, at, session, task, path, operation, lines, success, context, changes = row
    span = json.loads(lines) if lines else None
    return FileTouch(
        key,
        m.from_text(at),
        session,
        path,
        FileOperation(operation),
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
        TaskStatus(status),
        TaskIntent(intent) if intent else None,
        m.from_text(completed) if completed else None,
        tuple(json.loads(files)),
        json.loads(tools),
        outcome or "",
        number,
    )


def pattern_from(row: Sequence[Any]) -> Pattern:
    kind, name, data, confidence, count, first, last = row
    return Pattern(kind, name, json.loads(data), confidence, count, m.from_text(first), m.from_text(last))
