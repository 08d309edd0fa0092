"""Live updates on this machine: a stream from the team server, followed in a thread for as long as the process lives."""

import json
import logging
import threading
from collections.abc import Callable

from recollect.errors import Offline, TeamError, TokenRefused
from recollect.remote.client import TeamClient

logger = logging.getLogger(__name__)

RECONNECT_SECONDS = 2.0  # after which a lost stream is opened again
LONGEST_PAUSE = 60.0  # between two attempts, each twice as long after the one before
CLOSE_SECONDS = 0.5  # that the thread has to end
EVERYTHING = "*"  # instead of a project: anything may have changed

Told = Callable[[str | None], None]


class TeamUpdates:
    """Calls `changed` with a project's id when something in it has changed: None = outside any, `EVERYTHING` = all.

    After a pause anything may have changed, so `EVERYTHING` is what a new stream begins with. It ends by itself when the
    token does.
    """

    def __init__(self, client: TeamClient, changed: Told) -> None:
        self._client = client
        self._changed = changed
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._stop_stream: Callable[[], None] = lambda: None
        self.is_connected = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="recollect-updates", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, because it was closed or the token is no longer valid."""
        return not self._thread.is_alive()

    def close(self) -> None:
        self._stopping.set()
        with self._lock:
            self._stop_stream()
        self._thread.join(CLOSE_SECONDS)

    def _follow(self) -> None:
        pause = RECONNECT_SECONDS
        while not self._stopping.is_set():
            try:
                self._follow_stream()
                pause = RECONNECT_SECONDS
            except TokenRefused:
                logger.info("live updates have ended: the token is no longer valid")
                return
            except (Offline, TeamError) as error:
                logger.info("no live updates: %s", error.message)
                pause = min(pause * 2, LONGEST_PAUSE)
            finally:
                self.is_connected.clear()
            self._stopping.wait(pause)

    def _follow_stream(self) -> None:
        with self._client.stream() as (lines, stop):
            with self._lock:
                self._stop_stream = stop
            if self._stopping.is_set():
                return
            event = ""
            for line in lines:
                name, _, value = line.partition(": ")
                if not name:  # a comment: the stream is there
                    if not self.is_connected.is_set():
                        self.is_connected.set()
                        self._tell(EVERYTHING)
                elif name == "event":
                    event = value
                elif name == "data" and event == "ended":
                    raise TokenRefused
                elif name == "data" and event == "change":
                    self._tell(_project_in(value))

    def _tell(self, project: str | None) -> None:
        self._client.changes += 1
        self._changed(project)


def _project_in(value: str) -> str | None:
    """Return the project that an event names; `EVERYTHING` if it is not understood."""
    try:
        project = json.loads(value)["project"]
    except (ValueError, TypeError, KeyError):
        return EVERYTHING
    return project if isinstance(project, str) else None
