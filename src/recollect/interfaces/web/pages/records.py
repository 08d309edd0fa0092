"""*Records*: the audit log and its verification, redactions, what was deleted, and what is measured."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from starlette.responses import Response

import recollect.model as m
from recollect.frozen import frozen
from recollect.interfaces.web.charts import line
from recollect.interfaces.web.history import in_words
from recollect.interfaces.web.language import text, texts
from recollect.interfaces.web.page import Page, WebRequest
from recollect.memory.maintenance.undo import GRACE

LINES = 100  # of the audit log on a page
READ = 5000  # lines that are read for redactions: as many as the log keeps before it is archived
DELETED = 200
PARTS = (
    ("/records", text("Audit")),
    ("/records/redactions", text("Redactions")),
    ("/records/deleted", text("Deleted")),
    ("/records/metrics", text("Metrics")),
)


@frozen
class ForgottenProject:
    """A project that was forgotten as a whole and can be restored."""

    project: m.Project
    at: datetime
    change: m.Change
    days_left: int


def show(request: WebRequest) -> Response:
    """Show the audit log, newest first; on request with its verification, which reads all of it."""
    engine = request.engine
    lines = engine.audit(READ)
    action = request.get("action")
    chosen = [entry for entry in lines if not action or entry.action == action]
    return request.render(
        "records.html",
        parts=PARTS,
        lines=[in_words(entry) for entry in chosen[:LINES]],
        count=len(chosen),
        actions=sorted({entry.action for entry in lines}),
        action=action,
        check=engine.care.verify_audit() if request.get("verify") == "1" else None,
        memories=_memories(request, chosen[:LINES]),
    )


def show_redactions(request: WebRequest) -> Response:
    """Show when and where something was redacted. The secret itself was never stored."""
    lines = [entry for entry in request.engine.audit(READ) if entry.action == "redact"]
    return request.render(
        "redactions.html",
        parts=PARTS,
        lines=lines[:LINES],
        count=len(lines),
        memories=_memories(request, lines[:LINES]),
    )


def show_deleted(request: WebRequest) -> Response:
    """Show deleted memories and projects, each with the days that are left to restore it."""
    engine = request.engine
    now = engine.context.clock()
    view = engine.context.full_view(this_project=not request.all_projects)
    gone = engine.store.newest(replace(view, states=frozenset({m.State.DELETED})), limit=DELETED)
    return request.render(
        "deleted.html",
        parts=PARTS,
        memories=[(memory, _days_left(memory.deleted_at, now)) for memory in gone],
        forgotten=_forgotten(request, now),
        grace=GRACE.days,
    )


def show_metrics(request: WebRequest) -> Response:
    """Show what is counted and timed."""
    figures = request.engine.stats()
    timings = figures["measures"]["timings"]
    charts = {name: line([median for _, median in timing["daily"]]) for name, timing in timings.items()}
    return request.render(
        "metrics.html", parts=PARTS, figures=figures, measures=figures["measures"], charts=charts
    )


def restore_project(request: WebRequest) -> Response:
    """Restore a project as it was when it was forgotten; that is a change, so it can be undone."""
    undone = request.engines.engine_for(request.params["id"]).care.restore_project()
    count = len(undone.restored)
    message = texts("Restored the project with %d memory.", "Restored the project with %d memories.", count)
    return request.done(message % count, undone.undo)


def restore_memory(request: WebRequest) -> Response:
    """Restore a memory that was forgotten."""
    memory = request.engine.get(request.params["id"])
    engine = request.engine_of(memory)
    change = engine.context.new_change("restore")
    engine.memory.restore(memory.id, change=change)
    return request.done(text("Restored."), change.id)


def _memories(request: WebRequest, lines: Sequence[m.AuditLine]) -> dict[str, m.Memory]:
    """Return the user's memories that the lines are about, by id."""
    names = {entry.memory_id for entry in lines if entry.memory_id}
    names |= {value for entry in lines for value in entry.detail.values() if isinstance(value, str)}
    found = request.engine.store.get_many(sorted(names))
    return {
        name: memory for name, memory in found.items() if memory.user_id == request.engine.context.user_id
    }


def _days_left(at: datetime | None, now: datetime) -> int:
    return max((GRACE - (now - (at or now))).days, 0)


def _forgotten(request: WebRequest, now: datetime) -> list[ForgottenProject]:
    store, user_id = request.engine.store, request.engine.context.user_id
    found = []
    for project in store.projects():
        mark = store.setting(project.id, m.FORGOTTEN_SETTING)
        if mark is None or now - m.from_text(mark["at"]) > GRACE:
            continue
        change = store.changes.get(user_id, mark["change"])
        if change.undone_at is None:
            at = m.from_text(mark["at"])
            found.append(ForgottenProject(project, at, change, _days_left(at, now)))
    return found


PAGE = Page(
    "records",
    text("Records"),
    "/records",
    show,
    key="l",
    icon="records",
    more={
        "/records/redactions": show_redactions,
        "/records/deleted": show_deleted,
        "/records/metrics": show_metrics,
    },
    actions={
        "/records/projects/{id}/restore": restore_project,
        "/records/memories/{id}/restore": restore_memory,
    },
)
