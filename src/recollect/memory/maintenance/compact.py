"""Compaction: end quarantines and archive memories that are no longer needed, each with its reason (docs/lifecycle.md).

Only what a program decided to keep is archived, and nothing is deleted. A memory kept by a program is in quarantine, a
candidate, until it is used; if it is not used within a day, its importance is lowered once.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum

import recollect.model as m
from recollect.context.store import Store
from recollect.frozen import frozen
from recollect.kinds import DOUBTED, FADED, LATELY, QUARANTINE, ROOM, USED_ENOUGH, kind_of
from recollect.memory.decay import confidence_now, importance_now, last_stated
from recollect.memory.maintenance.clusters import retrievals
from recollect.memory.maintenance.undo import new_change
from recollect.policy import USER_SOURCES

ACTOR = "agent:memory"
EVERY = timedelta(days=1)
RETRIEVALS = 50
_BATCH = 500  # memories in one transaction, so that others can write in between
_UNDONE = 50  # recent compactions that are searched for undone ones


class Cause(StrEnum):
    """Why a memory is archived."""

    SESSION = "session"
    TIME = "time"
    FADED = "faded"
    CAPACITY = "capacity"


_CAUSE_TEXT = {
    Cause.SESSION: "of ended sessions",
    Cause.TIME: "out of time",
    Cause.FADED: "faded",
    Cause.CAPACITY: "over capacity",
}


@frozen
class Archival:
    """A memory to archive, and why."""

    memory: str
    cause: Cause
    reason: str  # stored as its `state_reason`


@frozen
class Compaction:
    """What a compaction did."""

    change: str | None  # for `undo`; None = nothing to do
    archived: tuple[Archival, ...] = ()
    confirmed: tuple[str, ...] = ()  # candidates that were used
    doubted: tuple[str, ...] = ()  # candidates that were not used

    @property
    def counts(self) -> dict[Cause, int]:
        """The number of archived memories by cause."""
        return dict(Counter(archival.cause for archival in self.archived))

    @property
    def summary(self) -> str:
        causes = ", ".join(f"{count:,} {_CAUSE_TEXT[cause]}" for cause, count in sorted(self.counts.items()))
        parts = (
            f"archived {len(self.archived):,} ({causes})" if self.archived else "",
            f"confirmed {len(self.confirmed):,} that were used" if self.confirmed else "",
            f"lowered {len(self.doubted):,} that were not" if self.doubted else "",
        )
        text = "; ".join(part for part in parts if part) or "nothing to do"
        return f"{text[0].upper()}{text[1:]}."


def is_due(store: Store, project_id: str | None, now: datetime) -> bool:
    """Return whether a day or 50 retrievals have passed since the last compaction. Costs two look-ups."""
    last = store.setting(project_id, "compacted")
    if last is None:
        return True
    return (
        abs(now - m.from_text(last["at"])) >= EVERY  # a clock that was wrong must not stop it for years
        or retrievals(store, project_id) - last["retrievals"] >= RETRIEVALS
    )


def compact(
    store: Store,
    *,
    user_id: str,
    project_id: str | None,
    capacity: int,
    now: datetime,
    most: int | None = None,
) -> Compaction:
    """End quarantines and archive memories as one change, `most` of them at most."""
    view = m.View(user_id, project_id, all_sessions=True)
    memories = store.ageing(view, now, capacity)
    spared = _restored_by_undo(store, user_id, project_id)
    quarantines = [_quarantine(memory, now) for memory in memories if memory.id not in spared]
    steps = [step for step in quarantines if step is not None]
    after = {step.before.id: step.after for step in steps}
    memories = [after.get(memory.id, memory) for memory in memories]
    archivals = {
        archival.memory: archival
        for archival in plan(memories, now, capacity, _ended(store, memories), spared)
    }
    steps += [_archiving(memory, archivals[memory.id], now) for memory in memories if memory.id in archivals]
    steps = steps[:most]

    change = new_change("compact", "", user_id=user_id, project_id=project_id, actor=ACTOR, now=now)
    batches = [steps[start : start + _BATCH] for start in range(0, len(steps), _BATCH)]
    done = [step for batch in batches for step in _apply(store, change, batch, now)]
    made = Compaction(
        change.id if done else None,
        tuple(archivals[step.before.id] for step in done if step.after.state is m.State.ARCHIVED),
        tuple(step.before.id for step in done if step.action == "promote"),
        tuple(step.before.id for step in done if step.action == "update"),
    )
    with store.transaction():
        store.changes.finish(replace(change, summary=made.summary, finished_at=now))
        last = {"at": m.to_text(now), "retrievals": retrievals(store, project_id), "summary": made.summary}
        store.set_setting(project_id, "compacted", last)
    return made


def plan(
    memories: Iterable[m.Memory],
    now: datetime,
    capacity: int,
    ended: Collection[str] = (),
    spared: Collection[str] = (),
) -> list[Archival]:
    """Return what to archive, and why. `ended` are sessions; memories in `spared` stay whatever the rules say.

    What describes a moment goes when its time is over. Anything else goes only from a project above its capacity: first
    what has had its day, then what is least important. An old memory costs nothing where there is room for it.
    """
    candidates = [
        memory for memory in memories if memory.state is m.State.ACTIVE and memory.promoted_at is not None
    ]
    free = [memory for memory in candidates if memory.id not in spared and not _is_exempt(memory, now)]
    archivals = [Archival(memory.id, *why) for memory in free if (why := _why_over(memory, now, ended))]
    archived = {archival.memory for archival in archivals}
    for project, count in Counter(
        memory.project_id for memory in candidates if memory.id not in archived
    ).items():
        if capacity and count > capacity:
            remaining = [
                memory for memory in free if memory.project_id == project and memory.id not in archived
            ]
            archivals += _evicted(remaining, count - int(ROOM * capacity), now, capacity)
    return archivals


def settled(memory: m.Memory, now: datetime) -> m.Memory | None:
    """Return the memory after its quarantine; None if that has not ended, or was decided before."""
    if (
        memory.state is not m.State.ACTIVE
        or memory.standing is not m.Standing.CANDIDATE
        or memory.promoted_at is None
        or now - memory.promoted_at < QUARANTINE
    ):
        return None
    if memory.access_count > 0 or is_stated(memory):
        return replace(memory, standing=m.Standing.CONFIRMED, settled_at=now, updated_at=now)
    if memory.settled_at is None:
        importance = round(memory.importance * DOUBTED, 6)
        return replace(memory, importance=importance, settled_at=now, updated_at=now)
    return None


def is_stated(memory: m.Memory) -> bool:
    """Return whether a person stated it, at first or again."""
    return any(entry.source in USER_SOURCES for entry in memory.provenance)


def _is_exempt(memory: m.Memory, now: datetime) -> bool:
    used = memory.last_accessed_at
    return memory.pinned or is_stated(memory) or (used is not None and now - used < LATELY)


def _why_over(memory: m.Memory, now: datetime, ended: Collection[str]) -> tuple[Cause, str] | None:
    """Return why what a memory describes is over; None if it is not, or if it describes no moment."""
    if memory.scope is m.Scope.SESSION and memory.session in ended:
        return Cause.SESSION, "its session has ended"
    return _why_outlived(memory, now) if kind_of(memory.kind).is_transient else None


def _why_outlived(memory: m.Memory, now: datetime) -> tuple[Cause, str] | None:
    """Return why a memory has had its day, by its kind's time to live or its confidence; None if it has not."""
    ttl = kind_of(memory.kind).ttl
    age = now - last_stated(memory)
    if ttl is not None and memory.access_count < USED_ENOUGH and age > timedelta(days=ttl):
        return (
            Cause.TIME,
            f"past its {ttl:g} days, {('never used', 'used once', 'used twice')[memory.access_count]}",
        )
    confidence = confidence_now(memory, now)
    if confidence < FADED:
        return Cause.FADED, f"faded: confidence {confidence:.2f}"
    return None


