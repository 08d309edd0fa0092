"""What a briefing is made from: the pinned, the standing, what fits the task, what others have just found."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import UnknownName
from recollect.kinds import KINDS
from recollect.memory.briefing.briefing import MOST_PINNED, BriefingContent
from recollect.memory.search.search import Searcher, SearchQuery
from recollect.memory.search.triggers import matching, warners
from recollect.store.stale import stale_in

if TYPE_CHECKING:
    from recollect.code.modules.module_map import ModuleCard

STANDING_KINDS = frozenset(kind.name for kind in KINDS.values() if kind.standing)
MOST_STANDING = 30
MOST_HITS = 5
MOST_OF_SESSION = 2  # hits from one source session
MOST_WARNINGS = 3
DIVERSITY = 0.3  # how much a hit loses for being like one already chosen
RECENT_SESSIONS = 3
LIVE = timedelta(
    hours=24
)  # a session that has not ended and did something within this is taken to be at work


@dataclass(frozen=True, slots=True)
class Role:
    """What an agent in it is told."""

    bridge: bool
    summaries: bool
    own_files_only: bool  # task hits must be about the files of its subtask, where it has some


ROLES = {
    "planner": Role(bridge=False, summaries=False, own_files_only=False),
    "coder": Role(bridge=True, summaries=False, own_files_only=True),
    "qa": Role(bridge=True, summaries=True, own_files_only=False),
}
ANYONE = Role(bridge=True, summaries=True, own_files_only=False)


def role_named(name: str | None) -> Role:
    """Raises `UnknownName`."""
    if name is None:
        return ANYONE
    if name not in ROLES:
        raise UnknownName("role", name, list(ROLES))
    return ROLES[name]


def collect_content(
    store: Store,
    searcher: Searcher,
    question: SearchQuery,
    model: str,
    role: Role,
    session: str | None,
    now: datetime,
    modules: "Sequence[ModuleCard]" = (),
) -> tuple[BriefingContent, tuple[str, ...]]:
    """The material, and what the reader should know about how it came about."""
    view = question.view
    pinned = store.newest(view, standing=m.Standing.PINNED, limit=MOST_PINNED)
    standing = store.newest(replace(view, kinds=STANDING_KINDS), limit=MOST_STANDING)
    hits: Sequence[m.Hit] = ()
    notes: tuple[str, ...] = ()
    if question.text.strip():
        answer = searcher.search(replace(question, limit=15))
        notes = answer.notes
        hits = answer.results
        if role.own_files_only and question.files:
            about = [hit for hit in hits if "file" in hit.why["parts"]]
            hits = about or hits
        hits = [*_warnings(store, question), *diverse(hits, _vectors(store, model, hits))]
    ids = [memory.id for memory in (*pinned, *standing, *(hit.memory for hit in hits))]
    conflicts = tuple(
        (link, store.get(link.source), store.get(link.target)) for link in store.conflicts(view, ids)
    )
    sessions = store.sessions(view.user_id, view.project_id, 20)
    material = BriefingContent(
        pinned=tuple(pinned),
        standing=tuple(standing),
        modules=tuple(modules),
        bridge=_bridge(store, sessions, session, now) if role.bridge else (),
        task=tuple(hits),
        summaries=tuple(each for each in sessions if each.summary)[:RECENT_SESSIONS]
        if role.summaries
        else (),
        conflicts=conflicts,
        stale=frozenset(stale_in(store, view.project_id)),
    )
    return material, notes


def _warnings(store: Store, question: SearchQuery) -> list[m.Hit]:
    """Memories that warn, and whose trigger the task has: they come first, however they rank."""
    context = "\n".join((question.text, *question.files))
    found = matching(store.with_triggers(warners(question.view), 500), context)
    return [
        m.Hit(memory, 1.0, {"parts": {"trigger": 1.0}, "channels": {"trigger": {"matched": trigger}}})
        for memory, trigger in found[:MOST_WARNINGS]
    ]


def diverse(hits: Sequence[m.Hit], vectors: Sequence[bytes | None], count: int = MOST_HITS) -> list[m.Hit]:
    """The best, but not five that say the same: maximal marginal relevance, at most two of one session."""
    left = list(range(len(hits)))
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    chosen: list[int] = []
    while left and len(chosen) < count:

        def worth(i: int) -> tuple[float, int]:
            like = max((_cosine(vectors[i], vectors[j]) for j in chosen), default=0.0)
            return (1 - DIVERSITY) * hits[i].score / best - DIVERSITY * like, -i

        pick = max(left, key=worth)
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
    """What other sessions at work in this project have found and not yet passed on."""
    live = [
        each
        for each in sessions
        if each.ended_at is None and each.id != own and now - (each.active_at or each.started_at) < LIVE
    ]
    found = [finding for each in live for finding in store.findings(each.id) if finding.promoted_to is None]
    return tuple(sorted(found, key=lambda finding: finding.created_at, reverse=True))
