"""What a briefing is made from: pinned and standing memories, hits for the task, findings of other sessions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import UnknownName
from recollect.kinds import KINDS
from recollect.memory import ranking
from recollect.memory.anchors.stale import stale_in
from recollect.memory.briefing.briefing import MOST_PINNED, BriefingContent
from recollect.memory.search.search import Searcher, SearchQuery
from recollect.memory.search.triggers import matching, warning_view

if TYPE_CHECKING:
    from recollect.code.modules.module_map import ModuleCard

STANDING_KINDS = frozenset(kind.name for kind in KINDS.values() if kind.standing)
MOST_STANDING = 30
MOST_HITS = 5
MOST_OF_SESSION = 2  # hits from one source session
MOST_WARNINGS = 3
RECENT_SESSIONS = 3
# A session that has not ended counts as running if it did something within this time.
LIVE = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Role:
    """Which tiers an agent with this role reads."""

    bridge: bool
    summaries: bool
    own_files_only: bool  # if it has files, hits for the task must be about them


ROLES = {
    "planner": Role(bridge=False, summaries=False, own_files_only=False),
    "coder": Role(bridge=True, summaries=False, own_files_only=True),
    "qa": Role(bridge=True, summaries=True, own_files_only=False),
}
ANYONE = Role(bridge=True, summaries=True, own_files_only=False)


def role_named(name: str | None) -> Role:
    """Return the role with that name, or the one for everybody. Raise `UnknownName`."""
    if name is None:
        return ANYONE
    if name not in ROLES:
        raise UnknownName("role", name, list(ROLES))
    return ROLES[name]


def collect_content(
    store: Store,
    searcher: Searcher,
    query: SearchQuery,
    model: str,
    role: Role,
    session: str | None,
    now: datetime,
    modules: "Sequence[ModuleCard]" = (),
) -> tuple[BriefingContent, tuple[str, ...]]:
    """Return the content for a task, and notes about the search for people (an answer that is partial, say)."""
    view = query.view
    pinned = store.newest(view, standing=m.Standing.PINNED, limit=MOST_PINNED)
    standing = store.newest(replace(view, kinds=STANDING_KINDS), limit=MOST_STANDING)
    hits: Sequence[m.Hit] = ()
    notes: tuple[str, ...] = ()
    if query.text.strip():
        answer = searcher.search(replace(query, limit=15))
        notes = answer.notes
        hits = answer.results
        if role.own_files_only and query.files:
            about_files = [hit for hit in hits if "file" in hit.why["parts"]]
            hits = about_files or hits
        hits = [*_warnings(store, query), *diverse(hits, _vectors(store, model, hits))]
    ids = [memory.id for memory in (*pinned, *standing, *(hit.memory for hit in hits))]
    conflicts = tuple(
        (link, store.get(link.source), store.get(link.target)) for link in store.conflicts(view, ids)
    )
    sessions = store.sessions(view.user_id, view.project_id, 20)
    content = BriefingContent(
        pinned=tuple(pinned),
        standing=tuple(standing),
        modules=tuple(modules),
        bridge=_bridge(store, sessions, session, now) if role.bridge else (),
        task=tuple(hits),
        summaries=_summarised(sessions) if role.summaries else (),
        conflicts=conflicts,
        stale=frozenset(stale_in(store, view.project_id)),
    )
    return content, notes


def _summarised(sessions: Sequence[m.Session]) -> tuple[m.Session, ...]:
    return tuple(session for session in sessions if session.summary)[:RECENT_SESSIONS]


def _warnings(store: Store, query: SearchQuery) -> list[m.Hit]:
    """Return warnings whose trigger the task contains. They come first, whatever their score."""
    context = "\n".join((query.text, *query.files))
    fired = matching(store.with_triggers(warning_view(query.view), 500), context)
    return [
        m.Hit(memory, 1.0, {"parts": {"trigger": 1.0}, "channels": {"trigger": {"matched": trigger}}})
        for memory, trigger in fired[:MOST_WARNINGS]
    ]


def diverse(hits: Sequence[m.Hit], vectors: Sequence[bytes | None]) -> list[m.Hit]:
    """Return the best hits that do not repeat each other (maximal marginal relevance), at most two from one session."""
    left = list(range(len(hits)))
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    chosen: list[int] = []
    while left and len(chosen) < MOST_HITS:

        def value(i: int) -> tuple[float, int]:
            likeness = max((_cosine(vectors[i], vectors[j]) for j in chosen), default=0.0)
            return (1 - ranking.DIVERSITY_SHARE) * hits[
                i
            ].score / best - ranking.DIVERSITY_SHARE * likeness, -i

        pick = max(left, key=value)
        left.remove(pick)
        session = hits[pick].memory.session
        taken = sum(hits[i].memory.session == session for i in chosen)
        if session is None or taken < MOST_OF_SESSION:
            chosen.append(pick)
    return [hits[i] for i in chosen]


def _vectors(store: Store, model: str, hits: Sequence[m.Hit]) -> list[bytes | None]:
    return [store.vector(hit.memory.id, model) for hit in hits]


def _cosine(one: bytes | None, other: bytes | None) -> float:
    if one is None or other is None:
        return 0.0
    return float(np.frombuffer(one, "<f4") @ np.frombuffer(other, "<f4"))


def _bridge(
    store: Store, sessions: Sequence[m.Session], own: str | None, now: datetime
) -> tuple[m.Finding, ...]:
    """Return what other running sessions of this project have found that is not a memory yet, newest first."""
    running = [
        other
        for other in sessions
        if other.ended_at is None and other.id != own and now - (other.active_at or other.started_at) < LIVE
    ]
    findings = [
        finding for other in running for finding in store.findings(other.id) if finding.promoted_to is None
    ]
    return tuple(sorted(findings, key=lambda finding: finding.created_at, reverse=True))
