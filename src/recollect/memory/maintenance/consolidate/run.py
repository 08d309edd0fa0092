"""A run of consolidation: many short transactions, one entry of `changes`, cut short anywhere and gone on with there."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import ChangeNotFound, Refused, UnknownName
from recollect.memory.maintenance.consolidate.act import Act, summarise
from recollect.memory.maintenance.consolidate.pace import Stopped
from recollect.memory.maintenance.consolidate.table import OPERATIONS
from recollect.memory.maintenance.consolidate.work import Work
from recollect.memory.maintenance.undo import new_change
from recollect.store.presence import Presence

UNDER_WAY = "consolidation"  # a setting: how far a run has come that has not ended
LAST = "consolidated"  # a setting: when the last one ended

Progress = Callable[[int], None]  # told hundredths of an operation


@dataclass(frozen=True, slots=True)
class Planned:
    """Something a run would do."""

    operation: str
    counts_as: str
    memories: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What a run did, or would do."""

    change: str | None  # None where nothing was changed
    counts: Mapping[str, int]  # by the names in `act.COUNTED`
    summary: str
    finished: bool  # False where it was told to stop: the next run goes on
    resumed: bool  # whether it went on with one that had been cut short
    plan: tuple[Planned, ...] = ()  # of a dry run


def last_run(store: Store) -> datetime | None:
    """When the last run ended; None = never."""
    kept = store.setting(None, LAST)
    return m.from_text(kept["at"]) if kept else None


def chosen(only: Sequence[str]) -> list[str]:
    """The names of operations in their order; all of them if none is named. Raises `UnknownName`."""
    for name in only:
        if name not in OPERATIONS:
            raise UnknownName("operation", name, list(OPERATIONS))
    return [name for name in OPERATIONS if not only or name in only]


def plan(work: Work, only: Sequence[str] = (), progress: Progress | None = None) -> Consolidation:
    """What a run would do now. Writes nothing."""
    work.since = last_run(work.store)
    found: list[Planned] = []
    finished = True
    try:
        for name in chosen(only):
            with _watched(work, progress):
                found += (
                    Planned(name, act.counts_as, act.memories, act.why)
                    for act in OPERATIONS[name].plan(work, "")
                )
    except Stopped:
        finished = False
    counts = dict(Counter(each.counts_as for each in found))
    return Consolidation(None, counts, summarise(counts), finished, False, tuple(found))


def consolidate(work: Work, only: Sequence[str], progress: Progress | None, lock: Path) -> Consolidation:
    """Do it, from where the last run was cut short if that was to do the same. Raises `Refused`, `UnknownName`."""
    names = chosen(only)
    presence = Presence(lock)
    try:
        if not presence.exclude_others():
            raise Refused("Consolidation is under way already.", "Wait for it to end, or stop it.")
        return _consolidate(work, names, progress)
    finally:
        presence.leave()


def _consolidate(work: Work, names: list[str], progress: Progress | None) -> Consolidation:
    work.since = last_run(work.store)
    course = _Course.take_up(work, names)
    finished = True
    try:
        for name in course.remaining():
            with _watched(work, progress):
                operation = OPERATIONS[name]
                for acts in _batches(operation.plan(work, course.position), operation.at_once):
                    work.pace.breathe()
                    course.carry_out(acts)
                    work.pace.rest()
            course.complete(name)
    except Stopped:
        finished = False
    return course.end(finished)


class _Course:
    """How far a run has come, kept in the store with every transaction."""

    def __init__(
        self, work: Work, change: m.Change, names: list[str], kept: Mapping[str, Any] | None
    ) -> None:
        self._work = work
        self._change = change
        self._names = names
        self.resumed = kept is not None
        kept = kept or {}
        self._done: list[str] = kept.get("done", [])
        self.position: str = kept.get("position", "")  # of the first operation that remains
        self._counts: Counter[str] = Counter(kept.get("counts", {}))

    @classmethod
    def take_up(cls, work: Work, names: list[str]) -> "_Course":
        store = work.store
        kept = store.setting(None, UNDER_WAY)
        if kept and kept["names"] == names:
            change = _change(work, kept["change"])
            if change.undone_at is None:
                return cls(work, change, names, kept)
        new = new_change(
            "consolidate",
            "Began to consolidate.",
            user_id=work.user_id,
            project_id=None,
            actor=work.actor,
            now=work.now,
        )
        if kept:  # of another kind, or taken back since: that one is over
            old = _change(work, kept["change"])
            if old.undone_at is None:
                summary = f"{summarise(kept['counts'])} Cut short."
                store.changes.finish(replace(old, summary=summary, finished_at=work.now))
            store.set_setting(None, UNDER_WAY, None)
        return cls(work, new, names, None)

    def remaining(self) -> list[str]:
        return [name for name in self._names if name not in self._done]

    def carry_out(self, acts: Sequence[Act]) -> None:
        store = self._work.store
        with store.changes.recorded(self._change):
            done = [act.counts_as for act in acts if act.do()]
            self._keep(acts[-1].position, self._counts + Counter(done))
        self._counts.update(done)

    def complete(self, name: str) -> None:
        self._done = [*self._done, name]
        self.position = ""
        self._keep("", self._counts)

    def _keep(self, position: str, counts: Counter[str]) -> None:
        self._work.store.set_setting(
            None,
            UNDER_WAY,
            {
                "change": self._change.id,
                "names": self._names,
                "done": self._done,
                "position": position,
                "counts": dict(counts),
            },
        )

    def end(self, finished: bool) -> Consolidation:
        work, counts = self._work, dict(self._counts)
        summary = summarise(counts)
        if finished:
            with work.store.transaction():
                work.store.log("update", work.actor, work.now, None, {"consolidated": counts})
                ended = replace(self._change, summary=summary, finished_at=work.now)
                work.store.changes.finish(ended)
                work.store.set_setting(None, UNDER_WAY, None)
                work.store.set_setting(None, LAST, {"at": work.now, "summary": summary})
        return Consolidation(
            self._change.id if any(counts.values()) else None, counts, summary, finished, self.resumed
        )


def _change(work: Work, change_id: str) -> m.Change:
    """As it is listed; as it would be, where its first transaction is still to come."""
    try:
        return work.store.changes.get(work.user_id, change_id)
    except ChangeNotFound:
        text = "Began to consolidate."
        return m.Change(change_id, work.user_id, None, work.now, work.actor, "consolidate", text)


def _batches(acts: Iterator[Act], size: int) -> Iterator[list[Act]]:
    batch: list[Act] = []
    for act in acts:
        batch.append(act)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


@contextmanager
def _watched(work: Work, progress: Progress | None) -> Iterator[None]:
    """Tells `progress` of the shares of one operation, and at its end of what was left."""
    told = 0

    def tell(share: float) -> None:
        nonlocal told
        if progress is not None and int(100 * share) > told:
            progress(int(100 * share) - told)
            told = int(100 * share)

    work.advance = tell
    yield
    tell(1.0)
