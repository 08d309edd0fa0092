"""The engines behind the pages: one per project, and one for all projects together, on one store."""

import contextlib
import threading
from typing import TYPE_CHECKING

import recollect.model as m
from recollect.errors import RecollectError

if TYPE_CHECKING:
    from recollect.engine import Engine

ALL = "all"  # stands for all projects in an address


class ProjectEngines:
    """Opens an engine for each project that is looked at, on the store of the first one. Usable from any thread."""

    def __init__(self, engine: "Engine") -> None:
        self.first = engine
        self._others: dict[str | None, Engine] = {}
        self._lock = threading.Lock()

    @property
    def start(self) -> str:
        """The project that is shown first: the one of the folder, if it is known, else all."""
        project = self.first.project
        return project.id if project else ALL

    def projects(self) -> list[m.Project]:
        """Return the known projects by name, with the current one even if nothing is stored about it yet."""
        known = self.first.store.projects()
        here = self.first.project
        if here is not None and here.id not in {project.id for project in known}:
            known = sorted([*known, here], key=lambda project: project.name)
        return known

    def engine_for(self, project_id: str | None) -> "Engine":
        """Return the engine of a project; None, and a project that is not known, mean no project."""
        if self.first.context.project_id == project_id:
            return self.first
        with self._lock:
            if project_id not in self._others:
                found = {project.id: project for project in self.first.store.projects()}.get(project_id or "")
                if found is None and project_id is not None:
                    return self._others.setdefault(None, self.first.for_project(None))
                self._others[project_id] = self.first.for_project(found)
            return self._others[project_id]

    def close(self) -> None:
        with self._lock:
            others, self._others = list(self._others.values()), {}
        for engine in others:
            with contextlib.suppress(RecollectError, OSError):
                engine.close()
        self.first.close()
