"""One statement takes the place of another."""

from dataclasses import replace
from datetime import datetime

import recollect.model as m
from recollect.context.store import Store


def supersede(store: Store, old: m.Memory, new: m.Memory, reason: str, actor: str, now: datetime) -> None:
    """`new` takes the place of `old`, which stays on record with its quarrels ended. The caller has the transaction."""
    store.log("update", actor, now, old.id, {"state": m.State.SUPERSEDED, "by": new.id})
    store.put(
        replace(
            old,
            state=m.State.SUPERSEDED,
            state_reason=f"superseded: {reason}",
            superseded_by=new.id,
            valid_to=now,
            updated_at=now,
        )
    )
    store.put_link(m.Link(new.id, old.id, m.Relation.SUPERSEDES, now, 1.0, reason))
    for link in store.links(old.id):
        if link.relation is m.Relation.CONTRADICTS and link.resolved_at is None:
            store.put_link(replace(link, verdict="superseded", resolved_at=now))
