"""What agents did: tools that ran, files they used, tasks, and the patterns found in them."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.frozen import frozen

# The tables that `recollect history --sql` can query, with the types of their columns in DuckDB.
EPISODE_TABLES = {
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


class FileOperation(StrEnum):
    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    SEARCH = "search"
    ANALYZE = "analyze"


class TaskStatus(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"


class TaskIntent(StrEnum):
    READING = "CodeReading"
    WRITING = "CodeWriting"
    FIXING = "ProjectFixing"
    EXPLORING = "ProjectExploration"


@frozen
class Owner:
    user_id: str
    project_id: str | None = None  # None = outside any project


@frozen
class ToolExecution:
    """A tool that ran. Its values are redacted and bounded already."""

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


@frozen
class FileTouch:
    """One use of a file."""

    key: str
    at: datetime
    session: str
    path: str
    operation: FileOperation
    success: bool = True
    task: str | None = None
    lines: tuple[int, int] | None = None  # None = all of it, or not known
    context: str | None = None  # what for
    changes: str | None = None
    id: int = 0


@frozen
class Task:
    id: str
    session: str
    description: str
    started_at: datetime
    status: TaskStatus = TaskStatus.ACTIVE
    intent: TaskIntent | None = None  # None = not clear yet
    completed_at: datetime | None = None
    files: tuple[str, ...] = ()
    tools: Mapping[str, int] = field(default_factory=dict)
    outcome: str = ""
    number: int = 0  # the short number shown to people


@frozen
class ContextSnapshot:
    """What a context window held at one time, item by item, without texts."""

    id: int
    at: datetime
    items: tuple[Mapping[str, Any], ...]  # with id, type, tokens and relevance, as far as they are known
    total_tokens: int
    pruned: tuple[Mapping[str, Any], ...]  # that were removed from the window
    reason: str
    task: str | None = None


@frozen
class CoEdit:
    """Two files that were edited together, and how often."""

    files: tuple[str, str]
    count: int
    first_seen: datetime
    last_seen: datetime


@frozen
class PatternSighting:
    """One sighting of a pattern; each key counts once."""

    kind: str
    name: str
    data: Mapping[str, Any]
    key: str
    at: datetime


CO_EDIT, ERROR_FIX, REFACTOR, WORKFLOW = "co-edit", "error-fix", "refactor", "workflow"  # kinds of patterns
FILE_PURPOSE, COMMON_ERROR, WORKFLOW_LEARNT = "file_purpose", "common_error", "workflow"  # kinds of learnings


@frozen
class Pattern:
    kind: str
    name: str  # what makes it the same pattern when it is seen again
    data: Mapping[str, Any]
    confidence: float
    count: int
    first_seen: datetime
    last_seen: datetime


@frozen
class SessionLearning:
    kind: str
    name: str
    data: Mapping[str, Any]
    confidence: float
    session: str


@frozen
class FileTotal:
    """All uses of a file, including rows that were rolled up."""

    reads: int = 0
    edits: int = 0
    last_seen: datetime | None = None  # None = never
