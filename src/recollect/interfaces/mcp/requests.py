"""Who sends a request, for which project, and which engine answers it: shared by tools, prompts and resources."""

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
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

from recollect.errors import RecollectError, StoreError
from recollect.frozen import frozen
from recollect.interfaces.engine_pool import EngineOpener, EnginePool, Opener

if TYPE_CHECKING:
    from recollect.config import Settings
    from recollect.context.embedder import Embedder
    from recollect.engine import Engine
    from recollect.memory.maintenance.consolidate.throttle import WorkCounter

Result = TypeVar("Result")
Request = ServerRequestContext[Any, Any]

MAX_OPEN = 4  # engines; more are closed while nobody uses them
MAX_SESSIONS = 256
ROOTS_SECONDS = 2.0  # that a client may take to name its folders

REQUEST_SECONDS = 25.0  # in which a request is answered; hosts wait for 30 or 60
AT_ONCE = 8  # requests for a project; those of other projects do not wait for them

_request: ContextVar[Request] = ContextVar("request")
_limiters: dict[Path, anyio.CapacityLimiter] = {}  # by project


class Unavailable(RecollectError):
    """Memory cannot be opened at the moment; the server keeps running."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(f"Memory is unavailable: {why}", hint)


@dataclass(slots=True)
class ClientSession:
    """What the server knows about one client session."""

    session: str | None  # None = the request names no session: the newer protocol over HTTP has none
    shown: set[str] = field(default_factory=set)  # ids of memories that the client has been shown
    folder: Path | None = None  # where the client works; None = not asked yet


@frozen
class ToolContext:
    """What a tool, prompt or resource needs to answer a request."""

    engine: "Engine"
    client: ClientSession
    host: str  # the client's host, or its own name if we know no such host

    @property
    def briefing_host(self) -> str:
        """The host that briefings are written for: the client's, or one with plain Markdown."""
        from recollect.work.hosts.registry import BRIEFING_FORMATS

        return self.host if self.host in BRIEFING_FORMATS else "gemini"

    @property
    def format(self) -> str:
        """The name of the format in which answers quote memories."""
        from recollect.work.hosts.registry import briefing_format

        return briefing_format(self.briefing_host)

    @property
    def structures_answers(self) -> bool:
        """Whether answers have stable keys beside their text. A model that is shown these alone would miss what the text adds."""
        from recollect.work.hosts.registry import HOSTS

        return self.host not in HOSTS or not HOSTS[self.host].reads_structured_answers


