"""Acts that can be taken back: what one records of itself, and the way back."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import recollect.model as m
from recollect.errors import Refused
from recollect.store.protocol import Store


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
    if change.undone_at is not None:
        raise Refused(
            f"Change {change.id} was undone on {change.undone_at:%Y-%m-%d %H:%M} already.",
            "`recollect changes` shows the undoing as a change of its own, which can be undone.",
        )
    back = new_change(
        "undo",
        f"Undid {change.action} {change.id}.",
        user_id=change.user_id,
        project_id=change.project_id,
        actor=actor,
        now=now,
    )
    with one_change(store, back, projects=True):
        store.log("undo", actor, now, None, {"change": change.id, "action": change.action})
        return store.changes.undo(change.id, now)
