"""What people do to a memory they have: forget, restore, pin, tag, link, settle a conflict. Each is one transaction."""

from dataclasses import replace
from datetime import datetime, timedelta

import recollect.model as m
from recollect.errors import Refused, UnknownName
from recollect.learn.enrich import normal_tag
from recollect.learn.limits import check_items
from recollect.store.protocol import Store

GRACE = timedelta(days=30)


def forget(store: Store, memory: m.Memory, actor: str, now: datetime, reason: str = "forgotten") -> m.Memory:
    """Out of sight at once, gone for good after the grace."""
    if memory.state is m.State.DELETED:
        return memory
    gone = replace(
        memory,
        state=m.State.DELETED,
        state_reason=f"{reason} (was {memory.state})",
        deleted_at=now,
        updated_at=now,
        valid_to=memory.valid_to or now,
    )
    _write(store, "remove", actor, now, gone, {"state": m.State.DELETED})
    return gone


def restore(store: Store, memory: m.Memory, actor: str, now: datetime) -> m.Memory:
    """Back to active, within the grace. Raises `Refused`."""
    if memory.state is m.State.ACTIVE:
        raise Refused(f"Memory {memory.id} is active already.", "`recollect show` tells its state.")
    if memory.deleted_at is not None and now - memory.deleted_at > GRACE:
        raise Refused(
            f"Memory {memory.id} was forgotten more than {GRACE.days} days ago.", "Say it again instead."
        )
    view = m.View(memory.user_id, memory.project_id, memory.session, scopes=frozenset({memory.scope}))
    if twins := store.twins(view, memory.fingerprint):
        raise Refused(f"Memory {twins[0].id} says the same and is active.", "There is nothing to restore.")
    back = replace(
        memory,
        state=m.State.ACTIVE,
        state_reason=None,
        superseded_by=None,
        deleted_at=None,
        valid_to=None,
        updated_at=now,
    )
    with store.transaction():
        _write(store, "update", actor, now, back, {"state": m.State.ACTIVE, "was": memory.state})
        if memory.superseded_by is not None:
            _reopen_conflict(store, memory, now)
    return back


def _reopen_conflict(store: Store, memory: m.Memory, now: datetime) -> None:
    """What had replaced it is still there: the two disagree, and both are active now."""
    rival = store.get_many([memory.superseded_by or ""]).get(memory.superseded_by or "")
    if rival is None:
        return
    store.drop_link(rival.id, memory.id, m.Relation.SUPERSEDES)
    if rival.state is m.State.ACTIVE:
        store.put_link(
            m.Link(memory.id, rival.id, m.Relation.CONTRADICTS, now, 1.0, "restored", "contradictory")
        )


def pin(store: Store, memory: m.Memory, actor: str, now: datetime, on: bool | None = None) -> m.Memory:
    """Pinned, or no longer; None turns it over."""
    wanted = not memory.pinned if on is None else on
    if wanted == memory.pinned:
        return memory
    standing = m.Standing.PINNED if wanted else m.Standing.CONFIRMED
    changed = replace(memory, standing=standing, updated_at=now)
    _write(store, "pin" if wanted else "unpin", actor, now, changed, {})
    return changed


def tag(
    store: Store, memory: m.Memory, actor: str, now: datetime, add: tuple[str, ...], remove: tuple[str, ...]
) -> m.Memory:
    from recollect.learn.redact import redact  # its rules cost readers of memories 30 ms

    new = [normal_tag(redact(name)[0]) for name in check_items("tags", add)]
    old = {normal_tag(name) for name in remove}
    tags = tuple(name for name in dict.fromkeys((*memory.tags, *new)) if name not in old)
    if tags == memory.tags:
        return memory
    changed = replace(memory, tags=tags, updated_at=now)
    _write(store, "update", actor, now, changed, {"fields": ["tags"]})
    return changed


def link(
    store: Store,
    source: m.Memory,
    target: m.Memory,
    relation: str,
    actor: str,
    now: datetime,
    weight: float = 1.0,
) -> m.Link:
    """Raises `Refused` for a memory and itself, or one of another project."""
    try:
        name = m.Relation(relation.replace("-", "_"))
    except ValueError:
        raise UnknownName("relation", relation, [str(each) for each in m.Relation]) from None
    if source.id == target.id:
        raise Refused("A memory cannot be linked to itself.", "Give two ids.")
    if None not in (source.project_id, target.project_id) and source.project_id != target.project_id:
        raise Refused("These memories belong to different projects.", "Make one of them global to link them.")
    if not 0.0 < weight <= 1.0:
        raise Refused(f"Weight {weight:g} is out of range.", "Give a number above 0, up to 1.")
    made = m.Link(source.id, target.id, name, now, weight, "linked by hand")
    with store.transaction():
        store.log("update", actor, now, source.id, {"link": name, "to": target.id})
        store.put_link(made)
    return made


def resolve(
    store: Store, first: m.Memory, second: m.Memory, keep: m.Memory | None, actor: str, now: datetime
) -> None:
    """Settle a conflict: `keep` supersedes the other; None keeps both and ends the quarrel. Raises `Refused`."""
    between = [link for link in store.links(first.id) if {link.source, link.target} == {first.id, second.id}]
    open_now = [
        each for each in between if each.relation is m.Relation.CONTRADICTS and each.resolved_at is None
    ]
    if not open_now:
        raise Refused(
            f"There is no open conflict between {first.id} and {second.id}.",
            "`recollect conflicts` lists them.",
        )
    with store.transaction():
        store.log(
            "update", actor, now, first.id, {"resolved": second.id, "kept": keep.id if keep else "both"}
        )
        for each in open_now:
            verdict = each.verdict if keep is None else "superseded"
            store.put_link(replace(each, resolved_at=now, verdict=verdict))
        if keep is None:
            return
        lost = second if keep.id == first.id else first
        store.put(
            replace(
                lost,
                state=m.State.SUPERSEDED,
                state_reason="superseded: resolved by hand",
                superseded_by=keep.id,
                valid_to=now,
                updated_at=now,
            )
        )
        store.put_link(m.Link(keep.id, lost.id, m.Relation.SUPERSEDES, now, 1.0, "resolved by hand"))


def _write(
    store: Store, action: str, actor: str, now: datetime, memory: m.Memory, detail: dict[str, object]
) -> None:
    with store.transaction():
        store.log(action, actor, now, memory.id, detail)
        store.put(memory)
