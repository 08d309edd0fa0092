"""A queue that takes what happened without waiting, and a thread that writes it down."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from recollect.errors import RecollectError

logger = logging.getLogger(__name__)

MOST_WAITING = 20_000
_BATCH = 1000
_GATHERING = 0.05  # seconds in which a batch fills up

Item = TypeVar("Item")


class Recorder(Generic[Item]):
    """What comes while the queue is full is dropped, and counted. The thread begins with the first item."""

    def __init__(self, write: Callable[[Sequence[Item]], None], most: int = MOST_WAITING) -> None:
        self._write = write
        self._most = most
        self._waiting: deque[Item] = deque()
        self._busy = False
        self._closed = False
        self._turn = threading.Condition()
        self._thread: threading.Thread | None = None
        self.dropped = 0

    def put(self, item: Item) -> bool:
        """Whether there was room. Returns at once."""
        with self._turn:
            if self._closed or len(self._waiting) >= self._most:
                self.dropped += 1
                return False
            self._waiting.append(item)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="recollect-episodes", daemon=True)
                self._thread.start()
            elif len(self._waiting) == 1:
                self._turn.notify_all()
        return True

    def flush(self) -> None:
        """Until everything that was put is written."""
        with self._turn:
            self._turn.wait_for(lambda: not self._waiting and not self._busy)

    def close(self) -> None:
        """Write what waits, and take no more."""
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
                self._turn.wait_for(lambda: bool(self._waiting) or self._closed)
                if not self._waiting:
                    return
                self._busy = True
                if len(self._waiting) < _BATCH and not self._closed:
                    self._turn.wait_for(lambda: self._closed, timeout=_GATHERING)
                batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
            try:
                self._write(batch)
            except RecollectError as error:  # a busy or read-only store: the host goes on
                self.dropped += len(batch)
                logger.warning("%d episodes were not recorded: %s", len(batch), error.message)
            except Exception:  # whatever a caller has put in: the thread must live on
                self.dropped += len(batch)
                logger.exception("%d episodes were not recorded", len(batch))
