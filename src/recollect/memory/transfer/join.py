"""Two versions of one memory, from two machines, as one. In whatever order versions meet, the same comes of it.

`join` is commutative, associative and idempotent: that is what lets machines that never talk to each other at the same
time come to agree.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import TypeVar

import recollect.model as m

NEWEST = 50  # crumbs kept of a longer trail, as when memories are written
_MERGED = {"strength", "access_count", "last_accessed_at", "reinforcements", "provenance"}
_NEVER = datetime.min.replace(tzinfo=UTC)
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

Crumb = TypeVar("Crumb", bound=m.Provenance | m.Reinforcement)


def join(one: m.Memory, other: m.Memory) -> m.Memory:
    """What was written last holds, with what either side counted and every crumb of both, the newest of many."""
    if one == other:
        return one
    winner = max(one, other, key=_rank)
    used = [each.last_accessed_at for each in (one, other) if each.last_accessed_at is not None]
    return replace(
        winner,
        strength=max(one.strength, other.strength),
        access_count=max(one.access_count, other.access_count),
        last_accessed_at=max(used, default=None),
        reinforcements=_trail(one.reinforcements, other.reinforcements),
        provenance=(winner.provenance[0], *_trail(one.provenance[1:], other.provenance[1:])),
    )


def lost_text(one: m.Memory, other: m.Memory) -> m.Memory | None:
    """The text that `join` drops, as a memory of its own; None where the other side knew of it when it wrote its own.

    All of it depends on the loser alone, its id too: both machines make the same one.
    """
    loser, winner = sorted((one, other), key=_rank)
    knew = loser.updated_at < winner.updated_at and _rewritings(loser) <= _rewritings(winner)
    if knew or loser.fingerprint == winner.fingerprint:
        return None
    kept = replace(
        loser,
        id=_id_beside(loser),
        provenance=loser.provenance[:1],
        reinforcements=(),
        strength=1,
        access_count=0,
        last_accessed_at=None,
        valid_to=loser.valid_to or loser.updated_at,
    )
    if m.State.DELETED in (loser.state, winner.state):  # it is not to outlive what was forgotten
        gone = loser if loser.state is m.State.DELETED else winner
        return replace(
            kept, state=m.State.DELETED, state_reason=gone.state_reason, deleted_at=gone.deleted_at
        )
    return replace(
        kept,
        standing=m.Standing.CONFIRMED,
        state=m.State.SUPERSEDED,
        state_reason="superseded: rewritten on two machines",
        superseded_by=winner.id,
    )


def join_links(one: m.Link, other: m.Link) -> m.Link:
    """Of two with the same ends and relation: a quarrel that one side has ended is over."""
    return max(one, other, key=lambda link: (link.resolved_at or _NEVER, link.weight, m.dumps(link)))


def join_sessions(one: m.Session, other: m.Session) -> m.Session:
    """The one that knows of the later end."""
    return max(
        one, other, key=lambda each: (each.ended_at or _NEVER, each.active_at or _NEVER, m.dumps(each))
    )


def _rank(memory: m.Memory) -> tuple[datetime, datetime, str]:
    """Which of two holds: the later, or the one whose quarantine was decided; else the bytes say, on every machine alike."""
    said = [m.as_json(getattr(memory, each.name)) for each in fields(memory) if each.name not in _MERGED]
    said.append(m.as_json(memory.provenance[0]))
    return memory.updated_at, memory.settled_at or _NEVER, hashlib.sha256(m.dumps(said).encode()).hexdigest()


def _trail(one: Iterable[Crumb], other: Iterable[Crumb]) -> tuple[Crumb, ...]:
    united = sorted({*one, *other}, key=lambda crumb: (crumb.at, m.dumps(crumb)))
    return tuple(united[-NEWEST:])


def _rewritings(memory: m.Memory) -> set[m.Provenance | m.Reinforcement]:
    """What may have changed its text: it was edited, or said again in other words."""
    edits = {each for each in memory.provenance[1:] if each.reason == "edited"}
    return {*edits, *(each for each in memory.reinforcements if each.said)}


def _id_beside(memory: m.Memory) -> str:
    """An id that sorts by when the memory was made, the same wherever its text is."""
    millis = max(0, int(memory.created_at.timestamp() * 1000)) & (1 << 45) - 1
    digest = hashlib.sha256(f"{memory.id} {memory.fingerprint}".encode()).digest()
    number = millis << 45 | int.from_bytes(digest[:6]) >> 3
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(85, -1, -5))