def _evicted(memories: Sequence[m.Memory], number: int, now: datetime, capacity: int) -> Iterator[Archival]:
    """Yield so many memories to archive: those that have had their day first, of equals the least important."""
    outlived = {memory.id: why for memory in memories if (why := _why_outlived(memory, now))}
    ranked = sorted(
        (memory.id not in outlived, importance_now(memory, now), memory.id) for memory in memories
    )
    for _, importance, name in ranked[:number]:
        least = Cause.CAPACITY, f"over capacity of {capacity}: importance {importance:.2f}"
        yield Archival(name, *outlived.get(name, least))


@frozen
class _MemoryUpdate:
    before: m.Memory
    after: m.Memory
    action: str  # of the audit line
    detail: dict[str, object]


def _quarantine(memory: m.Memory, now: datetime) -> _MemoryUpdate | None:
    after = settled(memory, now)
    if after is None:
        return None
    if after.standing is m.Standing.CONFIRMED:
        return _MemoryUpdate(
            memory, after, "promote", {"standing": after.standing, "used": after.access_count}
        )
    return _MemoryUpdate(memory, after, "update", {"quarantine": "not used", "importance": after.importance})


def _archiving(memory: m.Memory, departure: Archival, now: datetime) -> _MemoryUpdate:
    after = replace(memory, state=m.State.ARCHIVED, state_reason=departure.reason, updated_at=now)
    action = "evict" if departure.cause is Cause.CAPACITY else "compact"
    return _MemoryUpdate(memory, after, action, {"state": after.state, "reason": departure.reason})


def _apply(
    store: Store, change: m.Change, steps: Sequence[_MemoryUpdate], now: datetime
) -> list[_MemoryUpdate]:
    """Write the updates in one transaction, apart from memories that changed since they were read."""
    done = []
    with store.changes.recorded(change):
        current = store.get_many([step.before.id for step in steps])
        for step in steps:
            if current.get(step.before.id) == step.before:
                store.log(step.action, ACTOR, now, step.before.id, step.detail)
                store.put(step.after)
                current[step.before.id] = step.after
                done.append(step)
    return done


def _ended(store: Store, memories: Iterable[m.Memory]) -> set[str]:
    names = {memory.session for memory in memories if memory.scope is m.Scope.SESSION and memory.session}
    sessions = [store.get_session(name) for name in names]
    return {session.id for session in sessions if session is not None and session.ended_at is not None}


def _restored_by_undo(store: Store, user_id: str, project_id: str | None) -> set[str]:
    """Return memories that a user restored by undoing a compaction: they are not archived again."""
    changes = store.changes.newest(user_id, project_id, _UNDONE, actions=("compact",))
    undone = [change.id for change in changes if change.undone_at is not None]
    return {memory_id for change_id in undone for memory_id in store.changes.touched(change_id)}
