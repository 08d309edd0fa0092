"""A run of consolidation: many short transactions, one entry of `changes`; it can stop anywhere and resume there."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import ChangeNotFound, Refused, UnknownName
from recollect.frozen import frozen
from recollect.memory.maintenance.consolidate.context import Action, OperationContext, summarise
from recollect.memory.maintenance.consolidate.operations import OPERATIONS
from recollect.memory.maintenance.consolidate.throttle import Stopped
from recollect.memory.maintenance.undo import new_change
from recollect.store.file_lock import FileLock

UNFINISHED = "consolidation"  # a setting: the state of a run that has not finished
LAST = "consolidated"  # a setting: when the last run finished, and its summary

# When consolidation runs automatically. The daemon asks only once nobody has worked for IDLE.
PERIOD = timedelta(days=7)  # since the last run, whether somebody works or not
DAILY = timedelta(days=1)  # since the last run, once nobody has worked for IDLE
IDLE = timedelta(minutes=10)
CAPACITY_PERIOD = timedelta(hours=1)  # between two runs because the store is over capacity

Progress = Callable[[int], None]  # called with hundredths of an operation


@frozen
class PlannedAction:
    """Something a run would do."""

    operation: str
    counts_as: str
    memories: tuple[str, ...]
    why: str


@frozen
class Consolidation:
    """What a run did, or would do."""

    change: str | None  # None = nothing was changed
    counts: Mapping[str, int]  # by the names in `context.COUNTED`
    summary: str
    finished: bool  # False = it was stopped: the next run resumes it
    resumed: bool  # whether it resumed an unfinished run
    plan: tuple[PlannedAction, ...] = ()  # of a dry run


def due(
    last_run: datetime | None, now: datetime, active: int, capacity: int, idle_for: timedelta
) -> str | None:
    """Return why a run is due, "capacity", "period" or "idle", or None. A `capacity` of 0 means no limit."""
    if not active:
        return None
    # None = it has never run, or the clock was ahead when it did
    age = now - last_run if last_run is not None and last_run <= now else None
    if 0 < capacity < active and (age is None or age >= CAPACITY_PERIOD):
        return "capacity"
    if age is not None and age >= PERIOD:
        return "period"
    if idle_for >= IDLE and (age is None or age >= DAILY):
        return "idle"
    return None


def last_run(store: Store) -> datetime | None:
    """Return when the last run finished; None = never."""
    last = store.setting(None, LAST)
    return m.from_text(last["at"]) if last else None


def chosen(only: Sequence[str]) -> list[str]:
    """Return the names of operations in their order, all if `only` is empty. Raise `UnknownName`."""
    for name in only:
        if name not in OPERATIONS:
            raise UnknownName("operation", name, list(OPERATIONS))
    return [name for name in OPERATIONS if not only or name in only]


def plan(
    context: OperationContext, only: Sequence[str] = (), progress: Progress | None = None
) -> Consolidation:
    """Return what a run would do now, without writing anything."""
    context.since = last_run(context.store)
    planned: list[PlannedAction] = []
    finished = True
    try:
        for name in chosen(only):
            with _reporting(context, progress):
                planned += (
                    PlannedAction(name, action.counts_as, action.memories, action.why)
                    for action in OPERATIONS[name].plan(context, "")
                )
    except Stopped:
        finished = False
    counts = dict(Counter(action.counts_as for action in planned))
    return Consolidation(None, counts, summarise(counts), finished, False, tuple(planned))


def consolidate(
    context: OperationContext, only: Sequence[str], progress: Progress | None, lock: Path
) -> Consolidation:
    """Run the operations, resuming an unfinished run of the same operations. Raise `Refused`, `UnknownName`."""
    names = chosen(only)
    presence = FileLock(lock)
    try:
        if not presence.exclude_others():
            raise Refused("Consolidation is already running.", "Wait for it to finish, or stop it.")
        return _consolidate(context, names, progress)
    finally:
        presence.leave()


def _consolidate(context: OperationContext, names: list[str], progress: Progress | None) -> Consolidation:
    context.since = last_run(context.store)
    run = Run.resume(context, names)
    finished = True
    try:
        for name in run.remaining():
            with _reporting(context, progress):
                operation = OPERATIONS[name]
                for actions in _batches(operation.plan(context, run.position), operation.batch):
                    context.throttle.yield_to_foreground()
                    run.carry_out(actions)
                    context.throttle.pause()
            run.complete(name)
    except Stopped:
        finished = False
    return run.end(finished)


class Run:
    """The progress of a run, saved in the store with every transaction."""

    def __init__(
        self,
        context: OperationContext,
        change: m.Change,
        names: list[str],
        saved: Mapping[str, Any] | None,
    ) -> None:
        self._context = context
        self._change = change
        self._names = names
        self.resumed = saved is not None
        saved = saved or {}
        self._done: list[str] = saved.get("done", [])
        self.position: str = saved.get("position", "")  # in the first remaining operation
        self._counts: Counter[str] = Counter(saved.get("counts", {}))

    @classmethod
    def resume(cls, context: OperationContext, names: list[str]) -> "Run":
        """Return the unfinished run of these operations, or a new one."""
        store = context.store
        saved = store.setting(None, UNFINISHED)
        if saved and (saved["names"], saved.get("project")) == (names, context.project_id):
            change = _change(context, saved["change"])
            if change.undone_at is None:
                return cls(context, change, names, saved)
        new = new_change(
            "consolidate",
            "Started to consolidate.",
            user_id=context.user_id,
            project_id=context.project_id,
            actor=context.actor,
            now=context.now,
        )
        if saved:  # it ran other operations or in another project, or was undone: close it
            old = _change(context, saved["change"])
            if old.undone_at is None:
                summary = f"{summarise(saved['counts'])} Stopped before the end."
                store.changes.finish(replace(old, summary=summary, finished_at=context.now))
            store.set_setting(None, UNFINISHED, None)
        return cls(context, new, names, None)

    def remaining(self) -> list[str]:
        return [name for name in self._names if name not in self._done]

    def carry_out(self, actions: Sequence[Action]) -> None:
        with self._context.store.changes.recorded(self._change):
            done = [action.counts_as for action in actions if action.do()]
            self._save(actions[-1].position, self._counts + Counter(done))
        self._counts.update(done)

    def complete(self, name: str) -> None:
        self._done = [*self._done, name]
        self.position = ""
        self._save("", self._counts)

    def _save(self, position: str, counts: Counter[str]) -> None:
        self._context.store.set_setting(
            None,
            UNFINISHED,
            {
                "change": self._change.id,
                "names": self._names,
                "project": self._context.project_id,
                "done": self._done,
                "position": position,
                "counts": dict(counts),
            },
        )

    def end(self, finished: bool) -> Consolidation:
        context, store, counts = self._context, self._context.store, dict(self._counts)
        summary = summarise(counts)
        if finished:
            with store.transaction():
                store.log("update", context.actor, context.now, None, {"consolidated": counts})
                store.changes.finish(replace(self._change, summary=summary, finished_at=context.now))
                store.set_setting(None, UNFINISHED, None)
                if context.project_id is None:  # else other projects are still to be consolidated
                    store.set_setting(None, LAST, {"at": context.now, "summary": summary})
        return Consolidation(
            self._change.id if any(counts.values()) else None, counts, summary, finished, self.resumed
        )


def _change(context: OperationContext, change_id: str) -> m.Change:
    """Return the recorded change, or the one that the run's first transaction will record."""
    try:
        return context.store.changes.get(context.user_id, change_id)
    except ChangeNotFound:
        summary = "Started to consolidate."
        return m.Change(change_id, context.user_id, None, context.now, context.actor, "consolidate", summary)


def _batches(actions: Iterator[Action], size: int) -> Iterator[list[Action]]:
    batch: list[Action] = []
    for action in actions:
        batch.append(action)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


@contextmanager
def _reporting(context: OperationContext, progress: Progress | None) -> Iterator[None]:
    """Report the progress of one operation; at its end, report what is left of 100."""
    reported = 0

    def report(share: float) -> None:
        nonlocal reported
        if progress is not None and int(100 * share) > reported:
            progress(int(100 * share) - reported)
            reported = int(100 * share)

    context.advance = report
    yield
    report(1.0)
