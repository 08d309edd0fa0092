"""Tool executions, file uses, tasks and patterns as rows of a table, and back."""

import json

import recollect.model as m
from recollect.model import FileOperation, FileTouch, Pattern, Task, TaskIntent, TaskStatus, ToolExecution
from recollect.store.columns import (
    BOOLEAN,
    JSON,
    OPTIONAL_TIME,
    PLAIN,
    STRINGS,
    TIME,
    Column,
    RowMapper,
    optional,
)


def _write_lines(lines: tuple[int, int]) -> str:
    return m.dumps({"start": lines[0], "end": lines[1]})


def _read_lines(text: str) -> tuple[int, int]:
    span = json.loads(text)
    return span["start"], span["end"]


_EXECUTIONS = {
    "key": PLAIN,
    "timestamp": TIME.of("at"),
    "session_id": PLAIN.of("session"),
    "task_id": PLAIN.of("task"),
    "tool_name": PLAIN.of("tool"),
    "parameters": JSON,
    "result": optional(JSON),
    "success": BOOLEAN,
    "error_message": PLAIN.of("error"),
    "duration_ms": PLAIN,
    "context_tokens": PLAIN,
}
EXECUTION_COLUMNS = ", ".join(_EXECUTIONS)
execution_row = RowMapper(ToolExecution, _EXECUTIONS).row
execution_from = RowMapper(ToolExecution, {"id": PLAIN, **_EXECUTIONS}).item

_TOUCHES = {
    "key": PLAIN,
    "timestamp": TIME.of("at"),
    "session_id": PLAIN.of("session"),
    "task_id": PLAIN.of("task"),
    "file_path": PLAIN.of("path"),
    "operation": Column(str, FileOperation),
    "line_range": optional(Column(_write_lines, _read_lines, "lines")),
    "success": BOOLEAN,
    "context": PLAIN,
    "changes_summary": PLAIN.of("changes"),
}
TOUCH_COLUMNS = ", ".join(_TOUCHES)
touch_row = RowMapper(FileTouch, _TOUCHES).row
touch_from = RowMapper(FileTouch, {"id": PLAIN, **_TOUCHES}).item

_TASKS = {
    "task_id": PLAIN.of("id"),
    "session_id": PLAIN.of("session"),
    "description": PLAIN,
    "intent": Column(read=lambda intent: TaskIntent(intent) if intent else None),
    "status": Column(str, TaskStatus),
    "started_at": TIME,
    "completed_at": OPTIONAL_TIME,
    "files_touched": STRINGS.of("files"),
    "tools_used": JSON.of("tools"),
    "outcome": Column(read=lambda outcome: outcome or ""),
}
TASK_COLUMNS = ", ".join(_TASKS)
task_row = RowMapper(Task, _TASKS).row
task_from = RowMapper(Task, {"number": PLAIN, **_TASKS}).item

pattern_from = RowMapper(
    Pattern,
    {
        "kind": PLAIN,
        "name": PLAIN,
        "data": JSON,
        "confidence": PLAIN,
        "count": PLAIN,
        "first_seen": TIME,
        "last_seen": TIME,
    },
).item
