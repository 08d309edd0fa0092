"""What is around the memories: the project's code, what was done with it, who judges, and the figures."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import recollect.model as m
from recollect.code.graph.database import graph_database_path
from recollect.context.project import has_git
from recollect.errors import Refused
from recollect.store.keys import find_key
from recollect.store.stale import stale_in
from recollect.workplace import Workplace

if TYPE_CHECKING:
    from recollect.code.codebase import Codebase
    from recollect.code.modules.project_map import ProjectMap
    from recollect.code.modules.task import ModuleMatch
    from recollect.code.relevant.search import Relevant
    from recollect.llm.protocol import Judge, Sidecar
    from recollect.model import Stale
    from recollect.work.episodes.episodes import Episodes
    from recollect.work.metrics.measures import Measures

_PAST_TASKS = 500  # whose files speak for those of a task like them


class Surroundings(Workplace):
    """Each of its rooms is opened when it is first asked for."""

    @cached_property
    def measures(self) -> "Measures":
        """What is counted and timed, and what memory saved."""
        from recollect.work.metrics.measures import Measures

        return Measures(self.store, self._clock, self.settings.user, self._project_id)

    @cached_property
    def code(self) -> "Codebase":
        """What the project's code is made of: its graph, and what of it a task touches."""
        from recollect.code.codebase import Codebase

        root = self.root or Path()
        shelf = graph_database_path(self.settings.home, self._project_id)
        return Codebase(root, shelf, find_key(self.settings.database, os.environ))

    @property
    def root(self) -> Path | None:
        """Where the project's files are; None = outside any."""
        if self.project is None:
            return None
        here = self.place.root if self.place else None  # of worktrees, the one we stand in
        part = Path(self.project.root)
        return part if here is None or part.is_relative_to(here) else here

    @property
    def _project_here(self) -> m.Project | None:
        """The project, with the root of the worktree we stand in."""
        return replace(self.project, root=str(self.root)) if self.project else None

    @cached_property
    def maps(self) -> "ProjectMap":
        """The project's modules, and how it is built and tested. Raises `Refused` outside of any."""
        from recollect.code.modules.project_map import ProjectMap

        if self.project is None:
            raise Refused("There is no project here to map.", "Name its folder with --project.")
        return ProjectMap(
            self.store.modules,
            self.project.id,
            self.code.root,
            lambda: self.code.graph,
            self._clock,
            self.actor,
            (lambda: self.sidecar) if self._asks_a_model else None,
        )

    def relevant(self, task: str, *, limit: int = 10, budget: int = 2000, patient: bool = True) -> "Relevant":
        """The files, symbols and lines of the project that a task is about, best first, each with its reasons.

        Who is not `patient` does not wait for git's history to be read for the first time: it speaks in a later answer.
        """
        done = [
            (each.description, each.files) for each in self.episodes.tasks(None, _PAST_TASKS) if each.files
        ]
        return self.code.relevant(task, limit=limit, budget=budget, past_work=done, patient=patient)

    def follow_code(self, now: float, stop: Callable[[], bool]) -> None:
        """For a program that runs all day and calls this every second or so: what changed is taken in when it pays."""
        if not self._is_code:
            return
        done = self.code.watch(now, stop)
        if done is not None and done.complete:
            self.code.read_history()
        if done is not None and done.complete and self.maps.is_due(changed=done.resolved > 0):
            self.maps.rescan()

    @property
    def _is_code(self) -> bool:
        """Whether this is surely a project: a repository, or what someone has called `init` in. A home folder is neither."""
        if self.project is None or self.place is None:
            return False
        return has_git(self.place) or graph_database_path(self.settings.home, self.project.id).exists()

    def modules_for(self, task: str) -> "list[ModuleMatch]":
        """The modules that a task touches, best first."""
        return self.maps.for_task(task, [hit.path for hit in self.relevant(task, budget=0).files])

    @cached_property
    def episodes(self) -> "Episodes":
        """What was done before: tools, files, tasks, and the patterns in them."""
        from recollect.work.episodes.episodes import Episodes

        return Episodes(
            self.store, self.embedder, self.settings, self._clock, self.settings.user, self.project
        )

    @property
    def _judge(self) -> "Judge | None":
        """Who is asked where the rules are unsure; None = nobody."""
        return self._sidecar or (self.sidecar if self._asks_a_model else None)

    @property
    def _asks_a_model(self) -> bool:
        return self.settings.sidecar in ("http", "command")

    @cached_property
    def sidecar(self) -> "Sidecar":
        """Who judges what the rules leave open: rules of its own unless the settings name a model."""
        from recollect.memory.sidecar import open_sidecar

        return open_sidecar(self.settings, self.store, self.embedder, self._clock)

    def stale(self) -> "dict[str, Stale]":
        """Memories that the code had moved away from when it was last looked at, by id."""
        return stale_in(self.store, self._project_id)

    def check_code(self) -> "dict[str, Stale]":
        """Which memories the code has moved away from, by id. Cheap where no file was touched."""
        from recollect.memory.anchors.stale import refresh

        if self.project is None:
            return {}
        graph = self.code.graph if "code" in self.__dict__ else None
        return refresh(self.store, self.settings.user, self.project, self._clock(), graph)
