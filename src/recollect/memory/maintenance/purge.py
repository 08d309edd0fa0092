"""Permanently delete forgotten memories after 30 days, drop old messages, and free disk space."""

from datetime import datetime, timedelta
from pathlib import Path

import recollect.model as m
from recollect.context.store import Store
from recollect.memory.maintenance.undo import GRACE
from recollect.model import Purged

ACTOR = "agent:memory"
EVERY = timedelta(days=1)
QUARTER = timedelta(days=91)
LARGE = 100 * 1000 * 1000  # bytes of a file that is rewritten before the quarter ends
WORTH = 0.2  # share of a large file that must be free
_PURGED, _DROPPED, _VACUUMED = "purged", "messages_dropped", "vacuumed"  # settings: when each was last done


def purge_if_due(store: Store, home: Path, now: datetime) -> Purged | None:
    """Delete what was forgotten more than 30 days ago, at most once a day; return None if nothing was due."""
    if not store.purge_due(now - GRACE):
        return None
    last = store.setting(None, _PURGED)
    if last is not None and abs(now - m.from_text(last)) < EVERY:  # abs: the clock may have been wrong
        return None
    from recollect.code.graph.database import delete_graph_databases  # rarely due

    before = {project.id for project in store.projects()}
    purged = store.purge(now - GRACE, ACTOR, now)
    delete_graph_databases(home, before - {project.id for project in store.projects()})
    store.set_setting(None, _PURGED, m.to_text(now))
    return purged


def drop_messages_if_due(store: Store, days: int, now: datetime) -> int:
    """Delete messages older than `days`, at most once a day; return how many. 0 days keep them forever."""
    last = store.setting(None, _DROPPED)
    if not days or (last is not None and abs(now - m.from_text(last)) < EVERY):
        return 0
    dropped = store.messages.drop_before(now - timedelta(days=min(days, 36_500)))
    if dropped:
        store.set_setting(None, _DROPPED, m.to_text(now))
    return dropped


def vacuum_if_it_pays(store: Store, now: datetime) -> int | None:
    """Rewrite the file if that pays; return the bytes saved, or None. Raise `StoreBusy` instead of waiting."""
    if it_pays(store, now):
        return vacuum(store, ACTOR, now, patience=0.0)
    if store.setting(None, _VACUUMED) is None:
        store.set_setting(None, _VACUUMED, m.to_text(now))  # start the quarter
    return None


def it_pays(store: Store, now: datetime) -> bool:
    """Return whether much of a large file is free, or anything is and a quarter has passed."""
    info = store.info()
    if info.size >= LARGE and info.free >= WORTH * info.size:
        return True
    last = store.setting(None, _VACUUMED)
    return last is not None and info.free > 0 and abs(now - m.from_text(last)) >= QUARTER


def vacuum(store: Store, actor: str, now: datetime, patience: float = 30.0) -> int:
    """Rewrite the file without free pages; return the bytes saved. Raise `StoreBusy`."""
    saved = store.vacuum(patience)
    with store.transaction():
        store.log("update", actor, now, None, {"vacuumed": saved})
        store.set_setting(None, _VACUUMED, m.to_text(now))
    return saved
