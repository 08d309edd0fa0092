"""What is known, what was learnt lately and what waits for the user: quick to read, and only stale memories are written."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import recollect.model as m
from recollect.context.context import Context
from recollect.frozen import frozen
from recollect.kinds import KINDS
from recollect.memory.anchors.stale import refresh_changed
from recollect.work.metrics.saved import INJECTED, LEAST, ON_DEMAND, USED, is_baseline, saved

WEEK = timedelta(days=7)
NEWEST = 6  # memories of the week that are shown
_MAX_GAPS = 1000


@frozen
class KnownKinds:
    """How many memories a family of kinds has, and each of its kinds, most first."""

    family: str
    count: int
    kinds: tuple[tuple[str, int], ...]


@frozen
class Overview:
    """The figures of a project, or of all projects together."""

    memories: int
    families: tuple[KnownKinds, ...]
    standings: dict[str, int]
    states: dict[str, int]
    by_project: dict[str, int]  # project id to memories; "" = global
    learnt: int  # memories that are new this week
    newest: tuple[m.Memory, ...]  # some of them, newest first
    reviews: dict[str, int]  # open questions by kind
    conflicts: int  # pairs of memories
    stale: int
    gaps: int
    saved: int | None  # tokens; None = there is no baseline yet
    sessions_compared: int
    sessions: int
    baseline: int  # sessions without memory so far
    baseline_needed: int
    injected: int
    used: int
    searches: int
    memory_on: bool
    auto_on: bool

    @property
    def waiting(self) -> int:
        return sum(self.reviews.values()) + self.gaps


def overview(context: Context, *, all_projects: bool = False) -> Overview:
    """Return the figures for this project, or for all."""
    store = context.store
    every_state = context.full_view(this_project=not all_projects)
    view = replace(every_state, states=frozenset({m.State.ACTIVE}))
    by_kind = store.counts(view, "kind")
    since = context.clock() - WEEK
    fresh = [memory for memory in store.newest(view, limit=200) if memory.created_at >= since]
    places = store.projects() if all_projects else [context.project]
    projects = [place.id if place else None for place in places]
    figures = [savings_of(context, project) for project in projects]
    totals = store.measures.totals(context.user_id, context.project_id, everywhere=all_projects)
    known = [tokens for tokens, *_ in figures if tokens is not None]
    stale = sum(len(refresh_changed(context, place)) for place in places)
    return Overview(
        memories=sum(by_kind.values()),
        families=_families(by_kind),
        standings=store.counts(view, "standing"),
        states=store.counts(every_state, "state"),
        by_project={name or "": count for name, count in store.counts(view, "project_id").items()},
        learnt=len(fresh),
        newest=tuple(fresh[:NEWEST]),
        reviews=open_reviews(context, projects),  # after the stale ones are found: they are asked about
        conflicts=len({frozenset((link.source, link.target)) for link in store.conflicts(view)}),
        stale=stale,
        gaps=sum(len(store.gaps(project, _MAX_GAPS)) for project in projects),
        saved=sum(known) if known else None,
        sessions_compared=sum(compared for _, compared, *_ in figures),
        sessions=sum(count for *_, count in figures),
        baseline=sum(baseline for _, _, baseline, _ in figures),
        baseline_needed=LEAST,
        injected=round(totals.get(INJECTED, 0)),
        used=round(totals.get(USED, 0)),
        searches=round(totals.get(ON_DEMAND, 0)),
        memory_on=context.is_on("memory"),
        auto_on=context.is_on("auto"),
    )


def _families(by_kind: dict[str, int]) -> tuple[KnownKinds, ...]:
    families: dict[str, list[tuple[str, int]]] = {}
    for kind, count in by_kind.items():
        family = KINDS[kind].family if kind in KINDS else "other"
        families.setdefault(family, []).append((kind, count))
    rows = [
        KnownKinds(
            family, sum(count for _, count in kinds), tuple(sorted(kinds, key=lambda row: (-row[1], row[0])))
        )
        for family, kinds in families.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.count, row.family)))


def open_reviews(context: Context, projects: "list[str | None] | list[str]") -> dict[str, int]:
    """Return how many questions of each kind wait for the user; those that no longer apply do not."""
    from recollect.memory.maintenance.review import (
        questions,
    )  # it imports the writer, which hooks do not need

    open_ones = {
        question.review.id: question.review.kind
        for project in (*projects, None)
        for question in questions(context.store, context.user_id, project, None, context.clock(), tidy=False)
    }
    return dict(Counter(open_ones.values()).most_common())


def savings_of(context: Context, project: str | None) -> tuple[int | None, int, int, int]:
    """Return the tokens saved in a project, in how many sessions, and its sessions without memory and in all."""
    rows = context.store.measures.by_session(context.user_id, project)
    baseline = [row for row in rows.values() if is_baseline(row)]  # none of them is compared with itself
    estimates = [
        estimate.tokens
        for counts in rows.values()
        if (estimate := saved(counts, baseline)).tokens is not None
    ]
    return (sum(estimates) if estimates else None), len(estimates), len(baseline), len(rows)
