"""The memory browser on the team server: the same pages as on one's own machine, with the rights of whoever is logged in.

A person logs in with a token or an invitation code. The browser gets a token of its own in a cookie, which ends after half
a day, with the log-out, or when somebody revokes it, on every server of the team.
"""

import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route

import recollect.model as m
from recollect.context.team import TeamStore
from recollect.engine import Engine
from recollect.errors import OutOfScope, RecollectError, TokenRefused
from recollect.interfaces.team.app import TeamApp, check_agrees
from recollect.interfaces.team.engines import CallerEngines
from recollect.interfaces.team.pages import TeamPages, identity_of
from recollect.interfaces.web.access import Login
from recollect.interfaces.web.app import build_app
from recollect.interfaces.web.forms import has_token, read_form
from recollect.interfaces.web.guard import RequestGuard
from recollect.interfaces.web.language import text
from recollect.interfaces.web.page import Handler, Page, WebRequest
from recollect.interfaces.web.pages import changes, graph, memories, memory, overview, records, review
from recollect.interfaces.web.projects import ProjectEngines
from recollect.interfaces.web.render import Renderer
from recollect.model.team import READ, WRITE, Identity, Role, Token
from recollect.remote.secrets import CODE_PREFIX, LINK_TOKEN, hash_of, new_secret
from recollect.remote.wire import NOWHERE

COOKIE = "recollect-team"
LOGIN_HOURS = 12  # after which a browser has to log in again
MOST_LOGINS = 1000  # whose notices wait in this process
PREVIEW = "/memories/bulk"  # a form that changes nothing
# Forms that need no consent: they store nothing.
REMOVING = ("/memories/{id}/forget", "/memories/{id}/unlink", "/changes/{id}/undo")
# What is on somebody's own machine is not here: the code, the agents, the daemon and the settings.
PAGES = (
    replace(overview.PAGE, more={}),
    memories.PAGE,
    memory.PAGE,
    review.PAGE,
    graph.PAGE,
    changes.PAGE,
    records.PAGE,
)


@dataclass(slots=True, eq=False, kw_only=True)
class TeamLogin(Login):
    """A browser of a person in a team."""

    identity: Identity


class TeamAccess:
    """Lets the people of teams in. An `Access`."""

    def __init__(self, app: TeamApp, *, secure: bool) -> None:
        """With `secure`, the cookie is sent over TLS only."""
        self._app = app
        self._secure = secure
        self._renderer = Renderer()
        self._logins: OrderedDict[str, TeamLogin] = OrderedDict()  # by the id of the browser's token

    def routes(self) -> Sequence[BaseRoute]:
        return (
            Route("/login", self._show_login, methods=["GET"]),
            Route("/login", self._log_in, methods=["POST"]),
            Route("/logout", self._log_out, methods=["POST"]),
            Route("/events", self._events, methods=["GET"]),
        )

    async def login(self, request: Request, *, touch: bool = True) -> Login | None:
        secret = request.cookies.get(COOKIE, "")
        try:
            identity = await self._identify(secret)
        except RecollectError:
            return None
        login = self._logins.get(identity.token)
        if login is None or login.identity != identity:
            name = f"{identity.name} · {identity.role}"
            csrf = hmac.new(secret.encode(), b"forms", hashlib.sha256).hexdigest()
            may_change = identity.role is not Role.READER and WRITE in identity.actions
            login = TeamLogin(csrf, name, may_change, identity=identity)
            self._logins[identity.token] = login
            while len(self._logins) > MOST_LOGINS:
                self._logins.popitem(last=False)
        return login

    async def _identify(self, secret: str) -> Identity:
        """Return whose browser it is. Raise `TokenRefused`, and `OutOfScope` for a token that may not log in."""
        return await run_sync(self._person, secret)

    def _person(self, secret: str) -> Identity:
        identity = self._app.verifier.identify(f"Bearer {secret}")
        if identity.agent or READ not in identity.actions or identity.projects is not None:
            raise OutOfScope(
                text("This token is for an agent or for some projects. Log in with one of your own."), ""
            )
        return identity

    def ask(self, request: Request, status: int = 401) -> Response:
        return self._page(status)

    async def _show_login(self, request: Request) -> Response:
        return self._page(200)

    async def _log_in(self, request: Request) -> Response:
        given = dict(await read_form(request)).get("token", "").strip()
        try:
            secret = await run_sync(self._browser_token, given)
        except RecollectError as error:
            return self._page(403, error.message)
        # Not a redirect: browsers that came from elsewhere would follow it without the new cookie.
        response = HTMLResponse(self._renderer.plain("welcome.html"))
        response.set_cookie(
            COOKIE,
            secret,
            LOGIN_HOURS * 3600,
            path="/",
            httponly=True,
            samesite="strict",
            secure=self._secure,
        )
        return response

    def _browser_token(self, given: str) -> str:
        """Return the secret of a new token for a browser, for a token or an invitation code of a person."""
        app = self._app
        app.limiter.check_join()
        at = app.clock()
        if given.startswith(CODE_PREFIX):
            person = app.backend.directory.accept(hash_of(given), at)
            if person is None:
                raise TokenRefused(text("This invitation is unknown, used or expired."), "")
            token = Token(m.new_id(at), person.tenant, person.id, "browser", "", at)
        else:
            identity = self._person(given)
            token = Token(
                m.new_id(at), identity.tenant, identity.user, "browser", "", at, actions=identity.actions
            )
            mine = app.backend.directory.tokens(identity.tenant, identity.user)
            if any(each.id == identity.token and each.name == LINK_TOKEN for each in mine):
                self._end(identity)  # a link works once
        secret, hashed = new_secret()
        ends = at + timedelta(hours=LOGIN_HOURS)
        app.backend.directory.put_token(replace(token, hash=hashed, expires_at=ends))
        return secret

    async def _log_out(self, request: Request) -> Response:
        login = await self.login(request)
        if not isinstance(login, TeamLogin) or not has_token(login, request, await read_form(request)):
            return self.ask(request, 403)
        await run_sync(self._end, login.identity)
        response = self._page(200, text("You are logged out."))
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=self._secure)
        return response

    def _end(self, identity: Identity) -> None:
        self._app.backend.directory.revoke(identity.tenant, identity.token, self._app.clock())
        self._app.verifier.forget()

    async def _events(self, request: Request) -> Response:
        """Tell an open page when something changes that the person may see, until their login ends."""
        secret = request.cookies.get(COOKIE, "")
        try:
            identity = await self._identify(secret)
            self._app.feed.check_room(identity)
        except RecollectError:
            return PlainTextResponse("Not logged in.\n", 401)

        async def may_see(identity: Identity, project: str) -> bool:
            return bool(await run_sync(self._app.may_see, identity, project))

        events = self._app.feed.stream(identity, lambda: self._identify(secret), may_see)
        return StreamingResponse(events, media_type="text/event-stream")

    def _page(self, status: int, message: str = "") -> Response:
        return HTMLResponse(self._renderer.plain("team_login.html", message=message), status)


