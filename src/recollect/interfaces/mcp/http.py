"""The server over HTTP: on this machine only, for programs that have the token, and never for a web page."""

import contextlib
import errno
import logging
import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.errors import Refused
from recollect.interfaces.mcp.requests import McpRequests
from recollect.interfaces.mcp.server import build_server

logger = logging.getLogger(__name__)

ADDRESS = "127.0.0.1"
PATH = "/mcp"
TOKEN = "mcp.token"
PARTING_SECONDS = 2  # that open streams have when the server is stopped


def serve_http(requests: McpRequests, home: Path, port: int, tell: Callable[[str], None]) -> None:
    """Until it is stopped; `tell` is told the address. Port 0 is any that is free. Raises `Refused`."""
    token = read_token(home)
    line = _listen(port)
    port = line.getsockname()[1]
    app = Guard(
        build_server(requests).streamable_http_app(streamable_http_path=PATH, host=ADDRESS), token, port
    )
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=PARTING_SECONDS,
        )
    )
    tell(f"http://{ADDRESS}:{port}{PATH}")
    try:
        server.run(sockets=[line])
    finally:
        requests.close()


def _listen(port: int) -> socket.socket:
    line = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        line.bind((ADDRESS, port))
        line.listen()
    except OSError as error:
        line.close()
        taken = error.errno == errno.EADDRINUSE
        why = "is taken by another program" if taken else f"cannot be used: {error.strerror}"
        raise Refused(f"Port {port} {why}.", "Give another; 0 takes any that is free.") from error
    return line


class Guard:
    """Refuses, before anything of it is read, what does not come from a program that has the token.

    A page in a browser cannot get in: by a forged name its `Host` is not ours (DNS rebinding), by our address its
    `Origin` is not, and it has no token.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = f"Bearer {token}".encode()
        self._hosts = {f"{name}:{port}" for name in (ADDRESS, "localhost")}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(Headers(scope=scope))):
            status, why = refusal
            logger.warning("a request was refused", extra={"fields": {"why": why, "status": status}})
            known = {"WWW-Authenticate": "Bearer"} if status == 401 else None
            await PlainTextResponse(f"Refused: {why}.\n", status, known)(scope, receive, send)
        elif scope["type"] in ("http", "lifespan"):
            await self._app(scope, receive, send)

    def _refusal(self, headers: Headers) -> tuple[int, str] | None:
        """A status and the reason; None for what may come in."""
        if [*map(str.lower, headers.getlist("host"))] not in [[host] for host in self._hosts]:
            return 421, "wrong host"
        if any(origin not in self._origins for origin in headers.getlist("origin")):
            return 403, "wrong origin"
        given = headers.getlist("authorization")
        if len(given) != 1 or not secrets.compare_digest(given[0].encode("latin-1"), self._token):
            return 401, "no token, or a wrong one"
        return None


def read_token(home: Path) -> str:
    """The one for this home; made when it is first asked for. Raises `Refused`."""
    file = home / TOKEN
    try:
        if not file.exists():
            _make_token(file)
        if os.name == "posix" and file.stat().st_mode & 0o077:
            raise Refused(
                f"Others on this machine can read {file}.", "Delete it; a new token is made the next time."
            )
        token = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{file} cannot be used: {error}.", "Check the permissions of its folder.") from error
    if len(token) < 32:
        raise Refused(f"{file} holds no token.", "Delete it; a new one is made the next time.")
    return token


def _make_token(file: Path) -> None:
    """All of it or nothing, and only if no one else has made one in the meantime."""
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
