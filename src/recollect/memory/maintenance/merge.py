"""Two memories that say the same become one."""

from dataclasses import replace
from datetime import datetime

import recollect.model as m
from recollect.context.store import Store
from recollect.memory.write.precedence import supersede
from recollect.memory.write.reinforce import MAX_REINFORCEMENTS, reinforced, with_richer_text

SAME = "says the same"  # the reason on the link to what went into another
_STANDINGS = tuple(m.Standing)  # from the weakest to the strongest


def survivor_of(one: m.Memory, other: m.Memory) -> tuple[m.Memory, m.Memory]:
    """Which stays and which goes into it: the more trusted stays, then the pinned, the stronger, the older."""

    def rank(memory: m.Memory) -> tuple[float, bool, int]:
        return memory.trust, memory.pinned, memory.strength

    if rank(one) == rank(other):
        return (one, other) if one.id <= other.id else (other, one)
    return (one, other) if rank(one) > rank(other) else (other, one)


def merge(
    store: Store, survivor: m.Memory, other: m.Memory, model: str, actor: str, now: datetime
) -> m.Memory:
    """`other` goes into `survivor`, which is returned as it is now. The caller has the transaction, and read both in it."""
    kept = merged(survivor, other, now)
    detail = {"merged": other.id, "strength": kept.strength, "richer": kept.content != survivor.content}
    store.log("merge", actor, now, kept.id, detail)
    store.put(kept)
    if kept.fingerprint != survivor.fingerprint and (vector := store.vector(other.id, model)):
        store.put_vector(kept.id, model, vector)
    _hand_over_links(store, other, kept)
    supersede(store, other, kept, SAME, actor, now)
    return kept


def merged(survivor: m.Memory, other: m.Memory, now: datetime) -> m.Memory:
    """What `survivor` becomes. That they were put together says nothing new: it was last said when either was."""
    again = with_richer_text(survivor, other, reinforced(survivor, other, now))
    crumb = replace(again.reinforcements[-1], at=other.created_at)
    crumbs = sorted((*survivor.reinforcements, *other.reinforcements, crumb), key=lambda each: each.at)
    used = [each for each in (survivor.last_accessed_at, other.last_accessed_at) if each]
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
        reinforcements=tuple(crumbs[-MAX_REINFORCEMENTS:]),
    )


def _hand_over_links(store: Store, other: m.Memory, kept: m.Memory) -> None:
    """What led to or from `other` leads to or from `kept`, open quarrels too; what `other` replaced stays its own."""
    have = {(link.source, link.target, link.relation) for link in store.links(kept.id)}
    for link in store.links(other.id):
        source = kept.id if link.source == other.id else link.source
        target = kept.id if link.target == other.id else link.target
        settled = link.resolved_at is not None or link.relation is m.Relation.SUPERSEDES
        if source != target and not settled and (source, target, link.relation) not in have:
            store.put_link(replace(link, source=source, target=target))
