"""Merge two memories that say the same."""

from dataclasses import replace
from datetime import datetime

import recollect.model as m
from recollect.context.store import Store
from recollect.memory.write.precedence import supersede
from recollect.memory.write.reinforce import (
    MAX_REINFORCEMENTS,
    may_enrich,
    reinforced,
    with_richer_text,
)

SAME = "says the same"  # reason of the link to the memory that was merged
_STANDINGS = tuple(m.Standing)  # the weakest first


def merge(
    store: Store, survivor: m.Memory, other: m.Memory, model: str, actor: str, now: datetime
) -> m.Memory:
    """Merge `other` into `survivor` and return the result. Call it in the transaction that read both."""
    result = merged(survivor, other, now)
    detail = {"merged": other.id, "strength": result.strength, "richer": result.content != survivor.content}
    store.log("merge", actor, now, result.id, detail)
    store.put(result)
    if result.fingerprint != survivor.fingerprint and (vector := store.vector(other.id, model)):
        store.put_vector(result.id, model, vector)
    if result.when_needed and store.vector(result.id, model + m.WHEN_MODEL) is None:
        store.set_setting(None, "vectors_pending", True)
    _copy_links(store, other, result)
    supersede(store, other, result, SAME, actor, now)
    return result


def merged(survivor: m.Memory, other: m.Memory, now: datetime) -> m.Memory:
    """Return what `survivor` becomes. Merging is no new statement: it was last stated when either was."""
    again = with_richer_text(survivor, other, reinforced(survivor, other, now))
    entry = replace(again.reinforcements[-1], at=other.created_at)
    reinforcements = sorted(
        (*survivor.reinforcements, *other.reinforcements, entry), key=lambda entry: entry.at
    )
    if not may_enrich(survivor, other):
        return replace(again, reinforcements=tuple(reinforcements[-MAX_REINFORCEMENTS:]))
    used = [at for at in (survivor.last_accessed_at, other.last_accessed_at) if at]
    by_program = survivor.promoted_at and other.promoted_at
    return replace(
        again,
        importance=max(survivor.importance, other.importance),
        standing=max(survivor.standing, other.standing, key=_STANDINGS.index),
        promoted_at=survivor.promoted_at if by_program else None,
        access_count=survivor.access_count + other.access_count,
        last_accessed_at=max(used, default=None),
        valid_from=min(survivor.valid_from, other.valid_from),
        anchors=tuple(dict.fromkeys((*survivor.anchors, *other.anchors))),
        reinforcements=tuple(reinforcements[-MAX_REINFORCEMENTS:]),
    )


def _copy_links(store: Store, other: m.Memory, result: m.Memory) -> None:
    """Copy the links of `other` to `result`, open conflicts too, apart from what `other` superseded."""
    existing = {(link.source, link.target, link.relation) for link in store.links(result.id)}
    for link in store.links(other.id):
        source = result.id if link.source == other.id else link.source
        target = result.id if link.target == other.id else link.target
        settled = link.resolved_at is not None or link.relation is m.Relation.SUPERSEDES
        if source != target and not settled and (source, target, link.relation) not in existing:
            store.put_link(replace(link, source=source, target=target))
