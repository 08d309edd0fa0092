"""The tool that answers questions about past work."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from recollect.errors import Refused
from recollect.interfaces.mcp.answers import PastAction, PastWork
from recollect.interfaces.mcp.requests import ToolContext
from recollect.interfaces.mcp.toolbox import READS, Answer, Toolbox

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.model import Task

MOST = 20
WEEK = timedelta(days=7)

Question = Literal["like", "file", "topic", "doing", "tasks", "together", "tools", "fix"]
Limit = Annotated[int, Field(ge=1, le=MOST)]


def add_work_tools(box: Toolbox) -> None:
    @box.tool("Work history", READS, **dict.fromkeys(("query", "task", "text", "file", "topic"), "about"))
    async def work_history(
        question: Annotated[
            Question,
            Field(
                description="like: tasks like this one, with their outcome and files. file: what was done with a file."
                " topic: the last work on a topic. doing: unfinished tasks. tasks: the newest. together: files"
                " edited together (with this one). tools: how often each tool worked in the last week. fix: what"
                " fixed a failure like this."
            ),
        ],
        about: Annotated[
            str,
            Field(
                description="The task, file, topic, or the failing output; not used for doing, tasks and tools."
            ),
        ] = "",
        limit: Limit = 5,
    ) -> Annotated[Answer, PastWork]:
        """Ask what earlier sessions of this project did. Use it when you begin a task (`like`), when a command or test
        fails (`fix`), and before you call an edit complete (`together`)."""
        return await box.answer(lambda context: ask_history(context, question, about, limit))


def ask_history(context: ToolContext, question: str, about: str, limit: int) -> tuple[PastWork, str]:
    if question in ("like", "file", "topic", "fix") and not about.strip():
        raise Refused(f"{question} needs `about`.", "Name the task, file, topic or error.")
    actions = _QUESTIONS[question](context.engine, about, limit)
    return PastWork(actions), "\n".join(map(_line, actions)) or "No such work is recorded."


def _line(action: PastAction) -> str:
    files = f" [{', '.join(action.files)}]" if action.files else ""
    return (
        " ".join(filter(None, (action.at, action.what, f"→ {action.outcome}" if action.outcome else "")))
        + files
    )


def _task(task: "Task") -> PastAction:
    return PastAction(
        task.description, _day(task.started_at), task.outcome or task.status, list(task.files)[:10]
    )


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"


def _like(engine: "Engine", about: str, limit: int) -> list[PastAction]:
    return [_task(each.task) for each in engine.episodes.similar_tasks(about, limit)]


def _file(engine: "Engine", about: str, limit: int) -> list[PastAction]:
    history = engine.episodes.file(about, limit)
    return [
        PastAction(f"{touch.operation} {history.path}", _day(touch.at), touch.changes or "", [])
        for touch in history.touches
    ]


def _topic(engine: "Engine", about: str, limit: int) -> list[PastAction]:
    found = engine.episodes.last(about, limit)
    touched = [
        PastAction(f"{touch.operation} {touch.path}", _day(touch.at), "", []) for touch in found.touches
    ]
    return [*map(_task, found.tasks), *touched][:limit]


def _doing(engine: "Engine", about: str, limit: int) -> list[PastAction]:
    return [_task(each) for each in engine.episodes.what_was_i_doing(limit)]


def _tasks(engine: "Engine", about: str, limit: int) -> list[PastAction]:
    return [_task(each) for each in engine.episodes.tasks(None, limit)]


def _together(engine: "Engine", about: str, limit: int) -> list[PastAction]:
    return [
        PastAction(f"{each.count} times together", _day(each.last_seen), "", list(each.files))
        for each in engine.episodes.coedits(about or None, limit)
    ]


def _tools(engine: "Engine", about: str, limit: int) -> list[PastAction]:
    from recollect.model import utc_now

    since = utc_now() - WEEK
    return [
        PastAction(f"{each.tool}: {each.total:,} runs", "", f"{each.rate:.0%} worked", [])
        for each in engine.episodes.tools(since)[:limit]
    ]


def _fix(engine: "Engine", about: str, limit: int) -> list[PastAction]:
    return [
        PastAction(fix.text, _day(fix.last_seen), f"worked {fix.count} times", list(fix.files))
        for fix in engine.episodes.fixes_for(about, limit=limit)
    ]


_QUESTIONS: "dict[str, Callable[[Engine, str, int], list[PastAction]]]" = {
    "like": _like,
    "file": _file,
    "topic": _topic,
    "doing": _doing,
    "tasks": _tasks,
    "together": _together,
    "tools": _tools,
    "fix": _fix,
}
