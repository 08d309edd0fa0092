"""Acts that can be taken back: what one records of itself, and the way back."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import Refused

GRACE = timedelta(days=30)  # in which what was done or forgotten can be taken back


def new_change(
    action: str, summary: str, *, user_id: str, project_id: str | None, actor: str, now: datetime
) -> m.Change:
    return m.Change(m.new_id(now), user_id, project_id, now, actor, action, summary)


@contextlib.contextmanager
def one_change(store: Store, change: m.Change, *, projects: bool = False) -> Iterator[None]:
    """One transaction that is the whole of `change`; `projects` as for `ChangeLog.recorded`."""
    with store.changes.recorded(replace(change, finished_at=change.at), projects=projects):
        yield


def undo(store: Store, change: m.Change, actor: str, now: datetime) -> m.Undone:
    """Put the store back as it was before `change`; itself a change, so that it can be taken back too. Raises `Refused`."""
    back = new_change(
        "undo",
        f"Undid {change.action} {change.id}.",
        user_id=change.user_id,
        project_id=change.project_id,
        actor=actor,
        now=now,
    )
    with one_change(store, back, projects=True):
        _refuse_late(store.changes.get(change.user_id, change.id), now)  # someone else may be undoing it, too
        store.log("undo", actor, now, None, {"change": change.id, "action": change.action})
        return store.changes.undo(change.id, now)


def _refuse_late(change: m.Change, now: datetime) -> None:
    if change.undone_at is not None:
        raise Refused(
            f"Change {change.id} was undone on {change.undone_at:%Y-%m-%d %H:%M} already.",
            "`recollect changes` shows the undoing as a change of its own, which can be undone.",
        )
    if now - change.at > GRACE:
        raise Refused(
            f"Change {change.id} is more than {GRACE.days} days old: what was there before is no longer kept.",
            "A backup may reach further back.",
        )
