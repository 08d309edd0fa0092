"""*Sessions*: what was said, done and learnt, what agents were told and why, and what they would be told now."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from starlette.responses import Response

import recollect.model as m
from recollect.errors import SessionNotFound
from recollect.interfaces.web.language import text
from recollect.interfaces.web.page import Page, WebRequest

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.work.sessions.timeline import TimelineEntry

SHOWN = 50  # sessions on a page of the list
ENTRIES = 200  # of a session's timeline on one page

# Why something was said, by the tier it is in.
REASONS = {
    "always": text("a rule of yours, or pinned: said at every start"),
    "map": text("about the project and the modules of the task"),
    "files": text("a file that the prompt is probably about"),
    "fixes": text("it fixed a failure like this one before"),
    "bridge": text("found a moment ago in another session"),
    "task": text("it fits what was asked"),
    "summaries": text("what the last sessions did"),
    "conflict": text("it contradicts something that was shown"),
}
MOMENTS = {
    "start": text("at the start of the session"),
    "prompt": text("with a prompt"),
    "before_tool": text("before a tool"),
    "file_opened": text("with a file that it opened"),
    "after_failure": text("after a failure"),
    "after_compaction": text("after the context was compacted"),
    "on_request": text("because the agent asked"),
    "turn_end": text("at the end of a turn"),
}


def show(request: WebRequest) -> Response:
    """Show the sessions, newest first."""
    engine = request.engine
    query = request.get("q").strip()
    hits = engine.search_sessions(query, SHOWN, all_projects=request.all_projects) if query else ()
    if query:
        found = [engine.store.get_session(hit.session) for hit in hits]
        sessions = [session for session in found if session is not None]
    else:
        wanted = request.get("n")
        sessions = newest_sessions(request, SHOWN, int(wanted) if wanted.isdigit() and len(wanted) < 7 else 0)
    deliveries = {
        session.id: engine.store.deliveries.of_session(session.user_id, session.id) for session in sessions
    }
    return request.render(
        "sessions.html",
        sessions=sessions,
        told={
            name: (sum(bool(record.text) for record in records), sum(record.tokens for record in records))
            for name, records in deliveries.items()
        },
        learnt={
            session.id: sum(finding.promoted_to is not None for finding in engine.store.findings(session.id))
            for session in sessions
        },
        query=query,
        hits={hit.session: hit.best for hit in hits},
    )


def newest_sessions(request: WebRequest, limit: int, skipped: int = 0) -> list[m.Session]:
    """Return the sessions of the project, or of all, newest first."""
    engine = request.engine
    projects: list[str | None] = [engine.context.project_id]
    if request.all_projects:
        projects = [None, *(project.id for project in request.engines.projects())]
    found = [
        session
        for project in projects
        for session in engine.store.sessions(engine.context.user_id, project, skipped + limit)
    ]
    found.sort(key=lambda session: session.started_at, reverse=True)
    return found[skipped : skipped + limit]


def show_one(request: WebRequest) -> Response:
    """Show one session: its timeline, what the agent was told, and what was learnt from it."""
    engine, session = _find(request)
    timeline = engine.sessions.timeline(session.id)
    kind = request.get("show")
    entries = [entry for entry in timeline.entries if not kind or entry.kind == kind]
    first = _place(request, len(entries))
    return request.render(
        "session.html",
        timeline=timeline,
        session=session,
        entries=entries[first : first + ENTRIES],
        first=first,
        count=len(entries),
        page_size=ENTRIES,
        kind=kind,
        memories=_memories(engine, timeline.told, timeline.entries),
        counts={
            name: sum(entry.kind == name for entry in timeline.entries)
            for name in ("said", "tool", "told", "learnt")
        },
        reasons=REASONS,
        moments=MOMENTS,
    )


def show_replay(request: WebRequest) -> Response:
    """Show what the session was told beside what it would be told now. Looking changes nothing."""
    engine, session = _find(request)
    replay = engine.delivery.replay(session)
    shown = {item.key for step in replay.steps for item in step.now.shown}
    return request.render(
        "replay.html",
        session=session,
        replay=replay,
        memories=engine.store.get_many(sorted(shown)),
        reasons=REASONS,
        moments=MOMENTS,
    )


def _find(request: WebRequest) -> "tuple[Engine, m.Session]":
    """Return the session in the address, with the engine of its project."""
    name = request.get("id")
    session = request.engines.first.store.get_session(name)
    if session is None or session.user_id != request.engine.context.user_id:
        raise SessionNotFound(name)
    return request.engines.engine_for(session.project_id), session


def _place(request: WebRequest, count: int) -> int:
    wanted = request.get("from")
    return min(int(wanted), max(count - 1, 0)) if wanted.isdigit() and len(wanted) < 9 else 0


def _memories(
    engine: "Engine", told: Iterable[m.DeliveryRecord], entries: "Sequence[TimelineEntry]"
) -> dict[str, m.Memory]:
    """Return the memories that the page names, by id."""
    names = {item.key for record in told for item in record.items}
    names |= {
        entry.item.promoted_to
        for entry in entries
        if isinstance(entry.item, m.Finding) and entry.item.promoted_to
    }
    return engine.store.get_many(sorted(names))


PAGE = Page(
    "sessions",
    text("Sessions"),
    "/sessions",
    show,
    key="s",
    icon="sessions",
    more={"/session": show_one, "/session/replay": show_replay},
)
