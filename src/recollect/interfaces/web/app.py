"""The web application: addresses, log-in, and how errors of pages are shown."""

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from secrets import compare_digest
from urllib.parse import parse_qsl

from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from recollect.errors import MemoryNotFound, RecollectError
from recollect.interfaces.web.guard import MAX_BODY, RequestGuard
from recollect.interfaces.web.language import text
from recollect.interfaces.web.live import LiveUpdates
from recollect.interfaces.web.logins import Login, Logins, Notice
from recollect.interfaces.web.page import MAX_FIELDS, Handler, WebRequest
from recollect.interfaces.web.pages import PAGES
from recollect.interfaces.web.projects import ProjectEngines
from recollect.interfaces.web.render import Renderer

logger = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
THEMES = ("dark", "light")
YEAR = 365 * 24 * 3600

Endpoint = Callable[[Request], Awaitable[Response]]


def build_app(engines: ProjectEngines, logins: Logins, port: int) -> ASGIApp:
    """Return the application that serves the pages at `port`. It closes the engines when it stops."""
    site = Site(engines, logins, port)
    pages = [
        Route(path, site.endpoint(show), methods=["GET"])
        for page in PAGES
        for path, show in {page.path: page.show, **page.more}.items()
    ]
    actions = [
        Route(path, site.endpoint(act), methods=["POST"])
        for page in PAGES
        for path, act in page.actions.items()
    ]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        site.live.stop()
        await run_sync(engines.close)

    app = Starlette(
        routes=[
            Route("/login", site.show_login, methods=["GET"]),
            Route("/login", site.log_in, methods=["POST"]),
            Route("/logout", site.log_out, methods=["POST"]),
            Route("/theme", site.set_theme, methods=["POST"]),
            Route("/events", site.stream_events, methods=["GET"]),
            Mount("/static", StaticFiles(directory=STATIC)),
            *pages,
            *actions,
        ],
        exception_handlers={HTTPException: site.show_http_error, Exception: site.show_mistake},
        lifespan=lifespan,
    )
    return RequestGuard(app, port)


class Site:
    """The pages for the browsers that are logged in."""

    def __init__(self, engines: ProjectEngines, logins: Logins, port: int) -> None:
        self._engines = engines
        self._logins = logins
        self._cookie = f"recollect-{port}"  # cookies do not tell ports apart
        self._renderer = Renderer()
        self.live = LiveUpdates(engines.first)

    # log-in

    async def show_login(self, request: Request) -> Response:
        """Show a button that uses the link. Looking at the link does not use it up."""
        return self._login_page(request.query_params.get("token", ""))

    async def log_in(self, request: Request) -> Response:
        token = dict(await _form(request)).get("token", "")
        login = await run_sync(self._logins.use_link, token)
        if login is None:
            return self._login_page("", 403, text("This link was used before, or it is too old."))
        # Not a redirect: browsers that came from elsewhere would follow it without the new cookie.
        response = HTMLResponse(self._renderer.plain("welcome.html"))
        response.set_cookie(self._cookie, login.cookie, path="/", httponly=True, samesite="strict")
        return response

    async def log_out(self, request: Request) -> Response:
        login = self._login(request)
        if login is None or not _has_token(login, request, await _form(request)):
            return self._login_page("", 403)
        self._logins.end(login)
        response = self._login_page("", 200, text("You are logged out."))
        response.delete_cookie(self._cookie, path="/", httponly=True, samesite="strict")
        return response

    def _login_page(self, token: str, status: int = 401, message: str = "") -> Response:
        html = self._renderer.plain("login.html", token=token[:100], message=message)
        return HTMLResponse(html, 200 if token else status)

    def _login(self, request: Request, *, touch: bool = True) -> Login | None:
        return self._logins.find(request.cookies.get(self._cookie, ""), touch=touch)

    # pages

    def endpoint(self, handler: Handler) -> Endpoint:
        """Return the endpoint that runs `handler` for a browser that is logged in, in a thread."""

        async def run(request: Request) -> Response:
            login = self._login(request)
            if login is None:
                return self._login_page("", 401)
            form = await _form(request) if request.method == "POST" else []
            if request.method == "POST" and not _has_token(login, request, form):
                return PlainTextResponse("Refused: the form is not from this page.\n", 403)
            return await run_sync(self._run, handler, self._web_request(request, login, form))

        return run

    def _run(self, handler: Handler, request: WebRequest) -> Response:
        try:
            return handler(request)
        except RecollectError as error:
            if request.method == "POST":
                return request.redirect(notice=Notice(error.message, is_error=True, hint=error.hint))
            status = 404 if isinstance(error, MemoryNotFound) else 400
            return request.render("error.html", status, title=error.message, hint=error.hint)

    def _web_request(self, request: Request, login: Login, form: list[tuple[str, str]]) -> WebRequest:
        theme = request.cookies.get("recollect-theme", "")
        return WebRequest(
            method=request.method,
            path=request.url.path,
            params=request.path_params,
            query=_pairs(request.url.query),
            form=form,
            theme=theme if theme in THEMES else "",
            login=login,
            engines=self._engines,
            renderer=self._renderer,
        )

    async def set_theme(self, request: Request) -> Response:
        """Remember the colours that the person chose. It changes no memory, so it needs no change entry."""
        login, form = self._login(request), await _form(request)
        if login is None or not _has_token(login, request, form):
            return self._login_page("", 403)
        web = self._web_request(request, login, form)
        response = web.redirect()
        if (theme := web.field("theme")) in THEMES:
            response.set_cookie("recollect-theme", theme, YEAR, path="/", httponly=True, samesite="strict")
        else:
            response.delete_cookie("recollect-theme", path="/", httponly=True, samesite="strict")
        return response

    async def stream_events(self, request: Request) -> Response:
        """Tell an open page when memory changes. An open page alone does not keep a browser logged in."""
        if self._login(request, touch=False) is None:
            return PlainTextResponse("Not logged in.\n", 401)
        return StreamingResponse(
            self.live.stream(request.query_params.get("since", "")), media_type="text/event-stream"
        )

    async def show_http_error(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        login = self._login(request)
        if login is None or status == 400:  # an address that cannot be read
            return PlainTextResponse("Not found.\n" if status == 404 else "Refused.\n", status)
        title = text("There is no such page.") if status == 404 else text("This is not possible.")
        return self._web_request(request, login, []).render("error.html", status, title=title, hint="")

    async def show_mistake(self, request: Request, error: Exception) -> Response:
        logger.error("a page failed", exc_info=error)
        return PlainTextResponse(
            "Recollect made a mistake; nothing was changed by this page. Run `recollect daemon logs`.\n", 500
        )


async def _form(request: Request) -> list[tuple[str, str]]:
    """Return the fields of a form. The guard has checked the length that the request states."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise HTTPException(413)
    try:
        return _pairs(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise HTTPException(400) from None


def _pairs(text: str) -> list[tuple[str, str]]:
    """Return the names and values of an address or a form; surrogates and broken bytes become a replacement sign."""
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:  # too many
        raise HTTPException(400) from None


def _has_token(login: Login, request: Request, form: list[tuple[str, str]]) -> bool:
    given: Mapping[str, str] = dict(form)
    token = request.headers.get("x-csrf-token") or given.get("csrf", "")
    return compare_digest(token.encode(), login.csrf.encode())
