"""The way in on one's own machine: a one-time link gives a browser a cookie."""

from collections.abc import Sequence

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from recollect.interfaces.web.access import Login
from recollect.interfaces.web.forms import has_token, read_form
from recollect.interfaces.web.language import text
from recollect.interfaces.web.logins import Logins
from recollect.interfaces.web.render import Renderer


class LocalAccess:
    """Lets browsers in that come with a link of `recollect web`. An `Access`."""

    def __init__(self, logins: Logins, port: int) -> None:
        self._logins = logins
        self._cookie = f"recollect-{port}"  # cookies do not tell ports apart
        self._renderer = Renderer()

    def routes(self) -> Sequence[BaseRoute]:
        return (
            Route("/login", self._show_login, methods=["GET"]),
            Route("/login", self._log_in, methods=["POST"]),
            Route("/logout", self._log_out, methods=["POST"]),
        )

    async def login(self, request: Request, *, touch: bool = True) -> Login | None:
        return self._logins.find(request.cookies.get(self._cookie, ""), touch=touch)

    def ask(self, request: Request, status: int = 401) -> Response:
        return self._page("", status)

    async def _show_login(self, request: Request) -> Response:
        """Show a button that uses the link. Looking at the link does not use it up."""
        return self._page(request.query_params.get("token", ""))

    async def _log_in(self, request: Request) -> Response:
        token = dict(await read_form(request)).get("token", "")
        entered = await run_sync(self._logins.use_link, token)
        if entered is None:
            return self._page("", 403, text("This link was used before, or it is too old."))
        # Not a redirect: browsers that came from elsewhere would follow it without the new cookie.
        response = HTMLResponse(self._renderer.plain("welcome.html"))
        response.set_cookie(self._cookie, entered[0], path="/", httponly=True, samesite="strict")
        return response

    async def _log_out(self, request: Request) -> Response:
        login = await self.login(request)
        if login is None or not has_token(login, request, await read_form(request)):
            return self.ask(request, 403)
        self._logins.end(request.cookies[self._cookie])
        response = self._page("", 200, text("You are logged out."))
        response.delete_cookie(self._cookie, path="/", httponly=True, samesite="strict")
        return response

    def _page(self, token: str, status: int = 401, message: str = "") -> Response:
        html = self._renderer.plain("login.html", token=token[:100], message=message)
        return HTMLResponse(html, 200 if token else status)
