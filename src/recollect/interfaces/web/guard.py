"""What every request has to pass before a page sees it.

A page of another site cannot get in: under a forged name its `Host` is not ours (DNS rebinding), its `Origin` is not
ours, the browser does not send it our cookie (SameSite=Strict), and it does not know the token in our forms. Other users
of the machine get nothing: they have no link, and on Linux the server recognises their connections (`peers`).
"""

import logging
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)

MAX_BODY = 256 * 1024  # bytes; the longest form is the text of a memory
METHODS = ("GET", "HEAD", "POST")

CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # With `no-referrer` browsers send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class RequestGuard:
    """Refuses requests of other sites, and adds the headers that protect our pages."""

    def __init__(self, app: ASGIApp, origins: frozenset[str]) -> None:
        """`origins` are the addresses of the pages, such as `http://127.0.0.1:7437`."""
        self._app = app
        self._origins = origins
        self._hosts = frozenset(urlsplit(origin).netloc for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if "cache-control" not in headers:
                    headers["Cache-Control"] = "no-store"
            await send(message)

        if refusal := self._refusal(scope):
            status, why = refusal
            logger.warning("refused a request", extra={"fields": {"why": why, "status": status}})
            await PlainTextResponse(f"Refused: {why}.\n", status)(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return a status and the reason; None for a request to accept."""
        headers = Headers(scope=scope)
        if [*map(str.lower, headers.getlist("host"))] not in [[host] for host in self._hosts]:
            return 421, "wrong host"
        if scope["method"] not in METHODS:
            return 405, "unknown method"
        if any(origin not in self._origins for origin in headers.getlist("origin")):
            return 403, "wrong origin"
        if scope["method"] == "POST":
            if not headers.getlist("origin"):
                return 403, "no origin"
            if not _fits(headers.getlist("content-length")):
                return 413, "the form is too large"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not _opens_page(headers):
            return 403, "another site asked"
        return None


def _fits(lengths: Iterable[str]) -> bool:
    """Return whether a body says its length and is small enough. Browsers always say it for a form."""
    given = list(lengths)
    return len(given) == 1 and bool(re.fullmatch("[0-9]{1,9}", given[0])) and int(given[0]) <= MAX_BODY


def _opens_page(headers: Headers) -> bool:
    """Return whether a person follows a link to us: a page may be opened from elsewhere, but not read or embedded."""
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
