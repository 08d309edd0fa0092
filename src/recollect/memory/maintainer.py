"""Change many memories at once, and undo such changes. `engine.care` is a `Maintenance`.

Everything here is for users. An agent may list changes and compact, and nothing else.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import recollect.model as m
from recollect.code.codebase import Codebase
from recollect.code.graph.database import delete_graph_databases
from recollect.context.confirmed_time import see_clock
from recollect.context.context import Context
from recollect.errors import Refused
from recollect.frozen import frozen
from recollect.memory.anchors.stale import ask_about, check_anchors, refresh_changed
from recollect.memory.maintenance import compact, purge, states, undo
from recollect.memory.maintenance.vectors import embed_missing, models_of
from recollect.memory.memories import Memories
from recollect.model import AuditCheck, Cleared, KeyNote, Purged, Stale
from recollect.policy import Operation
from recollect.store.keys import find_key, make_key
from recollect.store.spool_files import SpoolFiles, spool_folders

if TYPE_CHECKING:
    from recollect.llm.protocol import Judge
    from recollect.memory.anchors.difference import CodeDifference
    from recollect.memory.maintenance.consolidate.run import Consolidation
    from recollect.memory.maintenance.doctor import Diagnosis
    from recollect.memory.maintenance.review import OpenReview, ReviewDecision
    from recollect.memory.transfer.mirror import MirrorReport

_MOST_CHANGES = 1000  # that are looked at for the last one


@frozen
class Maintenance:
    """Consolidation, review, undo, backups and encryption for one user."""

    context: Context
    memory: Memories
    code: Codebase
    judge: "Judge | None" = None  # None = rules alone

    # changes

    def changes(self, limit: int = 20, *, all_projects: bool = False) -> tuple[m.Change, ...]:
        """Return what was done to memories of this project, or of all, and to global ones, newest first."""
        context = self.context
        return tuple(
            context.store.changes.newest(
                context.user_id,
                context.project_id,
                limit,
                all_projects=all_projects and not context.is_agent,
            )
        )

    def last_change(self) -> m.Change:
        """Return the newest change of this person that is not undone; undoing is none. Raise `Refused` if there is none.

        What agents and the daemon changed is not in question: who undoes does not expect to undo another's work.
        """
        for change in self.changes(_MOST_CHANGES):
            if _can_be_undone(change) and change.actor == self.context.actor:
                return change
        raise Refused(
            "There is no change of yours to undo.",
            "`recollect changes` lists those of agents; undo one by its id.",
        )

    def changes_by_others(self, since: m.Change) -> tuple[m.Change, ...]:
        """Return what agents and the daemon changed after `since` and nobody has undone, newest first."""
        newer = (change for change in self.changes(_MOST_CHANGES) if change.id > since.id)
        return tuple(
            change for change in newer if _can_be_undone(change) and change.actor != self.context.actor
        )

    def undo(self, name: str) -> m.Undone:
        """Undo a change, named by its id or the beginning or end of it. Raises `Refused`."""
        context = self.context
        context.check(Operation.UNDO)
        change = context.store.changes.get(context.user_id, name)
        return undo.undo(context.store, change, context.actor, context.clock())

    def verify_audit(self) -> AuditCheck:
        """Check that the audit log, with its archived lines, is as it was written."""
        return self.context.store.verify_audit()

    # memories that need a decision

    def questions(
        self, kind: str | None = None, *, all_projects: bool = False, tidy: bool = True
    ) -> "tuple[OpenReview, ...]":
        """Return the questions that wait for the user's review, oldest first; of one kind, or all.

        `tidy` closes those that no longer apply.
        """
        from recollect.memory.maintenance.review import questions

        context = self.context
        stale = self.stale() if kind in (None, "stale") and not context.is_agent else {}
        if stale and tidy and context.project_id is not None:  # marks of older versions were not asked about
            ask_about(context.store, context.user_id, context.project_id, stale, (), context.clock())
        projects = {context.project_id}
        if all_projects and not context.is_agent:
            projects |= {project.id for project in context.store.projects()}
        found = {
            question.review.id: question
            for project_id in projects
            for question in questions(
                context.store,
                context.user_id,
                project_id,
                kind,
                context.clock(),
                tidy=tidy and not context.is_agent,
            )
        }
        if context.is_agent:
            view = context.full_view()
            found = {name: each for name, each in found.items() if all(map(view.shows_memory, each.memories))}
        return tuple(found[name] for name in sorted(found))

    def decide(self, name: str, answer: str, text: str = "") -> "ReviewDecision":
        """Answer a question with "accept", "reject", or "edit" and the new `text`, as one change. Raises `Refused`."""
        from recollect.memory.maintenance.review import decide, find

        context = self.context
        context.check(Operation.REVIEW)
        question = find(context.store, context.user_id, name)
        change = context.new_change("review", project_id=context.project_id)
        decision = decide(
            context.store, self.memory.writer, question, answer, change, context.embedder.model, text
        )
        self.memory.fill_in_vectors(decision.notes)
        self.check_code()
        return decision

    def close_gap(self, name: str, change: m.Change) -> bool:
        """Close a question that memory could not answer, by its id; return False if it is not open.

        With the `change` of the memory that answers it, one undo takes back both.
        """
        context, now = self.context, self.context.clock()
        context.check(Operation.REVIEW)
        with undo.one_change(context.store, change, projects=True):
            is_closed = context.store.close_gap(name, now)
            if is_closed:
                context.store.log("update", context.actor, now, None, {"gap": name, "closed": True})
            return is_closed

    def stale(self) -> dict[str, Stale]:
        """Return the memories whose code has changed, by id. Only files that changed are read."""
        return refresh_changed(self.context)

    def check_code(self) -> dict[str, Stale]:
        """Check which memories the code no longer agrees with; return them by id. Quick where no file changed."""
        return check_anchors(self.context, self.code.open_graph)

    def code_differences(self, memory: m.Memory) -> "tuple[CodeDifference, ...]":
        """Return how the code that `memory` is about differs from the code it was written about, where it does."""
        from recollect.memory.anchors.difference import code_differences

        root = self.context.root
        return code_differences(root, memory) if root is not None and root.is_dir() else ()

    # many at once

    def compact(self, most: int | None = None) -> compact.Compaction:
        """End quarantines, and archive memories that are out of date or above capacity. `Schedule` does this daily."""
        context = self.context
        return compact.compact(
            context.store,
            user_id=context.user_id,
            project_id=context.project_id,
            capacity=context.settings.capacity,
            now=context.confirmed_now(),
            most=most,
        )

    def consolidate(
        self,
        only: Sequence[str] = (),
        *,
        dry_run: bool = False,
        this_project: bool = False,
        progress: Callable[[int], None] | None = None,
        stop: Callable[[], bool] | None = None,
        busy: Callable[[], bool] | None = None,
    ) -> "Consolidation":
        """Merge, link and prune memories; what is uncertain becomes a question for the user.

        With `this_project` only those of this project and the global ones, else those of all projects.
        `only` names operations, `progress` gets hundredths of each, `stop` interrupts the run so that it can be resumed,
        and the run waits while `busy`. Raises `Refused`, `UnknownName`.
        """
        from recollect.embed.inference import open_inference
        from recollect.memory.maintenance.consolidate.context import OperationContext
        from recollect.memory.maintenance.consolidate.run import consolidate, plan
        from recollect.memory.maintenance.consolidate.throttle import Throttle

        context = self.context
        context.check(Operation.CONSOLIDATE)
        operation = OperationContext(
            context.store,
            context.embedder,
            context.user_id,
            context.actor,
            context.clock(),
            context.confirmed_now(),
            Throttle(stop, busy),
            self.judge,
            open_inference(context.settings.nli_folder),
            here=context.local_project,
            project_id=context.project_id if this_project else None,
        )
        if dry_run:
            return plan(operation, only, progress)
        return consolidate(operation, only, progress, context.settings.home / "consolidate.lock")

    def mirror(self, folder: Path, *, plaintext: bool = False) -> "MirrorReport":
        """Import what was edited by hand in `folder`, then write the memories there. Raises `Refused`."""
        from recollect.memory.transfer.mirror import Mirror

        context = self.context
        context.check(Operation.MIRROR)
        if context.store.info().encrypted and not plaintext:
            raise Refused(
                "The store is encrypted, and the files of a mirror are not.",
                "Add `--plaintext` to write them anyway; anyone who can read the disk can read them.",
            )
        change = context.new_change("mirror", "Started to import edits from the mirror.")
        return Mirror(context, self.memory.index, folder, change).sync()

    def forget_project(self) -> tuple[m.Change, Cleared]:
        """Forget everything about this project, as one change. Raises `Refused`."""
        context = self.context
        context.check(Operation.FORGET_PROJECT)
        if context.project is None:
            raise Refused(
                "This folder belongs to no project.", "Run `recollect forget ID` to forget one memory."
            )
        change = context.new_change("forget", "Forgot the whole project.", project_id=context.project.id)
        cleared = states.forget_all(context.store, change, context.project.id)
        delete_graph_databases(context.settings.home, [context.project.id])
        return change, cleared

    def restore_project(self) -> m.Undone:
        """Restore this project as it was when it was last forgotten. Raises `Refused`."""
        context = self.context
        context.check(Operation.RESTORE_PROJECT)
        if context.project is None:
            raise Refused("This folder belongs to no project.", "Go into the project's folder.")
        return states.restore_all(
            context.store, context.user_id, context.project.id, context.actor, context.clock()
        )

    def forget_everything(self) -> tuple[m.Change, Cleared]:
        """Forget everything in every project, as one change. Events that wait to be recorded are dropped permanently."""
        context = self.context
        context.check(Operation.FORGET_EVERYTHING)
        for folder in spool_folders(context.settings.home):
            SpoolFiles(folder).drain(lambda lines: 0)
        change = context.new_change("forget", "Forgot everything.")
        cleared = states.forget_all(context.store, change, None)
        delete_graph_databases(context.settings.home)
        return change, cleared

    # the store

    def purge(self) -> Purged | None:
        """Delete what was forgotten more than 30 days ago; None if nothing is due or today's purge is done."""
        context = self.context
        return purge.purge_if_due(context.store, context.settings.home, context.confirmed_now())

    def vacuum(self, *, force: bool = False) -> int | None:
        """Shrink the store's file if that saves enough or with `force`; return the bytes saved. Raises `StoreBusy`."""
        context = self.context
        if not force and not purge.it_pays(context.store, context.clock()):
            return None
        return purge.vacuum(context.store, context.actor, context.clock())

    def embed_missing(self, progress: Callable[[int], None] | None = None, limit: int | None = None) -> int:
        """Embed the memories that have no vector by the current model; return how many. It can be interrupted."""
        return embed_missing(self.context.store, self.context.embedder, progress, limit)

    def count_missing(self) -> int:
        """Return how many texts have no vector by the current model."""
        return sum(map(self.context.store.count_without_vector, models_of(self.context.embedder)))

    def backup(self) -> str:
        """Back up the store now; return the backup's path."""
        return self.context.store.backup()

    def encrypt(self, key_file: Path | None = None) -> str:
        """Encrypt the store and its backups; return where the key is. Raises `Refused`."""
        context = self.context
        context.check(Operation.ENCRYPT)
        if context.store.info().encrypted:
            raise Refused("The store is already encrypted.", "Run `recollect encrypt --off` to decrypt it.")

        def new_key() -> tuple[str, KeyNote]:
            # Nobody else has the store open now. A code graph would stay unencrypted: drop it, it is rebuilt.
            self._drop_code_graphs()
            return make_key(context.settings.database, os.environ, key_file)

        note = context.store.encrypt(new_key)
        self.code.use_key(find_key(context.settings.database, os.environ))
        context.store.log("update", context.actor, context.clock(), None, {"encrypted": True})
        return note.where

    def decrypt(self) -> None:
        """Decrypt the store and its backups, and drop the key. Raises `Refused`."""
        context = self.context
        context.check(Operation.ENCRYPT)
        if not context.store.info().encrypted:
            raise Refused("The store is not encrypted.", "Run `recollect encrypt` to encrypt it.")
        context.store.decrypt()
        self._drop_code_graphs()
        context.store.log("update", context.actor, context.clock(), None, {"encrypted": False})
        self.code.use_key(None)

    def _drop_code_graphs(self) -> None:
        self.code.close()
        delete_graph_databases(self.context.settings.home)

    def doctor(self) -> "tuple[Diagnosis, ...]":
        """Check the installation, the store and the project; each problem comes with what to do."""
        context = self.context
        refresh_changed(context)
        from recollect.memory.maintenance.doctor import examine

        return examine(
            store=context.store,
            embedder=context.embedder,
            settings=context.settings,
            project=context.project,
            place=context.folder,
            view=context.view(),
            now=context.clock(),
            clock=see_clock(context.store, context.clock),
        )


def _can_be_undone(change: m.Change) -> bool:
    return change.undone_at is None and change.action != undo.UNDO
