"""A project's code, as the rest of Recollect asks for it: its graph, and what of it a text is about."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.code.graph.build import Builder, Progress, Refreshed
from recollect.code.graph.graph import CodeGraph
from recollect.code.graph.schedule import RefreshSchedule

if TYPE_CHECKING:
    from recollect.code.git_history import History
    from recollect.code.relevant.ranking import PastWork
    from recollect.code.relevant.search import Relevant

LOOK_EVERY = 2.0  # seconds: who asks several things in a row gets one answer to all


class Codebase:
    """From any thread. Nothing is read before it is needed."""

    def __init__(self, root: Path, shelf_path: Path, key: str | None) -> None:
        self.root = root
        self._shelf_path = shelf_path
        self._key = key
        self._lock = threading.Lock()
        self._built: Builder | None = None
        self._looked = -LOOK_EVERY
        self._watch = RefreshSchedule(root)

    def refresh(self, progress: Progress | None = None, stop: Callable[[], bool] | None = None) -> Refreshed:
        """Take in what changed in the files. Little to do costs little: this may be called often."""
        with self._lock:
            done = self._builder.refresh(progress or _nobody, stop or _never)
            if done.complete:
                self._looked = time.monotonic()
            return done

    def watch(self, now: float, stop: Callable[[], bool] | None = None) -> Refreshed | None:
        """For a program that runs all day and calls this every second or so; None while it is not worth a look."""
        if not self._watch.due(now):
            return None
        done = self.refresh(stop=stop)
        self._watch.looked(now, changed=done.resolved > 0 or not done.complete)
        return done

    @property
    def graph(self) -> CodeGraph:
        """As the files are now, or were two seconds ago."""
        if time.monotonic() - self._looked >= LOOK_EVERY:
            self.refresh()
        return self._builder.graph

    def relevant(
        self,
        text: str,
        *,
        limit: int = 10,
        budget: int = 2000,
        past_work: "PastWork" = (),
        patient: bool = True,
    ) -> "Relevant":
        """The files and symbols that `text` is about, and the lines to read within `budget` tokens.

        Git's history is read for the first time while the answer waits, or, without patience, beside it.
        """
        from recollect.code.relevant.search import relevant

        graph = self.graph
        with self._lock:
            known = self._builder.known_history() is not None
        if not known and not patient:
            threading.Thread(target=self.read_history, name="recollect-history", daemon=True).start()
        history = self.read_history() if known or patient else None
        return relevant(
            graph, self.root, text, limit=limit, budget=budget, history=history, past_work=past_work
        )

    def read_history(self) -> "History | None":
        """What git remembers of the project: read once, and then only what is new. None without git."""
        from recollect.code.git_history import read_history

        with self._lock:
            known = self._builder.known_history()
        history = read_history(self.root, known)  # takes seconds the first time, in which others may ask
        with self._lock:
            self._builder.keep_history(history)
        return history

    @property
    def _builder(self) -> Builder:
        if self._built is None:
            self._built = Builder(self.root, self._shelf_path, self._key)
        return self._built

    def close(self) -> None:
        with self._lock:
            if self._built is not None:
                self._built.close()
                self._built = None
            self._looked = -LOOK_EVERY


def _nobody(done: int, total: int) -> None:
    pass


def _never() -> bool:
    return False
