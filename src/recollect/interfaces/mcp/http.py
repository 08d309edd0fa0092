"""Serve MCP over HTTP: on this machine only, for programs that have the token, never for a web page."""

import contextlib
import logging
import os
import secrets
from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.errors import Refused
from recollect.interfaces.loopback import ADDRESS, host_names, listen
from recollect.interfaces.mcp.requests import McpRequests
from recollect.interfaces.mcp.server import build_server

logger = logging.getLogger(__name__)

PATH = "/mcp"
TOKEN = "mcp.token"
SHUTDOWN_SECONDS = 2  # that open streams have when the server stops


def serve_http(requests: McpRequests, home: Path, port: int, tell: Callable[[str], None]) -> None:
    """Serve until the process is stopped, and call `tell` with the address. Port 0 takes any free port.

    Raise `Refused` if the port cannot be used.
    """
    token = read_token(home)
    listener = listen(port)
    port = listener.getsockname()[1]
    app = Guard(
        build_server(requests).streamable_http_app(streamable_http_path=PATH, host=ADDRESS), token, port
    )
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )
    tell(f"http://{ADDRESS}:{port}{PATH}")
    try:
        server.run(sockets=[listener])
    finally:
        requests.close()


class Guard:
    """Rejects requests without the token before their body is read.

    A page in a browser cannot get in: under a forged name its `Host` is not ours (DNS rebinding), under our address its
    `Origin` is not, and it does not have the token.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = f"Bearer {token}".encode()
        self._hosts = host_names(port)
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(Headers(scope=scope))):
            status, why = refusal
            logger.warning("refused a request", extra={"fields": {"why": why, "status": status}})
            known = {"WWW-Authenticate": "Bearer"} if status == 401 else None
            await PlainTextResponse(f"Refused: {why}.\n", status, known)(scope, receive, send)
        elif scope["type"] in ("http", "lifespan"):
            await self._app(scope, receive, send)

    def _refusal(self, headers: Headers) -> tuple[int, str] | None:
        """Return a status and the reason; None for a request to accept."""
        if [*map(str.lower, headers.getlist("host"))] not in [[host] for host in self._hosts]:
            return 421, "wrong host"
        if any(origin not in self._origins for origin in headers.getlist("origin")):
            return 403, "wrong origin"
        given = headers.getlist("authorization")
        if len(given) != 1 or not secrets.compare_digest(given[0].encode("latin-1"), self._token):
            return 401, "no token, or a wrong one"
        return None


def read_token(home: Path) -> str:
    """Return the token of this home, creating it if there is none. Raise `Refused` if it cannot be used."""
    file = home / TOKEN
    try:
        if not file.exists():
            _make_token(file)
        if os.name == "posix" and file.stat().st_mode & 0o077:
            raise Refused(
                f"Others on this machine can read {file}.", "Delete it; the next start creates a new token."
            )
        token = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{file} cannot be used: {error}.", "Check the permissions of its folder.") from error
    if len(token) < 32:
        raise Refused(f"{file} does not contain a token.", "Delete it; the next start creates a new one.")
    return token


def _make_token(file: Path) -> None:
    """Create the file atomically, and only if nobody else has created it meanwhile."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(secrets.token_urlsafe(32))
        with contextlib.suppress(FileExistsError):
            os.link(part, file)
    finally:
        part.unlink()