class McpRequests:
    """Runs the work of requests with the engine for the client's project. Usable by many clients at once.

    No engine is opened before the first request that needs one.
    """

    def __init__(
        self,
        home: str | None = None,
        project: str | None = None,
        opener: Opener | None = None,
        *,
        engines: EnginePool | None = None,
        folder: Path | None = None,
        session: str | None = None,
        environment: Mapping[str, str] | None = None,
        work: "WorkCounter | None" = None,
    ) -> None:
        """Without `engines`, which belong to the caller, engines are opened by `opener`.

        `folder` is where the client runs, by default our own folder. `session` names the only session that there is.
        `environment` holds its settings, by default those of this process. `work` counts requests in progress.
        """
        self._home = home
        self._project = Path(project) if project else None
        self._own_engines = engines is None
        self._engines = engines or EnginePool(
            opener or EngineOpener(self._settings, daemon_embedder), max_open=MAX_OPEN
        )
        self._here = folder
        self._environment = environment
        self._work = work
        self._sessions: OrderedDict[str, ClientSession] = OrderedDict()
        if session:
            self._sessions[""] = ClientSession(session)

    async def receive(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """Remember the current message for `run`. The server calls this before it handles any message."""
        _request.set(ctx)
        if ctx.method == "notifications/roots/list_changed":
            self._session_of(ctx).folder = None
        if ctx.method == "prompts/list" and _has_own_commands(ctx):
            return wire.ListPromptsResult(prompts=[], ttl_ms=0, cache_scope="private")
        return await call_next(ctx)

    async def run(self, work: Callable[[ToolContext], Result]) -> Result:
        """Return the result of `work` for the current request, in a worker thread. Raise `RecollectError`."""
        request = _request.get()
        client = self._session_of(request)
        params = request.session.client_params
        host = _host_of(params.client_info.name if params else "")

        def run_in_thread(folder: Path) -> Result:
            counted = self._work.working() if self._work else contextlib.nullcontext()
            with counted, self._engine(folder, f"agent:{host}") as engine:
                engine.context.refuse_if_off()
                return work(ToolContext(engine, client, host))

        folder = await self._folder(request, client)
        try:
            with anyio.fail_after(REQUEST_SECONDS):
                return await anyio.to_thread.run_sync(
                    run_in_thread, folder, abandon_on_cancel=True, limiter=_limiter_of(folder)
                )
        except TimeoutError as error:
            raise Unavailable(
                f"no answer within {REQUEST_SECONDS:.0f} seconds.", "Ask for less, or try again later."
            ) from error
        except StoreError as error:
            raise Unavailable(error.message, error.hint) from error
        except OSError as error:
            raise Unavailable(f"{error.strerror or 'the system refused'}.") from error

    def offers_all_tools(self) -> bool:
        """Whether the settings ask for all tools; False if they cannot be read: the handshake must not fail."""
        try:
            return self._settings().mcp_tools == "all"
        except RecollectError:
            return False

    def close(self) -> None:
        """Close the engines, if they are ours; backups and compaction run now if they are due."""
        if self._own_engines:
            self._engines.close()

    def _session_of(self, request: Request) -> ClientSession:
        key = ""
        if request.request is not None:  # HTTP
            key = request.request.headers.get("mcp-session-id", "")
            if not key:
                return ClientSession(None)
        if key not in self._sessions:
            from recollect.model import new_id

            self._sessions[key] = ClientSession(f"mcp-{new_id()}")
            if len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
        self._sessions.move_to_end(key)
        return self._sessions[key]

    async def _folder(self, request: Request, client: ClientSession) -> Path:
        """Return the project given at the start, else where the client works, else our working directory."""
        if self._project is not None:
            return self._project
        if client.folder is None:
            client.folder = chosen_folder(await _roots(request), self._here or Path.cwd())
        return client.folder

    @contextlib.contextmanager
    def _engine(self, folder: Path, actor: str) -> "Iterator[Engine]":
        with contextlib.ExitStack() as stack:
            try:
                engine = stack.enter_context(self._engines.use(folder, actor))
            except (RecollectError, OSError) as error:
                why = error.message if isinstance(error, RecollectError) else f"{error.strerror}."
                raise Unavailable(why, getattr(error, "hint", "")) from error
            yield engine

    def _settings(self) -> "Settings":
        from recollect.config import load_settings

        return load_settings(self._home, self._environment)


def _limiter_of(folder: Path) -> anyio.CapacityLimiter:
    if folder not in _limiters:
        if len(_limiters) >= MAX_SESSIONS:
            _limiters.pop(next(iter(_limiters)))
        _limiters[folder] = anyio.CapacityLimiter(AT_ONCE)
    return _limiters[folder]


def daemon_embedder(settings: "Settings") -> "Embedder | None":
    from recollect.interfaces.daemon_client.embedder import from_daemon

    return from_daemon(settings)


def _host_of(client: str) -> str:
    from recollect.work.hosts.registry import host_of_client

    return host_of_client(client)


def _has_own_commands(request: Request) -> bool:
    """Return whether the client's host has our commands already, and would show prompts under the same names."""
    from recollect.work.hosts.registry import HOSTS

    params = request.session.client_params
    host = HOSTS.get(_host_of(params.client_info.name if params else ""))
    return host is not None and host.commands.clash_with_prompts


def chosen_folder(roots: list[Path], here: Path) -> Path:
    """Return `here`, unless the client works elsewhere: then the first of its folders that exists."""
    if any(here.is_relative_to(root) for root in roots):
        return here
    return next((root for root in roots if root.is_dir()), here)


async def _roots(request: Request) -> list[Path]:
    """Return the folders that the client has open; none if it does not say."""
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
