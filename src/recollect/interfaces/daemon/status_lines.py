"""What hosts show of memory in their status line: asked for several times a second, and read from the store now and then."""

import logging
import time
from concurrent.futures import TimeoutError as TooLate

from recollect.engine import Engine
from recollect.interfaces.daemon.watchdog import Abandoned, WatchedPool
from recollect.interfaces.engine_pool import EnginePool
from recollect.work.hosts.hook_input import HostEvent
from recollect.work.metrics.glance import NAME, glance_at

logger = logging.getLogger(__name__)

FRESH_SECONDS = 2.0  # in which a line is not read from the store again
MOST = 64  # sessions whose lines are kept
OFFLINE = f"{NAME}: Memory unavailable: offline"


class StatusLines:
    """The status line of each session, as it was last read."""

    def __init__(self, engines: EnginePool, actor: str, lookups: WatchedPool) -> None:
        self._engines, self._actor, self._lookups = engines, actor, lookups
        self._lines: dict[str, tuple[float, str]] = {}  # by session, with when it was read

    def line(self, event: HostEvent, until: float) -> str:
        """Return the line for a session; if reading takes too long, the last one."""
        read_at, line = self._lines.get(event.session, (float("-inf"), ""))
        if time.monotonic() - read_at < FRESH_SECONDS:
            return line
        try:
            reading = self._lookups.submit(event.cwd, self._read, event)
            return reading.result(max(until - time.monotonic(), 0.0))
        except (TooLate, Abandoned):
            return line
        except Exception as error:  # a folder that is gone, a store that cannot be read: the host must go on
            logger.info("no status line", exc_info=error)
            return line

    def _read(self, event: HostEvent) -> str:
        with self._engines.use(event.cwd, self._actor) as engine:
            line = ""
            if engine.sessions.on:
                line = (
                    OFFLINE if _is_offline(engine) else glance_at(engine.context, event.session).status_line
                )
        if event.session not in self._lines and len(self._lines) >= MOST:
            self._lines.pop(next(iter(self._lines)), None)
        self._lines[event.session] = time.monotonic(), line
        return line


def _is_offline(engine: Engine) -> bool:
    """Whether the memories are on a team server that did not answer the last time."""
    if engine.context.remote is None:
        return False
    from recollect.remote.parts import Remote

    remote = engine.context.remote
    return isinstance(remote, Remote) and remote.client.is_offline
