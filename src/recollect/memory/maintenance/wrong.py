"""Mark a memory as wrong: deprecate it, restore what it replaced if asked, and review what was derived from it."""

from dataclasses import replace
from datetime import datetime

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import Refused
from recollect.frozen import frozen
from recollect.memory.maintenance import states
from recollect.memory.maintenance.merge import SAME
from recollect.memory.maintenance.undo import one_change
from recollect.memory.write import limits
from recollect.memory.write.writer import MemoryWriter
from recollect.text.redact import redact

FLAGGED = "user_flagged"
_CITES = (m.Relation.DERIVED_FROM, m.Relation.DEPENDS_ON)  # links from a memory to what it is based on


@frozen
class WrongResult:
    """What marking a memory as wrong changed."""

    memory: m.Memory  # as it is now
    change: str  # for `undo`
    previous: tuple[m.Memory, ...]  # memories that it had superseded
    restored: tuple[str, ...]  # those of them that were restored
    review: tuple[str, ...]  # memories derived from it, now on the review list
    correction: m.Receipt | None  # None = no correction was given


def flag(
    store: Store,
    writer: MemoryWriter,
    change: m.Change,
    memory: m.Memory,
    because: str,
    instead: str,
    restore: bool,
) -> WrongResult:
    """Mark a memory as wrong, as one change. Raise `Refused` before anything is changed."""
    if instead and restore:
        raise Refused(
            "A correction and the previous memory cannot both replace it.",
            "Give a correction or restore the previous memory, not both.",
        )
    reason = _reason(because)
    correction = writer.prepare(_correction(memory, instead, change.actor)) if instead else None
    if correction is not None and correction.memory.fingerprint == memory.fingerprint:
        raise Refused("The correction says what the memory says already.", "Give another text.")
    if correction is not None and correction.memory.project_id != memory.project_id:
        raise Refused(
            f"Memory {memory.id} belongs to another project.", "Correct it in that project's folder."
        )
    was_pinned = memory.pinned
    with one_change(store, replace(change, summary=f"Marked {memory.id} as wrong.")):
        memory = _deprecate(store, memory.id, reason, change.actor, change.at)
        previous = _previous(store, memory)
        derived = _ask(store, memory, change)
        if restore:
            for superseded in previous:
                states.restore(store, superseded.id, change.actor, change.at)
        receipt = writer.write(correction, change) if correction is not None else None
        if receipt is not None:
            memory = replace(memory, superseded_by=receipt.id)
            store.put(memory)
            store.put_link(m.Link(receipt.id, memory.id, m.Relation.SUPERSEDES, change.at, 1.0, "corrected"))
            if was_pinned:
                states.pin(store, receipt.id, change.actor, change.at, True)
    restored = tuple(memory_before.id for memory_before in previous) if restore else ()
    return WrongResult(memory, change.id, previous, restored, derived, receipt)


def _reason(because: str) -> str:
    text, _ = redact(" ".join(limits.plain(because, "The reason").split()))
    return f"{FLAGGED}: {limits.short(text, 'reason')}" if text else FLAGGED


def _correction(memory: m.Memory, instead: str, actor: str) -> m.Draft:
    """Return a draft of the correction with the details of the wrong memory."""
    return m.Draft(
        instead,
        kind=memory.kind,
        scope=memory.scope,
        tags=memory.tags,
        file_paths=memory.file_paths,
        season=memory.season,
        branch=memory.branch,
        session=memory.session if memory.scope is m.Scope.SESSION else None,
        visibility=memory.visibility,
        created_by=actor,
        correction=True,
    )


def _deprecate(store: Store, memory_id: str, reason: str, actor: str, now: datetime) -> m.Memory:
    memory = store.get(memory_id)
    if memory.state not in (m.State.ACTIVE, m.State.ARCHIVED):
        raise Refused(
            f"Memory {memory.id} is already {memory.state} and no longer shown.",
            f"Run `recollect show {memory.id}` to see why.",
        )
    return states.deprecate(store, memory, reason, actor, now)


def _previous(store: Store, memory: m.Memory) -> tuple[m.Memory, ...]:
    """Return the memories that it superseded, apart from duplicates merged into it."""
    replaced = [
        link.target
        for link in store.links(memory.id)
        if link.source == memory.id and link.relation is m.Relation.SUPERSEDES and link.reason != SAME
    ]
    candidates = store.get_many(replaced).values()
    return tuple(
        candidate
        for candidate in candidates
        if candidate.state is m.State.SUPERSEDED and candidate.superseded_by == memory.id
    )


def _ask(store: Store, memory: m.Memory, change: m.Change) -> tuple[str, ...]:
    """Put what was derived from it on the review list."""
    citing = [
        link.source for link in store.links(memory.id) if link.target == memory.id and link.relation in _CITES
    ]
    active = [derived for derived in store.get_many(citing).values() if derived.state is m.State.ACTIVE]
    for derived in active:
        store.reviews.ask(
            m.Review(
                m.new_id(change.at),
                change.user_id,
                derived.project_id,
                "derived",
                (derived.id, memory.id),
                "a memory it is based on was marked as wrong",
                change.at,
            )
        )
    return tuple(derived.id for derived in active)
