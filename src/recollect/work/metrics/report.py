"""The figures that `recollect stats` shows: for this project, and for all projects together."""

from dataclasses import replace
from statistics import fmean
from typing import Any

import recollect.model as m
from recollect.code.modules.module_map import Confidence, from_document
from recollect.code.paths import FileRole
from recollect.context.context import Context
from recollect.context.store import Store
from recollect.memory.decay import confidence_now
from recollect.memory.retrieval import Retrieval
from recollect.work.metrics.measures import LAST, Measures
from recollect.work.metrics.saved import (
    ASKED,
    ASKED_TOKENS,
    DISCOVERY,
    EDITED,
    INJECTED,
    ON_DEMAND,
    USED,
    saved,
)

_MOST = 1000  # memories over which confidence is averaged
_RECENT = 30  # sessions in a chart


def stats(context: Context, retrieval: Retrieval, measures: Measures) -> dict[str, Any]:
    """Return counts and sizes of the project and of the store, as `recollect stats --json` prints them."""
    store, view = context.store, context.view()
    every_state = replace(view, states=m.ALL_STATES)
    every_project = replace(context.full_view(), states=frozenset({m.State.ACTIVE}))
    latencies = retrieval.latencies
    return {
        "project": m.as_json(context.project),
        "memories": store.count(view),
        "by_kind": store.counts(view, "kind"),
        "by_scope": store.counts(view, "scope"),
        "by_state": store.counts(every_state, "state"),
        "by_standing": store.counts(view, "standing"),
        "all_projects": store.count(every_project),
        "conflicts": len(store.conflicts(view)),
        "tags": len(store.tags(view)),
        "store": m.as_json(store.info()),
        "embedder": context.settings.embedder,
        "compaction": store.setting(context.project_id, "compacted"),
        "recall": {
            "p95_ms": round(latencies.p95, 1),
            "samples": len(latencies),
            "degraded": latencies.degraded,
        },
        "measures": report(context, measures),
    }


def report(context: Context, measures: Measures) -> dict[str, Any]:
    """Return what is counted and timed, for this project and for all."""
    timings = measures.timings()  # flushes first
    store, user_id, project_id = context.store, context.user_id, context.project_id
    sessions = store.measures.by_session(user_id, project_id)
    known = list(sessions.values())
    savings = [
        estimate.tokens
        for name, counts in sessions.items()
        if (estimate := saved(counts, [row for other, row in sessions.items() if other != name])).tokens
        is not None
    ]
    memories = store.newest(context.view(), limit=_MOST)
    return {
        "timings": {
            name: {"count": timing.count, "p50_ms": timing.p50, "p95_ms": timing.p95, "daily": timing.daily}
            for name, timing in timings.items()
        },
        "here": _counts(store.measures.totals(user_id, project_id), len(sessions)),
        "everywhere": _counts(store.measures.totals(user_id, everywhere=True), None),
        "average_confidence": fmean(confidence_now(memory, context.clock()) for memory in memories)
        if memories
        else None,
        "discovery": [round(row[DISCOVERY]) for row in known if row.get(EDITED) and DISCOVERY in row][
            -_RECENT:
        ],
        "saved": sum(savings) if savings else None,
        "sessions_compared": len(savings),
        "map_coverage": map_coverage(store, project_id),
        "last_injected": store.setting(project_id, LAST),
    }


def map_coverage(store: Store, project_id: str | None) -> float | None:
    """Return the share of code modules that have been worked on or described, or None without a module map."""
    document = store.modules.get(project_id) if project_id else None
    found = from_document(document) if document else None
    code = [each for each in found.modules if each.kind is FileRole.CODE] if found else []
    known = sum(each.confidence is not Confidence.SHALLOW for each in code)
    return known / len(code) if code else None


def _counts(totals: dict[str, float], sessions: int | None) -> dict[str, int]:
    names = {
        "injected": INJECTED,
        "used": USED,
        "on_demand": ON_DEMAND,
        "asked": ASKED,
        "asked_tokens": ASKED_TOKENS,
    }
    counts = {name: round(totals.get(stored, 0)) for name, stored in names.items()}
    return counts if sessions is None else {"sessions": sessions, **counts}
