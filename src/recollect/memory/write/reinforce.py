"""Reinforce a memory that is stated again."""

from dataclasses import replace
from datetime import datetime

import recollect.model as m
from recollect.memory.judgement.compare import content_words
from recollect.memory.write.limits import MAX_SITUATIONS
from recollect.policy import Operation, Permission, is_persons, on_memory

MAX_REINFORCEMENTS = 50  # the newest are kept; `strength` counts all


def survivor_of(one: m.Memory, other: m.Memory) -> tuple[m.Memory, m.Memory]:
    """Return which stays and which is merged into it: the more trusted stays, then the pinned, the stronger, the older."""

    def rank(memory: m.Memory) -> tuple[float, bool, int]:
        return memory.trust, memory.pinned, memory.strength

    if rank(one) == rank(other):
        return (one, other) if one.id <= other.id else (other, one)
    return (one, other) if rank(one) > rank(other) else (other, one)


def reinforced(known: m.Memory, memory: m.Memory, now: datetime) -> m.Memory:
    """Return `known` after `memory` has said the same.

    An agent that repeats what is not its own, such as the user's words, makes it stronger and may say when it is needed. It
    changes nothing else.
    """
    text = memory.content if memory.fingerprint != known.fingerprint else ""
    latest = m.Reinforcement(at=now, by=memory.created_by, session=memory.session, said=text)
    stronger = replace(
        known,
        strength=known.strength + memory.strength,
        reinforcements=(*known.reinforcements, latest)[-MAX_REINFORCEMENTS:],
        when_needed=_situations(known, memory),
        updated_at=now,
    )
    if not may_enrich(known, memory):
        return stronger
    provenance = known.provenance
    if memory.trust > known.trust:  # a better source than before
        provenance = (*provenance, *memory.provenance)
    is_confirmed = known.standing is m.Standing.CANDIDATE and is_persons(memory)
    return replace(
        stronger,
        state=m.State.ACTIVE,
        standing=m.Standing.CONFIRMED if is_confirmed else known.standing,
        state_reason=None,
        importance=min(1.0, known.importance + 0.1),
        trust=max(known.trust, memory.trust),
        confidence=max(known.confidence, memory.confidence),
        provenance=provenance,
        tags=tuple(dict.fromkeys((*known.tags, *memory.tags))),
        file_paths=tuple(dict.fromkeys((*known.file_paths, *memory.file_paths))),
        triggers=tuple(dict.fromkeys((*known.triggers, *memory.triggers))),
        procedure=known.procedure or memory.procedure,
    )


def may_enrich(known: m.Memory, memory: m.Memory) -> bool:
    """Return whether `memory`, which says the same as `known`, may add its files, tags, triggers and words to it."""
    if known.user_id != memory.user_id:
        return False  # what another person said stays as they said it
    return _may(Operation.ENRICH, known, memory)


def _may(operation: Operation, known: m.Memory, memory: m.Memory) -> bool:
    author = "user" if is_persons(memory) else memory.created_by
    return on_memory(author, operation, known, known.project_id).permission is Permission.ALLOW


def _situations(known: m.Memory, memory: m.Memory) -> tuple[str, ...]:
    """Return when `known` is needed, also as `memory` says it."""
    if known.user_id != memory.user_id or not _may(Operation.DESCRIBE, known, memory):
        return known.when_needed
    return with_situations(known.when_needed, memory.when_needed, by_person=is_persons(memory))


def with_situations(known: tuple[str, ...], added: tuple[str, ...], *, by_person: bool) -> tuple[str, ...]:
    """Return the situations in which a memory is needed, after a person or an agent has added some.

    An agent's go behind those that are there. A person's go before them, and the last ones make room: so an agent never
    takes the place of a person.
    """
    both = (*added, *known) if by_person else (*known, *added)
    return tuple(dict.fromkeys(both))[:MAX_SITUATIONS]


def with_richer_text(known: m.Memory, memory: m.Memory, merged: m.Memory) -> m.Memory:
    """Return `merged`, which is `known` reinforced by `memory`, with the text of `memory` if it says more and is trusted as much."""
    if not may_enrich(known, memory):
        return merged
    richer = len(content_words(memory.content)) > len(content_words(known.content))
    if not richer or memory.trust < known.trust:
        return merged
    return replace(
        merged,
        content=memory.content,
        summary=memory.summary,
        fingerprint=memory.fingerprint,
        reinforcements=(*merged.reinforcements[:-1], replace(merged.reinforcements[-1], said=known.content)),
    )
