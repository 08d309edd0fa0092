"""The code of one project: its graph, and the files that a text is about."""

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.code.graph.schedule import RefreshSchedule
from recollect.code.uncollected import uncollected
from recollect.code.watch import FolderWatch

if TYPE_CHECKING:
    from recollect.code.git_history import History
    from recollect.code.graph.build import Builder, Progress, Refreshed
    from recollect.code.graph.graph import CodeGraph
    from recollect.code.relevant.ranking import PastWork
    from recollect.code.relevant.search import Relevant

REFRESH_EVERY = 2.0  # seconds: several questions in a row share one look at the files


class Codebase:
    """The part that answers questions about a project's code. Thread-safe, and reads nothing before it is needed."""

    def __init__(self, root: Path, database_path: Path, key: str | None) -> None:
        self.root = root
        self._database_path = database_path
        self._key = key
        self._lock = threading.Lock()
        self._opened_builder: Builder | None = None
        self._refreshed_at = -REFRESH_EVERY
        self._schedule = RefreshSchedule(root)
        self._watch = FolderWatch(root)
        self._prepared: tuple[CodeGraph, History | None] | None = None

    @property
    def exists(self) -> bool:
        """Whether a graph of these files has been built before."""
        return self._database_path.exists()

    def refresh(
        self, progress: "Progress | None" = None, stop: Callable[[], bool] | None = None
    ) -> "Refreshed":
        """Update the graph with the files that changed. It costs what changed, so you may call it often."""
        with self._lock:
            result = self._builder.refresh(progress, stop)
            if result.complete:
                self._refreshed_at = time.monotonic()
            return result

    def watch(self, now: float, stop: Callable[[], bool] | None = None) -> "Refreshed | None":
        """Refresh if files may have changed. For a program that runs all day and calls this every second; None means no.

        The system tells which have, and nothing is looked at until then. Where it does not, they are looked at from time to
        time.
        """
        if not self._schedule.is_due(now) and not self._watch.has_changes():
            return None
        result = self.refresh(stop=stop)
        if result.complete and self._watch.follow(*self._watchable()):
            since = self.refresh(stop=stop)  # what changed before it was watched
            parsed, affected = result.parsed + since.parsed, result.affected + since.affected
            result = replace(since, parsed=parsed, affected=affected)
        is_watched = self._watch.is_active and result.complete
        is_changed = result.affected > 0 or not result.complete
        self._schedule.record_refresh(now, changed=is_changed, watched=is_watched)
        return result

    def _watchable(self) -> "tuple[Collection[str], Collection[str]]":
        with self._lock:
            return self._builder.folders, self._builder.code_files

    @property
    def graph(self) -> "CodeGraph":
        """The graph of the files as they are, or as they were at most two seconds ago."""
        if time.monotonic() - self._refreshed_at >= REFRESH_EVERY:
            self.refresh()
        return self._builder.graph

    @property
    def open_graph(self) -> "CodeGraph | None":
        """The graph if it was used before, else None: for callers that do not need it enough to build it."""
        return self.graph if self._opened_builder is not None else None

    def relevant(
        self,
        text: str,
        *,
        limit: int = 10,
        budget: int = 2000,
        past_work: "PastWork" = (),
        patient: bool = True,
    ) -> "Relevant":
        """Return the files and symbols that `text` is about, and the lines to read within `budget` tokens.

        The first call reads git's history before it answers; if not `patient`, it answers without and reads in the background.
        """
        with uncollected():
            return self._relevant(text, limit, budget, past_work, patient)

    def _relevant(
        self, text: str, limit: int, budget: int, past_work: "PastWork", patient: bool
    ) -> "Relevant":
        from recollect.code.relevant.search import relevant

        graph = self.graph
        with self._lock:
            is_known = self._builder.known_history() is not None
        if not is_known and not patient:
            threading.Thread(target=self.read_history, name="recollect-history", daemon=True).start()
        history = self.read_history() if is_known or patient else None
        return relevant(
            graph, self.root, text, limit=limit, budget=budget, history=history, past_work=past_work
        )

    def prepare(self, stop: Callable[[], bool] | None = None) -> bool:
        """Resolve all edges, and index graph and history, so that `relevant_now` can use them.

        Takes seconds in a large project. Returns False if it was stopped.
        """
        from recollect.code.relevant.search import prepare

        with uncollected():
            graph, history = self.graph, self.read_history()
            if not graph.resolve(stop=stop):
                return False
            prepare(graph, self.root, history)
        self._prepared = graph, history
        return True

    @property
    def is_prepared(self) -> bool:
        """Whether `relevant_now` has something to answer from."""
        return self._prepared is not None

    def relevant_now(self, text: str, past_work: "PastWork" = ()) -> "tuple[Relevant, CodeGraph] | None":
        """Return files and symbols from what was prepared last, and its graph; None if nothing was. Never waits."""
        from recollect.code.relevant.search import relevant

        if self._prepared is None:
            return None
        graph, history = self._prepared
        return relevant(graph, self.root, text, budget=0, history=history, past_work=past_work), graph

    def read_history(self) -> "History | None":
        """Read the project's git history: all of it once, and then only what is new. None without git."""
        from recollect.code.git_history import read_history

        with self._lock:
            known = self._builder.known_history()
        history = read_history(self.root, known)  # takes seconds the first time: do not block others
        with self._lock:
            self._builder.keep_history(history)
        return history

    @property
    def _builder(self) -> "Builder":
        if self._opened_builder is None:
            from recollect.code.graph.build import Builder  # the parsers, which most commands do not need

            self._opened_builder = Builder(self.root, self._database_path, self._key)
        return self._opened_builder

    def use_key(self, key: str | None) -> None:
        """Close the graph and open it with `key` from now on; None = it is not encrypted."""
        self.close()
        self._key = key

    def close(self) -> None:
        with self._lock:
            if self._opened_builder is not None:
                self._opened_builder.close()
                self._opened_builder = None
            self._watch.close()
            self._prepared = None
            self._refreshed_at = -REFRESH_EVERY
