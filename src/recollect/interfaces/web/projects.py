"""The engines behind the pages: one per project, and one for all projects together, on one store."""

import contextlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import recollect.model as m
from recollect.errors import RecollectError

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.memory.maintenance.doctor import Diagnosis
    from recollect.memory.search.memory_graph import MemoryGraph

MOST_GRAPHS = 4  # some megabytes each
HEALTH_SECONDS = 15.0  # for which checks count as new: they read the whole store, and a page is loaded often
ALL = "all"  # stands for all projects in an address


class KeptGraphs:
    """The graphs that were made last, so that the picture of a page and its list are made from one."""

    def __init__(self) -> None:
        self._graphs: OrderedDict[str, MemoryGraph] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, graph: "MemoryGraph") -> str:
        """Keep `graph` for a while, and return the name to get it by."""
        name = secrets.token_hex(8)
        with self._lock:
            self._graphs[name] = graph
            while len(self._graphs) > MOST_GRAPHS:
                self._graphs.popitem(last=False)
        return name

    def get(self, name: str) -> "MemoryGraph | None":
        with self._lock:
            return self._graphs.get(name)


class LastHealth:
    """The newest health checks of each project: pages that ask at the same time wait for one run of them."""

    def __init__(self) -> None:
        self._checks: dict[str | None, tuple[float, Sequence[Diagnosis]]] = {}
        self._lock = threading.Lock()

    def get(self, engine: "Engine") -> "Sequence[Diagnosis]":
        """Return the checks, made again if they are older than `HEALTH_SECONDS`."""
        from recollect.interfaces.install.connection import check_all

        with self._lock:
            at, checks = self._checks.get(engine.context.project_id, (0.0, ()))
            if not checks or time.monotonic() - at > HEALTH_SECONDS:
                checks = tuple(check_all(engine))
                self._checks[engine.context.project_id] = (time.monotonic(), checks)
            return checks


class ProjectEngines:
    """Opens an engine for each project that is looked at, on the store of the first one. Usable from any thread."""

    def __init__(self, engine: "Engine") -> None:
        self.first = engine
        self.graphs = KeptGraphs()
        self.health = LastHealth()
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
