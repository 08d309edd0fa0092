"""Follows the live updates of the team server, for the projects whose sessions this daemon serves."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from recollect.engine import Engine
from recollect.errors import RecollectError
from recollect.interfaces.engine_pool import EnginePool

if TYPE_CHECKING:
    from recollect.remote.updates import TeamUpdates


class TeamFollower:
    """Keeps one stream open once a session uses a team server.

    When something changes, what was kept of it is read again, what waits for the server is delivered, and `changed` is
    called with the folder.
    """

    def __init__(self, engines: EnginePool, actor: str, changed: Callable[[str], None]) -> None:
        self._engines = engines
        self._actor = actor
        self._changed = changed
        self._lock = threading.Lock()
        self._updates: TeamUpdates | None = None

    def follow(self, engine: Engine) -> None:
        """Open the stream, if the engine's memories are on a server and none is open. Returns at once."""
        if engine.context.remote is None or self._is_open:
            return
        from recollect.remote.parts import Remote
        from recollect.remote.updates import TeamUpdates

        remote = engine.context.remote
        assert isinstance(remote, Remote)
        with self._lock:
            if not self._is_open:
                self._updates = TeamUpdates(remote.client, self._tell)
                self._updates.start()

    @property
    def _is_open(self) -> bool:
        return self._updates is not None and not self._updates.is_over

    @property
    def is_connected(self) -> bool:
        """Whether changes are heard of at once."""
        return self._updates is not None and self._updates.is_connected.is_set()

    def _tell(self, project: str | None) -> None:
        from recollect.remote.parts import Remote
        from recollect.remote.updates import EVERYTHING

        for folder in self._engines.folders():
            with (
                suppress(RecollectError),
                self._engines.use(folder, self._actor, keep_open=False) as engine,
            ):
                if project not in (EVERYTHING, None, engine.context.project_id):
                    continue
                remote = engine.context.remote
                if isinstance(remote, Remote) and remote.outbox.waiting():
                    remote.deliver_soon()
                self._changed(folder)

    def close(self) -> None:
        if self._updates is not None:
            self._updates.close()
