"""Looking after memories: what the engine does to many of them at once, and how it is taken back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import recollect.model as m
from recollect.code.graph.database import delete_graph_databases
from recollect.config import Settings
from recollect.context.context import Context
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.errors import OutOfScope, Refused
from recollect.memory.index.index import MemoryIndex
from recollect.memory.maintenance import compact, purge, states, undo
from recollect.model import AuditCheck, Cleared, Purged
from recollect.work.sessions.files import WaitingFiles

if TYPE_CHECKING:
    from recollect.llm.protocol import Judge
    from recollect.memory.maintenance.consolidate.run import Consolidation
    from recollect.memory.transfer.mirror import MirrorReport


@dataclass(frozen=True, slots=True)
class Care:
    """The table of contents of `tend`: `engine.care`. For people; an agent may look, and touch nothing."""

    store: Store
    embedder: Embedder
    settings: Settings
    clock: m.Clock
    actor: str
    project: m.Project | None  # None = outside any project: global memories only
    sidecar: "Judge | None" = None  # None = rules alone
    recover: Callable[[], object] = lambda: None  # learns from sessions that never ended
    context: Context = None  # type: ignore[assignment]
    index: MemoryIndex = None  # type: ignore[assignment]

    @property
    def project_id(self) -> str | None:
        return self.project.id if self.project else None

    def change(self, action: str, summary: str) -> m.Change:
        """The beginning of an act that can be undone."""
        return undo.new_change(
            action,
            summary,
            user_id=self.settings.user,
            project_id=self.project_id,
            actor=self.actor,
            now=self.clock(),
        )

    def changes(self, limit: int = 20) -> tuple[m.Change, ...]:
        """What was done to memories here and to global ones, newest first."""
        return tuple(self.store.changes.newest(self.settings.user, self.project_id, limit))

    def compact(self, most: int | None = None) -> "compact.Compaction":
        """End quarantines and archive what has had its day, by rule alone; the engine does it daily by itself."""
        return compact.compact(
            self.store,
            user_id=self.settings.user,
            project_id=self.project_id,
            capacity=self.settings.capacity,
            now=self.clock(),
            most=most,
        )

    def consolidate(
        self,
        only: Sequence[str] = (),
        *,
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
        stop: Callable[[], bool] | None = None,
        busy: Callable[[], bool] | None = None,
    ) -> "Consolidation":
        """Bring together what belongs together, in all projects; what is not certain is put to the user.

        `only` names operations, `progress` is told hundredths of one, `stop` ends it where it may go on another time,
        and while somebody is `busy` it waits. Raises `Refused`, `UnknownName`.
        """
        from recollect.memory.maintenance.consolidate.context import OperationContext
        from recollect.memory.maintenance.consolidate.run import consolidate, plan
        from recollect.memory.maintenance.consolidate.throttle import Throttle

        self.refuse_agents("consolidate memories")
        user, throttle = self.settings.user, Throttle(stop, busy)
        context = OperationContext(
            self.store,
            self.embedder,
            user,
            self.actor,
            self.clock(),
            throttle,
            self.sidecar,
            here=self.project,
        )
        if dry_run:
            return plan(context, only, progress)
        if not only:
            self.recover()
        return consolidate(context, only, progress, self.settings.home / "consolidate.lock")

    def mirror(self, folder: Path, *, plaintext: bool = False) -> "MirrorReport":
        """Bring what was edited in `folder` by hand into the store, and the files there up to date. Raises `Refused`."""
        from recollect.memory.transfer.mirror import Mirror
        from recollect.memory.write.writer import MemoryWriter

        self.refuse_agents("mirror memories")
        if self.store.info().encrypted and not plaintext:
            raise Refused(
                "The store is encrypted, and the files of a mirror are not.",
                "`--plaintext` makes them all the same; anyone who can read the disk can read them.",
            )

        def writer(project: m.Project | None) -> MemoryWriter:
            return MemoryWriter(self.context.for_project(project), self.index)

        mirror = Mirror(
            self.store,
            folder,
            writer,
            user_id=self.settings.user,
            actor=self.actor,
            clock=self.clock,
            change=replace(
                self.change("mirror", "Began to take in what was edited by hand."), project_id=None
            ),
        )
        return mirror.sync()

    def verify_audit(self) -> AuditCheck:
        """Whether the log of changes is as it was written, archived lines included."""
        return self.store.verify_audit()

    def undo(self, name: str) -> m.Undone:
        """Take back the change called `name`, by its id or the beginning or end of one. Raises `Refused`."""
        self.refuse_agents("undo a change")
        change = self.store.changes.get(self.settings.user, name)
        return undo.undo(self.store, change, self.actor, self.clock())

    def forget_project(self) -> tuple[m.Change, Cleared]:
        """All that is remembered of this project, out of sight as one change. Raises `Refused`."""
        self.refuse_agents("forget a project")
        if self.project is None:
            raise Refused("This folder belongs to no project.", "`recollect forget ID` forgets one memory.")
        change = self.change("forget", "Forgot the whole project.")
        cleared = states.forget_all(self.store, change, self.project.id)
        delete_graph_databases(self.settings.home, [self.project.id])
        return change, cleared

    def restore_project(self) -> m.Undone:
        """This project as it was when it was last forgotten as a whole. Raises `Refused`."""
        self.refuse_agents("restore a project")
        if self.project is None:
            raise Refused("This folder belongs to no project.", "Go into the project's folder.")
        return states.restore_all(self.store, self.settings.user, self.project.id, self.actor, self.clock())

    def forget_everything(self) -> tuple[m.Change, Cleared]:
        """All the user has, in every project, out of sight as one change. What waits to be taken in is not kept at all."""
        self.refuse_agents("forget everything")
        for folder in ("spool", "spool/hooks"):
            WaitingFiles(self.settings.home / folder).drain(lambda lines: 0)
        change = replace(self.change("forget", "Forgot everything."), project_id=None)
        cleared = states.forget_all(self.store, change, None)
        delete_graph_databases(self.settings.home)
        return change, cleared

    def purge(self) -> Purged | None:
        """What was forgotten more than 30 days ago goes for good; None where nothing is due, or it was done today."""
        return purge.purge_if_due(self.store, self.settings.home, self.clock())

    def vacuum(self, *, force: bool = False) -> int | None:
        """Rewrite the file without what it no longer needs, if that pays or `force`; bytes saved. Raises `StoreBusy`."""
        if not force and not purge.it_pays(self.store, self.clock()):
            return None
        return purge.vacuum(self.store, self.actor, self.clock())

    def refuse_agents(self, what: str) -> None:
        """Raises `OutOfScope` unless a person is at work."""
        if m.is_agent(self.actor):
            raise OutOfScope(f"An agent may not {what}.", "Ask the user to do it.")
