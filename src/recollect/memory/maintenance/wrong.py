"""A person says that a memory is wrong: it goes, what it replaced may come back, what was made of it is looked at again."""

from dataclasses import dataclass, replace
from datetime import datetime

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import Refused
from recollect.memory.maintenance import states
from recollect.memory.maintenance.merge import SAME
from recollect.memory.maintenance.undo import one_change
from recollect.memory.write import limits
from recollect.memory.write.writer import MemoryWriter
from recollect.text.redact import redact

FLAGGED = "user_flagged"
_CITES = (m.Relation.DERIVED_FROM, m.Relation.DEPENDS_ON)  # by their source what it is made of, their target


@dataclass(frozen=True, slots=True)
class WrongResult:
    """What became of a memory that was called wrong."""

    memory: m.Memory  # as it is now
    change: str  # which takes all of it back
    previous: tuple[m.Memory, ...]  # what it had taken the place of
    restored: tuple[str, ...]  # those that were brought back
    review: tuple[str, ...]  # memories made of it, which wait on the review list
    correction: m.Receipt | None  # None where nobody said what is right


def flag(
    store: Store,
    writer: MemoryWriter,
    change: m.Change,
    memory: m.Memory,
    because: str,
    instead: str,
    restore: bool,
) -> WrongResult:
    """All of it as `change`. Raises `Refused`, and nothing was changed."""
    if instead and restore:
        raise Refused(
            "What is right instead, and what was there before, cannot both take its place.",
            "Give one of the two.",
        )
    reason = _reason(because)
    correction = writer.prepare(_correction(memory, instead, change.actor)) if instead else None
    if correction is not None and correction.memory.fingerprint == memory.fingerprint:
        raise Refused("That is what the memory says already.", "Say what is right instead.")
    if correction is not None and correction.memory.project_id != memory.project_id:
        raise Refused(
            f"Memory {memory.id} belongs to another project.", "Go there to say what is right instead."
        )
    with one_change(store, replace(change, summary=f"{memory.id} was called wrong.")):
        memory = _deprecate(store, memory.id, reason, change.actor, change.at)
        previous = _previous(store, memory)
        made_of_it = _ask(store, memory, change)
        if restore:
            for each in previous:
                states.restore(store, each.id, change.actor, change.at)
        receipt = writer.write(correction) if correction is not None else None
        if receipt is not None:
            memory = replace(memory, superseded_by=receipt.id)
            store.put(memory)
            store.put_link(m.Link(receipt.id, memory.id, m.Relation.SUPERSEDES, change.at, 1.0, "corrected"))
    restored = tuple(each.id for each in previous) if restore else ()
    return WrongResult(memory, change.id, previous, restored, made_of_it, receipt)


def _reason(because: str) -> str:
    text, _ = redact(" ".join(limits.plain(because, "The reason").split()))
    return f"{FLAGGED}: {limits.short(text, 'reason')}" if text else FLAGGED


def _correction(memory: m.Memory, instead: str, actor: str) -> m.Draft:
    """It is about what the wrong one was about."""
    return m.Draft(
        instead,
        kind="human_feedback",
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
            f"Memory {memory.id} is {memory.state} already: it is not shown to anyone.",
            f"`recollect show {memory.id}` tells why.",
        )
    return states.deprecate(store, memory, reason, actor, now)


def _previous(store: Store, memory: m.Memory) -> tuple[m.Memory, ...]:
    """What it had taken the place of, saying something else."""
    replaced = [
        link.target
        for link in store.links(memory.id)
        if link.source == memory.id and link.relation is m.Relation.SUPERSEDES and link.reason != SAME
    ]
    found = store.get_many(replaced).values()
    return tuple(
        each for each in found if each.state is m.State.SUPERSEDED and each.superseded_by == memory.id
    )


def _ask(store: Store, memory: m.Memory, change: m.Change) -> tuple[str, ...]:
    """Put what was made of it on the review list."""
    citing = [
        link.source for link in store.links(memory.id) if link.target == memory.id and link.relation in _CITES
    ]
    active = [each for each in store.get_many(citing).values() if each.state is m.State.ACTIVE]
    for each in active:
        store.reviews.ask(
            m.Review(
                m.new_id(change.at),
                change.user_id,
                each.project_id,
                "derived",
                (each.id, memory.id),
                "what it was made of was called wrong",
                change.at,
            )
        )
    return tuple(each.id for each in active)
