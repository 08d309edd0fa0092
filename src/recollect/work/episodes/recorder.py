"""A bounded queue with a background thread that writes batches, so that recording never waits."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from recollect.errors import RecollectError

logger = logging.getLogger(__name__)

MAX_QUEUED = 20_000
_BATCH = 1000
_BATCH_SECONDS = 0.05  # that the thread waits for a batch to fill

Item = TypeVar("Item")


class Recorder(Generic[Item]):
    """Items put while the queue is full are dropped and counted. The first item starts the thread."""

    def __init__(self, write: Callable[[Sequence[Item]], None], max_queued: int = MAX_QUEUED) -> None:
        self._write = write
        self._max_queued = max_queued
        self._queue: deque[Item] = deque()
        self._busy = False
        self._closed = False
        self._turn = threading.Condition()
        self._thread: threading.Thread | None = None
        self.dropped = 0

    def put(self, item: Item) -> bool:
        """Queue `item` and return at once; return False if the queue was full or closed."""
        with self._turn:
            if self._closed or len(self._queue) >= self._max_queued:
                self.dropped += 1
                return False
            self._queue.append(item)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="recollect-episodes", daemon=True)
                self._thread.start()
            elif len(self._queue) == 1:
                self._turn.notify_all()
        return True

    def flush(self) -> None:
        """Wait until everything queued so far is written."""
        with self._turn:
            self._turn.wait_for(lambda: not self._queue and not self._busy)

    def close(self) -> None:
        """Write what is queued and accept no more items."""
        with self._turn:
            self._closed = True
            self._turn.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._turn:
                self._busy = False
                self._turn.notify_all()
                self._turn.wait_for(lambda: bool(self._queue) or self._closed)
                if not self._queue:
                    return
                self._busy = True
                if len(self._queue) < _BATCH and not self._closed:
                    self._turn.wait_for(lambda: self._closed, timeout=_BATCH_SECONDS)
                batch = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
            try:
                self._write(batch)
            except RecollectError as error:  # a busy or read-only store must not stop the host
                self.dropped += len(batch)
                logger.warning("%d episodes were not recorded: %s", len(batch), error.message)
            except Exception:  # a caller may queue anything; the thread must survive it
                self.dropped += len(batch)
                logger.exception("%d episodes were not recorded", len(batch))
