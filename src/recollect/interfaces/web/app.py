"""The web application: addresses, which login and engine a page gets, and how errors of pages are shown."""

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from recollect.errors import MemoryNotFound, RecollectError
from recollect.interfaces.web.access import Access, Login, Notice
from recollect.interfaces.web.forms import Fields, has_token, read_fields, read_form
from recollect.interfaces.web.language import text
from recollect.interfaces.web.live import LiveUpdates
from recollect.interfaces.web.page import Handler, Page, WebRequest, local_path
from recollect.interfaces.web.pages import PAGES
from recollect.interfaces.web.projects import ProjectEngines
from recollect.interfaces.web.render import Renderer

logger = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
THEMES = ("dark", "light")
YEAR = 365 * 24 * 3600

Endpoint = Callable[[Request], Awaitable[Response]]
EnginesFor = Callable[[Login], AbstractContextManager[ProjectEngines]]


def build_app(
    access: Access,
    engines_for: EnginesFor,
    *,
    pages: Sequence[Page] = PAGES,
    on_stop: Callable[[], None] = lambda: None,
) -> Starlette:
    """Return the application that serves `pages` to those whom `access` lets in, each with the engines of their login.

    Wrap it in a `RequestGuard`. `engines_for` lends engines for a request and may block; `on_stop` runs after the last one.
    """
    site = Site(access, engines_for, pages)
    shown = [
        Route(path, site.endpoint(show), methods=["GET"])
        for page in pages
        for path, show in {page.path: page.show, **page.more}.items()
    ]
    actions = [
        Route(path, site.endpoint(act, personal=path in page.personal), methods=["POST"])
        for page in pages
        for path, act in page.actions.items()
    ]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        site.live.stop()
        await run_sync(on_stop)

    return Starlette(
        routes=[
            *access.routes(),
            Route("/theme", site.set_theme, methods=["POST"]),
            Route("/events", site.stream_events, methods=["GET"]),
            Mount("/static", StaticFiles(directory=STATIC)),
            *shown,
            *actions,
        ],
        exception_handlers={HTTPException: site.show_http_error, Exception: site.show_mistake},
        lifespan=lifespan,
    )


class Site:
    """The pages for the browsers that are logged in."""

    def __init__(self, access: Access, engines_for: EnginesFor, pages: Sequence[Page]) -> None:
        self._access = access
        self._engines_for = engines_for
        self._renderer = Renderer(pages)
        self.live = LiveUpdates()

    def endpoint(self, handler: Handler, *, personal: bool = False) -> Endpoint:
        """Return the endpoint that runs `handler` for a browser that is logged in, in a thread.

        A `personal` one is for readers too.
        """

        async def run(request: Request) -> Response:
            login = await self._access.login(request)
            if login is None:
                return self._access.ask(request)
            form = await read_form(request) if request.method == "POST" else []
            if request.method == "POST" and not has_token(login, request, form):
                return PlainTextResponse("Refused: the form is not from this page.\n", 403)
            if request.method == "POST" and not (login.may_change or personal):
                return PlainTextResponse("Refused: a reader changes nothing.\n", 403)
            return await run_sync(self._run, handler, request, login, form)

        return run

    def _run(self, handler: Handler, request: Request, login: Login, form: Fields) -> Response:
        with self._engines_for(login) as engines:
            web = self._web_request(request, login, form, engines)
            try:
                return handler(web)
            except RecollectError as error:
                if web.method == "POST":
                    return web.redirect(notice=Notice(error.message, is_error=True, hint=error.hint))
                status = 404 if isinstance(error, MemoryNotFound) else 400
                return web.render("error.html", status, title=error.message, hint=error.hint)

    def _web_request(
        self, request: Request, login: Login, form: Fields, engines: ProjectEngines
    ) -> WebRequest:
        theme = request.cookies.get("recollect-theme", "")
        return WebRequest(
            method=request.method,
            path=request.url.path,
            params=request.path_params,
            query=read_fields(request.url.query),
            form=form,
            theme=theme if theme in THEMES else "",
            login=login,
            engines=engines,
            renderer=self._renderer,
        )

    async def set_theme(self, request: Request) -> Response:
        """Remember the colours that the person chose. It changes no memory, so it needs no change entry."""
        login, form = await self._access.login(request), await read_form(request)
        if login is None or not has_token(login, request, form):
            return self._access.ask(request, 403)
        fields = dict(form)
        response = RedirectResponse(local_path(fields.get("next", "")), 303)
        if (theme := fields.get("theme", "")) in THEMES:
            response.set_cookie("recollect-theme", theme, YEAR, path="/", httponly=True, samesite="strict")
        else:
            response.delete_cookie("recollect-theme", path="/", httponly=True, samesite="strict")
        return response

    async def stream_events(self, request: Request) -> Response:
        """Tell an open page when memory changes. An open page alone does not keep a browser logged in."""
        login = await self._access.login(request, touch=False)
        if login is None:
            return PlainTextResponse("Not logged in.\n", 401)
        with self._engines_for(login) as engines:
            events = self.live.stream(engines.first, request.query_params.get("since", ""))
            return StreamingResponse(events, media_type="text/event-stream")

    async def show_http_error(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        login = await self._access.login(request)
        if login is None or status == 400:  # an address that cannot be read
            return PlainTextResponse("Not found.\n" if status == 404 else "Refused.\n", status)
        title = text("There is no such page.") if status == 404 else text("This is not possible.")

        def show() -> Response:
            with self._engines_for(login) as engines:
                web = self._web_request(request, login, [], engines)
                return web.render("error.html", status, title=title, hint="")

        return await run_sync(show)

    async def show_mistake(self, request: Request, error: Exception) -> Response:
        logger.error("a page failed", exc_info=error)
        return PlainTextResponse(
            "Recollect made a mistake; nothing was changed by this page. Run `recollect daemon logs`.\n", 500
        )
