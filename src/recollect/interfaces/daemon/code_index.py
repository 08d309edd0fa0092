"""Reads the code of projects as soon as it will be needed, so that a session's first prompt can name files.

Without it a daemon would read code when it has been quiet for a while, which is after the first prompt of a session.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress

from recollect.interfaces.engine_pool import EnginePool


class CodeIndex:
    """Reads one project after the other in a thread of its own. It can be used from any thread."""

    def __init__(
        self, engines: EnginePool, actor: str, attempt: Callable[[Callable[[], object]], None]
    ) -> None:
        """`attempt` runs a job and notes its error."""
        self._engines = engines
        self._actor = actor
        self._attempt = attempt
        self._thread = ThreadPoolExecutor(1, "recollect-code")
        self._lock = threading.Lock()
        self._reading: dict[str, Future[None]] = {}  # by folder
        self._stopping = threading.Event()

    def read(self, folder: str) -> None:
        """Read the code of the project at `folder` unless that is done or under way; return at once."""
        with self._lock:
            reading = self._reading.get(folder)
            if reading is None or reading.done():
                with suppress(RuntimeError):  # we are closing
                    self._reading[folder] = self.run(lambda: self._read(folder))

    def run(self, job: Callable[[], object]) -> "Future[None]":
        """Run a job when its turn comes."""
        return self._thread.submit(self._attempt, job)

    def wait(self, folder: str, seconds: float) -> None:
        """Wait until the project that is being read has been read, at most so long."""
        with self._lock:
            reading = self._reading.get(folder)
        if reading is not None:
            wait([reading], seconds)

    def close(self) -> None:
        """Stop reading, and forget what waits."""
        self._stopping.set()
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _read(self, folder: str) -> None:
        with self._engines.use(folder, self._actor) as engine:
            if engine.sessions.on:
                engine.code.prepare(self._stopping.is_set)
