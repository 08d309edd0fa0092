"""Change one memory: forget, restore, deprecate, pin, tag, link, resolve a conflict.

Each function reads the memory again in its own transaction, so it does not undo what another process wrote.
"""

from dataclasses import replace
from datetime import datetime

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import OutOfScope, Refused, UnknownName
from recollect.memory.maintenance.undo import GRACE, one_change, undo
from recollect.memory.write.enrich import normal_tag
from recollect.memory.write.limits import check_items
from recollect.model import FORGOTTEN_SETTING, Cleared
from recollect.policy import is_persons


def forget(store: Store, memory_id: str, actor: str, now: datetime, reason: str = "forgotten") -> m.Memory:
    """Hide a memory at once; it is permanently deleted after `GRACE`."""
    with store.transaction():
        memory = store.get(memory_id)
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


def forget_all(store: Store, change: m.Change, project_id: str | None) -> Cleared:
    """Hide all memories of the user in a project, or everywhere for None, as one change. They are deleted after `GRACE`."""
    mark = {"at": m.to_text(change.at), "change": change.id}
    with one_change(store, change, projects=True):
        detail: dict[str, object] = {"project": project_id} if project_id else {"everything": True}
        store.log("remove", change.actor, change.at, None, {"forgotten": change.id, **detail})
        cleared = store.clear(change.user_id, project_id, change.at)
        for name in [project_id] if project_id else [project.id for project in store.projects()]:
            if (
                cleared.anything or store.setting(name, FORGOTTEN_SETTING) is None
            ):  # remember the change that can restore it
                store.set_setting(name, FORGOTTEN_SETTING, mark)
    return cleared


def restore_all(store: Store, user_id: str, project_id: str, actor: str, now: datetime) -> m.Undone:
    """Restore a project that was forgotten as a whole, apart from what has changed since. Raise `Refused`."""
    mark = store.setting(project_id, FORGOTTEN_SETTING)
    if mark is None:
        raise Refused(
            "This project was not forgotten as a whole within the last 30 days.",
            "Run `recollect list --state deleted` to list memories that you can restore one by one.",
        )
    if now - m.from_text(mark["at"]) > GRACE:
        raise Refused(
            f"This project was forgotten more than {GRACE.days} days ago.",
            "Its memories are permanently deleted.",
        )
    change = store.changes.get(user_id, mark["change"])
    if change.project_id is None:
        raise Refused(
            "This project was forgotten with everything else.",
            f"Run `recollect undo {change.id}` to restore everything.",
        )
    return undo(store, change, actor, now)


def restore(store: Store, memory_id: str, actor: str, now: datetime) -> m.Memory:
    """Make a memory active again, within `GRACE`. An agent may not restore what was forgotten. Raise `Refused`."""
    with store.transaction():
        memory = store.get(memory_id)
        if memory.state is m.State.ACTIVE:
            raise Refused(
                f"Memory {memory.id} is already active.",
                f"Run `recollect show {memory.id}` to see its state.",
            )
        if m.is_agent(actor) and (
            memory.state in (m.State.DELETED, m.State.DEPRECATED) or _lost_to_a_person(store, memory)
        ):
            raise OutOfScope(
                f"Memory {memory.id} is {memory.state}, and an agent may not restore it.",
                "Ask the user to restore it.",
            )
        if memory.deleted_at is not None and now - memory.deleted_at > GRACE:
            raise Refused(
                f"Memory {memory.id} was forgotten more than {GRACE.days} days ago.", "Remember it again."
            )
        for twin in store.with_fingerprint(m.scope_of(memory), memory.fingerprint):
            if m.same_matter(memory, twin):
                raise Refused(
                    f"Memory {twin.id} is active and says the same.", "There is nothing to restore."
                )
        back = replace(
            memory,
            state=m.State.ACTIVE,
            state_reason=None,
            superseded_by=None,
            deleted_at=None,
            valid_to=None,
            updated_at=now,
            promoted_at=memory.promoted_at if m.is_agent(actor) else None,  # a person wants to keep it
        )
        _write(store, "update", actor, now, back, {"state": m.State.ACTIVE, "was": memory.state})
        if memory.superseded_by is not None:
            _reopen_conflict(store, memory, now)
    return back


def _lost_to_a_person(store: Store, memory: m.Memory) -> bool:
    """Whether a person's statement has superseded it."""
    successor = (
        store.get_many([memory.superseded_by]).get(memory.superseded_by) if memory.superseded_by else None
    )
    return successor is not None and is_persons(successor)


