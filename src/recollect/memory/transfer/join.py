"""Join two versions of one memory, from two machines, into one.

`join` is commutative, associative and idempotent, so machines that exchange exports in any order agree in the end.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import TypeVar

import recollect.model as m

NEWEST = 50  # entries kept of a longer history, as when memories are written
_MERGED = {"strength", "access_count", "last_accessed_at", "reinforcements", "provenance"}
_NEVER = datetime.min.replace(tzinfo=UTC)
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

HistoryEntry = TypeVar("HistoryEntry", bound=m.Provenance | m.Reinforcement)


def join(one: m.Memory, other: m.Memory) -> m.Memory:
    """Return the version written last, with the larger counts and the newest history entries of both."""
    if one == other:
        return one
    winner = max(one, other, key=_rank)
    used = [memory.last_accessed_at for memory in (one, other) if memory.last_accessed_at is not None]
    return replace(
        winner,
        strength=max(one.strength, other.strength),
        access_count=max(one.access_count, other.access_count),
        last_accessed_at=max(used, default=None),
        reinforcements=_history(one.reinforcements, other.reinforcements),
        provenance=(winner.provenance[0], *_history(one.provenance[1:], other.provenance[1:])),
    )


def lost_text(one: m.Memory, other: m.Memory) -> m.Memory | None:
    """Return the text that `join` drops as a memory of its own; None if the other side edited that very text.

    The memory and its id depend on the losing version alone, so both machines make the same one.
    """
    loser, winner = sorted((one, other), key=_rank)
    knew = loser.updated_at < winner.updated_at and _rewritings(loser) <= _rewritings(winner)
    if knew or loser.fingerprint == winner.fingerprint:
        return None
    lost = replace(
        loser,
        id=_id_beside(loser),
        provenance=loser.provenance[:1],
        reinforcements=(),
        strength=1,
        access_count=0,
        last_accessed_at=None,
        valid_to=loser.valid_to or loser.updated_at,
    )
    if m.State.DELETED in (loser.state, winner.state):  # it must not outlive the forgotten memory
        gone = loser if loser.state is m.State.DELETED else winner
        return replace(
            lost, state=m.State.DELETED, state_reason=gone.state_reason, deleted_at=gone.deleted_at
        )
    return replace(
        lost,
        standing=m.Standing.CONFIRMED,
        state=m.State.SUPERSEDED,
        state_reason="superseded: rewritten on two machines",
        superseded_by=winner.id,
    )


def join_links(one: m.Link, other: m.Link) -> m.Link:
    """Join two links with the same ends and relation. A conflict that one side has resolved is resolved."""
    return max(one, other, key=lambda link: (link.resolved_at or _NEVER, link.weight, m.dumps(link)))


def join_sessions(one: m.Session, other: m.Session) -> m.Session:
    """Return the version with the later end."""
    return max(
        one,
        other,
        key=lambda session: (session.ended_at or _NEVER, session.active_at or _NEVER, m.dumps(session)),
    )


def _rank(memory: m.Memory) -> tuple[datetime, datetime, str]:
    """Order versions by last update, then by when the quarantine ended, then by a digest that is the same everywhere."""
    values = [m.as_json(getattr(memory, field.name)) for field in fields(memory) if field.name not in _MERGED]
    values.append(m.as_json(memory.provenance[0]))
    return (
        memory.updated_at,
        memory.settled_at or _NEVER,
        hashlib.sha256(m.dumps(values).encode()).hexdigest(),
    )


def _history(one: Iterable[HistoryEntry], other: Iterable[HistoryEntry]) -> tuple[HistoryEntry, ...]:
    united = sorted({*one, *other}, key=lambda entry: (entry.at, m.dumps(entry)))
    return tuple(united[-NEWEST:])


def _rewritings(memory: m.Memory) -> set[m.Provenance | m.Reinforcement]:
    """Return the entries that may have changed the text: edits, and repetitions in other words."""
    edits = {entry for entry in memory.provenance[1:] if entry.reason == "edited"}
    return {*edits, *(entry for entry in memory.reinforcements if entry.said)}


def _id_beside(memory: m.Memory) -> str:
    """Return an id that sorts by when the memory was made, and is the same on every machine for the same text."""
    millis = max(0, int(memory.created_at.timestamp() * 1000)) & (1 << 45) - 1
    digest = hashlib.sha256(f"{memory.id} {memory.fingerprint}".encode()).digest()
    number = millis << 45 | int.from_bytes(digest[:6]) >> 3
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(85, -1, -5))
