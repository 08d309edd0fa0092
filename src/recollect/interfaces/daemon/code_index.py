"""Reads the code of projects as soon as it will be needed, so that a session's first prompt can name files.

Without it a daemon would read code when it has been quiet for a while, which is after the first prompt of a session.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress

from recollect.interfaces.daemon.watchdog import Abandoned, WatchedPool
from recollect.interfaces.engine_pool import EnginePool


class CodeIndex:
    """Reads projects in the threads of a pool. It can be used from any thread."""

    def __init__(
        self,
        engines: EnginePool,
        actor: str,
        attempt: Callable[[Callable[[], object]], None],
        pool: WatchedPool,
    ) -> None:
        """`attempt` runs a job and notes its error."""
        self._engines = engines
        self._actor = actor
        self._attempt = attempt
        self._pool = pool
        self._lock = threading.Lock()
        self._reading: dict[str, Future[None]] = {}  # by folder
        self._stopping = threading.Event()

    def read(self, folder: str) -> None:
        """Read the code of the project at `folder` unless that is done or under way; return at once."""
        with self._lock:
            reading = self._reading.get(folder)
            if reading is None or reading.done():
                with suppress(Abandoned):  # we are closing
                    self._reading[folder] = self.run(folder, lambda: self._read(folder))

    def run(self, folder: str, job: Callable[[], object]) -> "Future[None]":
        """Run a job for the project at `folder` when its turn comes."""
        return self._pool.submit(folder, self._attempt, job)

    def wait(self, folder: str, seconds: float) -> None:
        """Wait until the project that is being read has been read, at most so long."""
        with self._lock:
            reading = self._reading.get(folder)
        if reading is not None:
            wait([reading], seconds)

    def close(self) -> None:
        """Stop reading. Whoever has made the pool closes it."""
        self._stopping.set()

    def _read(self, folder: str) -> None:
        with self._engines.use(folder, self._actor) as engine:
            if engine.sessions.on:
                engine.code.prepare(self._stopping.is_set)
