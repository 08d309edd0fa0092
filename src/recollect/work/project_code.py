"""The code of the current project, seen together with the work done on it. `engine.code` is a `ProjectCode`.

`Codebase` knows files and symbols only. This part adds what needs the store: past tasks, which make the files they
edited more relevant to similar tasks, and the module map.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.code.codebase import Codebase
from recollect.code.graph.build import Progress, Refreshed
from recollect.code.graph.graph import CodeGraph
from recollect.context.context import Context
from recollect.context.project import has_git
from recollect.errors import Refused
from recollect.model import Owner, TaskStatus

if TYPE_CHECKING:
    from recollect.code.git_history import History
    from recollect.code.modules.project_map import ProjectMap
    from recollect.code.modules.task import ModuleMatch
    from recollect.code.relevant.evidence import FileToShow
    from recollect.code.relevant.ranking import PastWork
    from recollect.code.relevant.search import Relevant
    from recollect.llm.protocol import Sidecar

_MAX_PAST_TASKS = 500  # the newest; older ones say little about where things are now


class ProjectCode:
    """The code graph, the module map and the ranking of files for one project. It can be used from any thread."""

    def __init__(self, context: Context, codebase: Codebase, sidecar: "Sidecar | None" = None) -> None:
        self._context = context
        self._codebase = codebase
        self._has_changes = False  # of which `follow` has not told the map
        self._was_stopped = False  # before `follow` had prepared everything
        self._sidecar = sidecar  # names modules; None = the scan names them

    @property
    def root(self) -> Path:
        return self._codebase.root

    @property
    def graph(self) -> CodeGraph:
        """The code graph of the files as they are now, or were two seconds ago."""
        return self._codebase.graph

    def refresh(self, progress: Progress | None = None, stop: Callable[[], bool] | None = None) -> Refreshed:
        """Read the files that changed into the graph. Quick where little changed."""
        return self._codebase.refresh(progress, stop)

    def read_history(self) -> "History | None":
        """Read what is new in git's history; None without git."""
        return self._codebase.read_history()

    @cached_property
    def maps(self) -> "ProjectMap":
        """The module map of the project. Raises `Refused` outside any project."""
        from recollect.code.modules.project_map import ProjectMap

        if self._context.project is None:
            raise Refused("No project found in this folder.", "Name its folder with --project.")
        return ProjectMap(
            self._context.store.modules,
            self._context.project.id,
            self._codebase,
            self._context.clock,
            self._context.actor,
            self._sidecar,
            self._context.store.changes,
            self._context.store.episodes,
            self._context.user_id,
        )

    def relevant(self, task: str, *, limit: int = 10, budget: int = 2000, patient: bool = True) -> "Relevant":
        """Return the files, symbols and lines that a task is about, best first, each with its reasons.

        The files of similar past tasks rank higher. Without `patient`, the first answer does not wait for git's history,
        which is then read in the background.
        """
        return self._codebase.relevant(
            task, limit=limit, budget=budget, past_work=self._past_work(), patient=patient
        )

    def files_to_show(self, task: str, *, wait: bool = False) -> "tuple[FileToShow, ...]":
        """Return the files that an agent should look at first, with symbols and tests; none if the task may be about no file.

        Without `wait`, it is answered from what `prepare` or `follow` read last; nothing if they have not.
        """
        from recollect.code.relevant.evidence import worth_showing

        if wait and self._is_project:
            self._codebase.prepare()
        found = self._codebase.relevant_now(task, self._past_work())
        return worth_showing(*found) if found else ()

    def prepare(self, stop: Callable[[], bool]) -> None:
        """Read the code of a project for `files_to_show`, unless that was done; give up once `stop()` says so."""
        if self._is_project and not self._codebase.is_prepared and self._codebase.refresh(stop=stop).complete:
            self._codebase.prepare(stop)

    def _past_work(self) -> "PastWork":
        owner = Owner(self._context.user_id, self._context.project_id)
        tasks = self._context.store.episodes.tasks(owner, tuple(TaskStatus), _MAX_PAST_TASKS)
        return [(past.description, past.files) for past in tasks if past.files]

    def modules_for(self, task: str) -> "list[ModuleMatch]":
        """Return the modules that a task touches, best first."""
        return self.maps.for_task(task, [hit.path for hit in self.relevant(task, budget=0).files])

    def follow(self, now: float, stop: Callable[[], bool]) -> None:
        """Keep graph, history and map up to date. A daemon calls this about every second; most calls do nothing."""
        if not self._is_project:
            return
        refreshed = self._codebase.watch(now, stop)
        if refreshed is not None:
            if not refreshed.complete:
                return
            self._has_changes |= refreshed.affected > 0
        elif not self._was_stopped:
            return
        self._was_stopped = not self._codebase.prepare(stop)
        if self._was_stopped:
            return
        if self.maps.is_due(changed=self._has_changes):
            self.maps.rescan()
        self._has_changes = False

    @property
    def _is_project(self) -> bool:
        """Whether the folder is a repository, or one that `recollect init` was run in; a home folder is neither."""
        folder = self._context.folder
        if self._context.project is None or folder is None:
            return False
        return has_git(folder) or self._codebase.exists
