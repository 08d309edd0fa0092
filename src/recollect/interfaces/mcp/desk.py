"""Who asks, from which project, and with which engine: what tools, prompts and resources share."""

import contextlib
import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import anyio.to_thread
import mcp_types as wire
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from pydantic import ValidationError

from recollect.errors import RecollectError, Refused, StoreError

if TYPE_CHECKING:
    from recollect.code.project import Place
    from recollect.context.embedder import Embedder
    from recollect.engine import Engine

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
Opener = Callable[[Path, str], "Engine"]  # for a folder and an actor
Request = ServerRequestContext[Any, Any]

MOST_OPEN = 4  # engines; more are closed when nobody uses them
MOST_VISITS = 256
ROOTS_SECONDS = 2.0  # that a client may take to name its folders

_request: ContextVar[Request] = ContextVar("request")


class Unavailable(RecollectError):
    """There is no memory to be had at the moment; the server stays up."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(f"Memory is unavailable: {why}", hint)


@dataclass(slots=True)
class Visit:
    """A client's session, as long as it lasts."""

    session: str | None  # None = one we could not know again: the newer protocol over HTTP has no sessions
    shown: set[str] = field(default_factory=set)  # ids of memories it has been shown
    folder: Path | None = None  # where it works; None = not asked yet


@dataclass(frozen=True, slots=True)
class Asking:
    """What is needed to answer a request."""

    engine: "Engine"
    visit: Visit
    host: str  # what we call the client

    @property
    def form(self) -> str:
        """The host whose form an answer takes."""
        from recollect.memory.briefing.render import HOSTS

        return self.host if self.host in HOSTS else "gemini"


@dataclass(slots=True)
class _Open:
    engine: "Engine"
    users: int = 0


class Desk:
    """Opens nothing before it is asked for something. Usable by many clients at once."""

    def __init__(
        self, home: str | None = None, project: str | None = None, opener: Opener | None = None
    ) -> None:
        self._home = home
        self._project = Path(project) if project else None
        self._opener = opener or self._open_engine
        self._embedder: Embedder | None = None  # None until the first engine has loaded it
        self._visits: OrderedDict[str, Visit] = OrderedDict()
        self._open: OrderedDict[tuple[Place, str], _Open] = OrderedDict()
        self._lock = threading.Lock()  # of what is open; workers only may wait for it, never the event loop

    async def receive(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """Sees every message before it is handled."""
        _request.set(ctx)
        if ctx.method == "notifications/roots/list_changed":
            self._visit(ctx).folder = None
        return await call_next(ctx)

    async def run(self, work: Callable[[Asking], Result]) -> Result:
        """What `work` makes of the request at hand, in a thread of its own. Raises `RecollectError`."""
        request = _request.get()
        visit = self._visit(request)
        client = request.session.client_params
        host = host_of(client.client_info.name if client else "")

        def worked(folder: Path) -> Result:
            with self._engine(folder, f"agent:{host}") as engine:
                if not engine.sessions.on:
                    raise Refused("The user has turned memory off here.", "`recollect on` turns it on again.")
                return work(Asking(engine, visit, host))

        try:
            return await anyio.to_thread.run_sync(worked, await self._folder(request, visit))
        except StoreError as error:
            raise Unavailable(error.message, error.hint) from error
        except OSError as error:
            raise Unavailable(f"{error.strerror or 'the system refused'}.") from error

    def close(self) -> None:
        """Backups and compaction are done now, where they are due."""
        with self._lock:
            closing = [self._open.pop(key).engine for key in list(self._open)]
        for engine in closing:
            _close(engine)

    def _visit(self, request: Request) -> Visit:
        key = ""
        if request.request is not None:  # HTTP
            key = request.request.headers.get("mcp-session-id", "")
            if not key:
                return Visit(None)
        if key not in self._visits:
            from recollect.model import new_id

            self._visits[key] = Visit(f"mcp-{new_id()}")
            if len(self._visits) > MOST_VISITS:
                self._visits.popitem(last=False)
        self._visits.move_to_end(key)
        return self._visits[key]

    async def _folder(self, request: Request, visit: Visit) -> Path:
        """The project that was given, else where the client works, else where we were started."""
        if self._project is not None:
            return self._project
        if visit.folder is None:
            visit.folder = chosen_folder(await _roots(request), Path.cwd())
        return visit.folder

    @contextlib.contextmanager
    def _engine(self, folder: Path, actor: str) -> "Iterator[Engine]":
        """As git has the folder now: after a change of branch it is another."""
        from recollect.code import project as places

        try:
            key = (places.look(folder), actor)
            with self._lock:
                if key not in self._open:
                    self._open[key] = _Open(self._opener(folder, actor))
                self._open.move_to_end(key)
                here = self._open[key]
                here.users += 1
        except (RecollectError, OSError) as error:
            why = error.message if isinstance(error, RecollectError) else f"{error.strerror}."
            raise Unavailable(why, getattr(error, "hint", "")) from error
        try:
            yield here.engine
        finally:
            with self._lock:
                here.users -= 1
                idle = [key for key, each in self._open.items() if not each.users]
                surplus = [self._open.pop(key) for key in idle[: max(len(self._open) - MOST_OPEN, 0)]]
            for each in surplus:
                _close(each.engine)

    def _open_engine(self, folder: Path, actor: str) -> "Engine":
        from recollect.config import load_settings
        from recollect.engine import Engine
        from recollect.interfaces.daemon.embedder import from_daemon

        settings = load_settings(self._home)
        embedder = self._embedder or from_daemon(settings)  # the daemon's model, where there is one
        engine = Engine.open(folder, actor=actor, settings=settings, embedder=embedder)
        self._embedder = engine.embedder
        return engine


def _close(engine: "Engine") -> None:
    try:
        engine.close()
    except (RecollectError, OSError):
        logger.exception("an engine could not be looked after when it was closed")


_KNOWN = {
    "claude-code": "claude-code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "cursor": "cursor",
    "windsurf": "windsurf",
    "vscode": "vscode",
    "visual-studio-code": "vscode",
}


def host_of(client: str) -> str:
    """Our name for the client that calls itself so; `mcp` for one that has no name."""
    slug = re.sub(r"[^a-z0-9]+", "-", client.lower()).strip("-")[:40]
    return next((host for start, host in _KNOWN.items() if slug.startswith(start)), slug or "mcp")


def chosen_folder(roots: list[Path], here: Path) -> Path:
    """`here`, unless the client works somewhere else: then the first of its folders that there is."""
    if any(here.is_relative_to(root) for root in roots):
        return here
    return next((root for root in roots if root.is_dir()), here)


async def _roots(request: Request) -> list[Path]:
    """The folders that the client has open; none where it does not say."""
    able = request.session.client_capabilities
    if able is None or able.roots is None or not request.session.can_send_request:
        return []
    try:
        answer = await request.session.send_request(
            wire.ListRootsRequest(), wire.ListRootsResult, ROOTS_SECONDS
        )
    except (MCPError, ValidationError, TimeoutError):
        return []
    addresses = [urlsplit(str(root.uri)) for root in answer.roots]
    paths = [url2pathname(each.path) for each in addresses if each.scheme == "file"]
    return [Path(path).resolve() for path in paths if "\0" not in path]
