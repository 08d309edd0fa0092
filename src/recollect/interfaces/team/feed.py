"""Live updates: one listener on the database per process, and a stream of server-sent events per client.

An event names a project and the number of the newest change. It carries no memory: whoever is told reads again, with
their own rights. A stream ends when its token does.
"""

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from recollect.context.team import TeamBackend
from recollect.errors import RecollectError, TokenRefused, TooManyRequests
from recollect.model.team import Identity, Notice

logger = logging.getLogger("recollect.team")

CHECK_SECONDS = 20.0  # after which a token is checked again if no notice said that somebody left
RECONNECT_SECONDS = 1.0  # after which the listener tries again
MOST_STREAMS = 1000  # of one process
MOST_PER_PERSON = 16  # of one person and their agents
MOST_WAITING = 100  # projects with news that a slow client has not read; then it is told to read all
EVERYTHING = "*"  # instead of a project: anything may have changed

Recheck = Callable[[], Awaitable[Identity]]  # returns who the token is now; raises `TokenRefused`
MaySee = Callable[[Identity, str], Awaitable[bool]]  # whether the person may see the project


@dataclass(eq=False)
class _Stream:
    """A client that listens. Its news are a set: a project that changes often is told once until it is read."""

    tenant: str
    user: str
    loop: asyncio.AbstractEventLoop
    news: dict[str, int] = field(default_factory=dict)  # the newest change of each project; "" = outside any
    people_changed: bool = False
    is_over: bool = False
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, notice: Notice) -> None:
        """Note the news. It runs in the loop of the stream."""
        if notice.people:
            self.people_changed = True
        elif not notice.tenant or len(self.news) >= MOST_WAITING:
            self.news = {EVERYTHING: notice.seq}
        elif EVERYTHING not in self.news:
            self.news[notice.project_id or ""] = notice.seq
        self.wake.set()

    def end(self) -> None:
        self.is_over = True
        self.wake.set()


class Feed:
    """Listens to the database, and streams what has changed to clients."""

    def __init__(self, backend: TeamBackend, people_changed: Callable[[], None]) -> None:
        """`people_changed` is called when somebody has left or a token was revoked, on any server."""
        self._backend = backend
        self._people_changed = people_changed
        self._streams: set[_Stream] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self.is_listening = threading.Event()  # set while changes are heard of

    def start(self) -> None:
        threading.Thread(target=self._listen, name="recollect-feed", daemon=True).start()

    def stop(self) -> None:
        """End all streams, so that the server can shut down. The listener ends within a second."""
        self._stopping.set()
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            with contextlib.suppress(RuntimeError):  # its loop is closed
                stream.loop.call_soon_threadsafe(stream.end)

    @property
    def streams(self) -> int:
        return len(self._streams)

    def _listen(self) -> None:
        """Pass on notices until the feed is stopped, and connect again if the database was gone."""
        while not self._stopping.is_set():
            try:
                for notice in self._backend.listen(self._stopping.is_set):
                    self._tell(notice)
                    self.is_listening.set()
            except (RecollectError, OSError) as error:
                self.is_listening.clear()
                logger.warning(
                    "live updates are interrupted", extra={"fields": {"why": type(error).__name__}}
                )
                self._stopping.wait(RECONNECT_SECONDS)

    def _tell(self, notice: Notice) -> None:
        if notice.people:
            self._people_changed()
        with self._lock:
            streams = [
                each
                for each in self._streams
                if notice.tenant in (each.tenant, "") and notice.only in (each.user, None)
            ]
        for stream in streams:
            with contextlib.suppress(RuntimeError):
                stream.loop.call_soon_threadsafe(stream.tell, notice)

    async def stream(self, identity: Identity, recheck: Recheck, may_see: MaySee) -> AsyncIterator[str]:
        """Yield events until the client leaves, the token ends or the server stops."""
        stream = _Stream(identity.tenant, identity.user, asyncio.get_running_loop())
        with self._lock:
            self._streams.add(stream)
        try:
            yield ": connected\n\n"
            checked = time.monotonic()
            while not (stream.is_over or self._stopping.is_set()):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stream.wake.wait(), CHECK_SECONDS)
                stream.wake.clear()
                if stream.people_changed or time.monotonic() - checked >= CHECK_SECONDS:
                    stream.people_changed, checked = False, time.monotonic()
                    try:
                        identity = await recheck()
                    except TokenRefused:
                        yield "event: ended\ndata: {}\n\n"
                        return
                    yield ": still here\n\n"
                news, stream.news = stream.news, {}
                for project, seq in news.items():
                    if project in ("", EVERYTHING) or await may_see(identity, project):
                        told = {"project": project or None, "seq": seq}
                        yield f"event: change\ndata: {json.dumps(told)}\n\n"
        finally:
            with self._lock:
                self._streams.discard(stream)

    def check_room(self, identity: Identity) -> None:
        """Raise `TooManyRequests` if the process or the person has too many streams already."""
        with self._lock:
            mine = sum((each.tenant, each.user) == (identity.tenant, identity.user) for each in self._streams)
            if len(self._streams) >= MOST_STREAMS or mine >= MOST_PER_PERSON:
                raise TooManyRequests(
                    "Too many clients listen for changes.", "Close one, or try again later."
                )