def _reopen_conflict(store: Store, memory: m.Memory, now: datetime) -> None:
    """Record a conflict between the restored memory and the one that replaced it: both are active now."""
    store.drop_link(memory.superseded_by or "", memory.id, m.Relation.SUPERSEDES)
    rival, seen = memory, {memory.id}
    while rival.superseded_by is not None and rival.superseded_by not in seen:
        seen.add(rival.superseded_by)
        successor = store.get_many([rival.superseded_by]).get(rival.superseded_by)
        if successor is None:
            return
        rival = successor
    if rival.state is m.State.ACTIVE and rival.id != memory.id:
        link = m.Link(memory.id, rival.id, m.Relation.CONTRADICTS, now, 1.0, "restored", "contradictory")
        store.put_link(link)


def deprecate(store: Store, memory: m.Memory, reason: str, actor: str, now: datetime) -> m.Memory:
    """Mark a memory as no longer true. Call it in the transaction that read the memory."""
    after = replace(
        memory,
        state=m.State.DEPRECATED,
        state_reason=reason,
        valid_to=memory.valid_to or now,
        updated_at=now,
    )
    _write(store, "update", actor, now, after, {"state": after.state, "reason": reason.partition(":")[0]})
    return after


def pin(store: Store, memory_id: str, actor: str, now: datetime, on: bool | None = None) -> m.Memory:
    """Pin or unpin a memory; None toggles."""
    with store.transaction():
        memory = store.get(memory_id)
        wanted = not memory.pinned if on is None else on
        if wanted == memory.pinned:
            return memory
        standing = m.Standing.PINNED if wanted else m.Standing.CONFIRMED
        changed = replace(memory, standing=standing, updated_at=now)
        _write(store, "pin" if wanted else "unpin", actor, now, changed, {})
    return changed


def tag(
    store: Store, memory_id: str, actor: str, now: datetime, add: tuple[str, ...], remove: tuple[str, ...]
) -> m.Memory:
    """Add and remove tags, with secrets removed from new ones."""
    from recollect.text.redact import redact  # importing the rules takes 30 ms

    cleaned = [redact(name) for name in check_items("tags", add)]
    types = sorted({redaction.type for _, redactions in cleaned for redaction in redactions})
    new = [normal_tag(name) for name, _ in cleaned]
    old = {normal_tag(name) for name in remove}
    with store.transaction():
        memory = store.get(memory_id)
        tags = tuple(name for name in dict.fromkeys((*memory.tags, *new)) if name not in old)
        if tags == memory.tags:
            return memory
        if types:
            store.log("redact", actor, now, memory.id, {"types": types})
        changed = replace(memory, tags=tags, updated_at=now)
        _write(store, "update", actor, now, changed, {"fields": ["tags"]})
    return changed


def new_link(source: m.Memory, target: m.Memory, relation: str, now: datetime, weight: float = 1.0) -> m.Link:
    """Return a link between two memories. Raise `Refused` if they are the same, or of different projects."""
    try:
        name = m.Relation(relation.replace("-", "_"))
    except ValueError:
        raise UnknownName("relation", relation, list(map(str, m.Relation))) from None
    if source.id == target.id:
        raise Refused("A memory cannot be linked to itself.", "Give two ids.")
    if not can_link(source, target):
        raise Refused("These memories belong to different projects.", "Make one of them global to link them.")
    if not 0.0 < weight <= 1.0:
        raise Refused(f"Weight {weight:g} is out of range.", "Give a number above 0, up to 1.")
    return m.Link(source.id, target.id, name, now, weight, "linked by hand")


def put_link(store: Store, link: m.Link, actor: str) -> None:
    """Store a link."""
    with store.transaction():
        store.log("update", actor, link.created_at, link.source, {"link": link.relation, "to": link.target})
        store.put_link(link)


def check_replacement(new: m.Memory, old: m.Memory) -> None:
    """Raise `Refused` unless both are in use and `new` holds wherever `old` does: elsewhere nothing would be left."""
    for memory in (new, old):
        if memory.state is not m.State.ACTIVE:
            raise Refused(
                f"Memory {memory.id} is {memory.state}, so it neither replaces another nor is replaced.",
                f"Run `recollect show {memory.id}` to see why.",
            )
    is_wider = all(
        mine in (None, theirs)
        for mine, theirs in (
            (new.project_id, old.project_id),
            (new.branch, old.branch),
            (new.season, old.season),
        )
    )
    is_same_session = old.scope is m.Scope.SESSION and old.session == new.session
    if not is_wider or (new.scope is m.Scope.SESSION and not is_same_session):
        raise Refused(
            f"Memory {new.id} holds only for a project, branch, season or session, and {old.id} holds for others too.",
            "Link them as contradicts.",
        )


