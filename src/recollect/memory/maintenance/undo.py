"""Record changes so that they can be undone, and undo them."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import Refused

UNDO = "undo"  # the action of a change that undid another one
_UNDID = re.compile(r"Undid \w+ ([0-9a-z]+)\.")  # the summary of such a change
GRACE = timedelta(days=30)  # in which a change can be undone and a forgotten memory restored


def new_change(
    action: str, summary: str, *, user_id: str, project_id: str | None, actor: str, now: datetime
) -> m.Change:
    return m.Change(m.new_id(now), user_id, project_id, now, actor, action, summary)


@contextlib.contextmanager
def one_change(store: Store, change: m.Change, *, projects: bool = False) -> Iterator[None]:
    """Run one transaction that is the whole `change`; `projects` as for `changes.recorded`."""
    with store.changes.recorded(replace(change, finished_at=change.at), projects=projects):
        yield


def undo(store: Store, change: m.Change, actor: str, now: datetime) -> m.Undone:
    """Restore what `change` changed, as a change that can be undone too. Raise `Refused`."""
    back = new_change(
        UNDO,
        f"Undid {change.action} {change.id}.",
        user_id=change.user_id,
        project_id=change.project_id,
        actor=actor,
        now=now,
    )
    with one_change(store, back, projects=True):
        _refuse_late(store.changes.get(change.user_id, change.id), now)  # another process may be undoing it
        store.log(UNDO, actor, now, None, {"change": change.id, "action": change.action})
        undone = store.changes.undo(change.id, now)
        _mark_what_it_undid(store, change, now)
        for memory_id in undone.restored:  # so that the history of each says that it is as before
            store.log(UNDO, actor, now, memory_id, {"action": change.action})
        return replace(undone, undo=back.id)


def _mark_what_it_undid(store: Store, change: m.Change, now: datetime) -> None:
    """Note that what an undo undid is in force again, now that the undo is undone, and so on for an undo of an undo."""
    is_undone = True
    while change.action == UNDO and (named := _UNDID.match(change.summary)):
        change = store.changes.get(change.user_id, named[1])
        is_undone = not is_undone
        store.changes.mark_undone(change.id, now if is_undone else None)


def _refuse_late(change: m.Change, now: datetime) -> None:
    if change.undone_at is not None:
        raise Refused(
            f"Change {change.id} was already undone on {change.undone_at:%Y-%m-%d %H:%M}.",
            "The undo is a change of its own: run `recollect changes` to find it and undo it.",
        )
    if now - change.at > GRACE:
        raise Refused(
            f"Change {change.id} is more than {GRACE.days} days old and can no longer be undone.",
            "A backup may reach further back.",
        )