class TeamEngines(ProjectEngines):
    """The engines of a person for one request: each project that they may see."""

    def __init__(self, engines: CallerEngines, identity: Identity, lent: ExitStack) -> None:
        super().__init__(lent.enter_context(engines.use(identity, NOWHERE, "user")))
        self._engines = engines
        self._identity = identity
        self._lent = lent

    def engine_for(self, project_id: str | None) -> Engine:
        if project_id is None:
            return self.first
        if project_id not in self._others:
            try:
                lent = self._engines.use_project(self._identity, project_id)
                self._others[project_id] = self._lent.enter_context(lent)
            except OutOfScope:  # for this person there is no such project
                return self.first
        return self._others[project_id]

    def close(self) -> None:
        """Nothing is closed here: the engines are lent."""


def browser_routes(app: TeamApp, addresses: frozenset[str]) -> list[BaseRoute]:
    """Return the routes of the pages, for browsers that come to one of `addresses`, such as `https://memory.example`."""

    @contextmanager
    def engines_for(login: Login) -> Iterator[ProjectEngines]:
        assert isinstance(login, TeamLogin)
        app.limiter.check(login.identity, is_write=False)
        login.names = {
            person.id: person.name for person in app.backend.directory.people(login.identity.tenant)
        }
        with ExitStack() as lent:
            engines = TeamEngines(app.engines, login.identity, lent)
            store: TeamStore = engines.first.store  # type: ignore[assignment]
            login.hidden = store.hidden()
            yield engines

    access = TeamAccess(app, secure=all(address.startswith("https:") for address in addresses))
    pages: tuple[Page, ...] = (*(_limited(page, app) for page in PAGES), *TeamPages(app).pages())
    return [Mount("/", RequestGuard(build_app(access, engines_for, pages=pages), addresses))]


def _limited(page: Page, app: TeamApp) -> Page:
    """Return the page of memories with actions that count as writes, and are refused without consent."""

    def limited(path: str, act: Handler) -> Handler:
        def run(request: WebRequest) -> Response:
            identity = identity_of(request)
            if path not in REMOVING:
                check_agrees(identity)
            app.limiter.check(identity, is_write=True)
            app.quotas.check(identity, "", max(len(request.fields("id")), 1))
            return act(request)

        return run

    return replace(
        page,
        actions={path: act if path == PREVIEW else limited(path, act) for path, act in page.actions.items()},
    )