def replace_by_hand(store: Store, link: m.Link, actor: str) -> m.Link:
    """Supersede the target of a link by its source, and return the link as it is stored. Raise `Refused`.

    What an agent puts in another's place is in the same conflicts: an agent settles none.
    """
    from recollect.memory.write.precedence import supersede  # its rules take 25 ms to import

    reason = f"{actor} says so" if m.is_agent(actor) else link.reason
    with store.transaction():
        new, old = store.get(link.source), store.get(link.target)
        check_replacement(new, old)  # another process may have written since
        if m.is_agent(actor):
            _inherit_conflicts(store, new, old, link.created_at)
        supersede(store, old, new, reason, actor, link.created_at)
    return replace(link, weight=1.0, reason=reason)


def _inherit_conflicts(store: Store, new: m.Memory, old: m.Memory, now: datetime) -> None:
    """Record that `new` is in conflict with whatever `old` is in conflict with, and ask which is right."""
    for link in store.links(old.id):
        rival = link.target if link.source == old.id else link.source
        if link.relation is not m.Relation.CONTRADICTS or link.resolved_at is not None:
            continue
        if rival == new.id or conflicts_between(store, new.id, rival):
            continue
        store.put_link(replace(link, source=new.id, target=rival, created_at=now))
        if store.may_settle(new.id, rival):
            ids, name = (new.id, rival), m.new_id(now)
            store.reviews.ask(
                m.Review(name, old.user_id, old.project_id, "contradiction", ids, link.reason, now)
            )


def unlink(
    store: Store, source: m.Memory, target: m.Memory, relation: m.Relation, actor: str, now: datetime
) -> bool:
    """Remove a link; return whether there was one."""
    if relation is m.Relation.CONTRADICTS:
        _leave_to_both(store, source.id, target.id)
    with store.transaction():
        store.log("update", actor, now, source.id, {"unlinked": target.id, "link": relation})
        return store.drop_link(source.id, target.id, relation)


def can_link(one: m.Memory, other: m.Memory) -> bool:
    """Return whether the memories belong to one project, or one of them is global."""
    return None in (one.project_id, other.project_id) or one.project_id == other.project_id


def conflicts_between(store: Store, first: str, second: str) -> list[m.Link]:
    """Return the conflicts between two memories, open and resolved."""
    return [
        link
        for link in store.links(first)
        if {link.source, link.target} == {first, second} and link.relation is m.Relation.CONTRADICTS
    ]


def resolve(store: Store, first: str, second: str, keep: str | None, actor: str, now: datetime) -> None:
    """Resolve a conflict: `keep` supersedes the other memory; None keeps both. Raise `Refused` if there is none."""
    with store.transaction():
        conflicts = [link for link in conflicts_between(store, first, second) if link.resolved_at is None]
        if not conflicts:
            raise Refused(
                f"There is no open conflict between {first} and {second}.",
                "Run `recollect conflicts` to list them.",
            )
        store.log("update", actor, now, first, {"resolved": second, "kept": keep or "both"})
        if keep is None:
            _leave_to_both(store, first, second)
            for conflict in conflicts:
                store.put_link(replace(conflict, resolved_at=now))
            return
        from recollect.memory.write.precedence import supersede  # its rules take 25 ms to import

        lost = second if keep == first else first
        supersede(
            store, store.get(lost), store.get(keep), "resolved by hand", actor, now
        )  # closes its conflicts


def _leave_to_both(store: Store, first: str, second: str) -> None:
    """Raise `OutOfScope` if two people stand by what they said: neither settles it for the other."""
    if not store.may_settle(first, second):
        raise OutOfScope(
            "Two people disagree here, and you cannot settle it for both.",
            "Correct or forget your own statement, or ask an admin of your team.",
        )


def _write(
    store: Store, action: str, actor: str, now: datetime, memory: m.Memory, detail: dict[str, object]
) -> None:
    store.log(action, actor, now, memory.id, detail)
    store.put(memory)
