"""Run the server of the pages, and open a browser at it."""

import contextlib
import json
import os
import socket
import threading
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import uvicorn
from starlette.types import ASGIApp

from recollect.errors import Refused
from recollect.interfaces.loopback import ADDRESS, host_names, listen
from recollect.interfaces.web.app import build_app
from recollect.interfaces.web.guard import RequestGuard
from recollect.interfaces.web.local import LocalAccess
from recollect.interfaces.web.logins import LINK_SECONDS, LinkFolder, Logins
from recollect.interfaces.web.peers import OwnConnections
from recollect.interfaces.web.projects import ProjectEngines

if TYPE_CHECKING:
    from recollect.engine import Engine

PORT = 7437  # taken by default, so that a bookmark works again tomorrow
KEEP_ALIVE_SECONDS = 60  # between two requests of a connection: a person reads before the next click
SHUTDOWN_SECONDS = 1  # that open streams have when the server stops
FOLDER = "web"  # in the home: links, and the address of the server that runs
ADDRESS_FILE = "server.json"


def listen_somewhere(port: int | None) -> socket.socket:
    """Return a socket at `port`; for None at the usual one, or at any other if that is taken. Raise `Refused`."""
    if port is not None:
        return listen(port)
    try:
        return listen(PORT)
    except Refused:
        return listen(0)


def local_app(engines: ProjectEngines, logins: Logins, port: int) -> ASGIApp:
    """Return the pages for the user of this machine, at `port`. The engines are closed when it stops."""
    app = build_app(
        LocalAccess(logins, port), lambda login: contextlib.nullcontext(engines), on_stop=engines.close
    )
    origins = frozenset(f"http://{host}" for host in host_names(port))
    return RequestGuard(app, origins)


class WebServer:
    """The server of the pages, for one home and one browser at least."""

    def __init__(self, engine: "Engine", port: int | None = None) -> None:
        """Listen at `port`, or at the usual one for None. Raise `Refused` if that is not possible."""
        self._listener = listen_somewhere(port)
        self.port: int = self._listener.getsockname()[1]
        self.folder = engine.settings.home / FOLDER
        self.links = LinkFolder(self.folder)
        self.logins = Logins(self.links)
        app = local_app(ProjectEngines(engine), self.logins, self.port)
        config = uvicorn.Config(
            app,
            http=OwnConnections,
            log_level="critical",  # pages log their own errors; streams that end with the server are none
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        self._server = uvicorn.Server(config)

    @property
    def address(self) -> str:
        return f"http://{ADDRESS}:{self.port}/"

    def run(self) -> None:
        """Serve until the process is interrupted or `stop` is called; then close the engine."""
        self._write_address()
        try:
            self._server.run(sockets=[self._listener])
        finally:
            if running_at(self.folder.parent, check=False) == self.address:  # another may have started since
                (self.folder / ADDRESS_FILE).unlink(missing_ok=True)

    def stop(self) -> None:
        self._server.should_exit = True

    def _write_address(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        details = {"address": self.address, "pid": os.getpid()}
        _write_private(self.folder / ADDRESS_FILE, json.dumps(details))


def running_at(home: Path, *, check: bool = True) -> str | None:
    """Return the address of the server that runs for this home, or None; without `check`, of the last that did."""
    try:
        details = json.loads((home / FOLDER / ADDRESS_FILE).read_text(encoding="utf-8"))
        address = str(details["address"])
        if not check:
            return address
        if os.name == "posix":
            os.kill(int(details["pid"]), 0)  # raises if the process is gone
        with socket.create_connection((ADDRESS, int(address.rsplit(":", 1)[1].strip("/"))), timeout=1):
            pass
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
    return address if address.startswith(f"http://{ADDRESS}:") else None


def new_link(home: Path, address: str) -> str:
    """Return a link to the server at `address` that logs one browser in."""
    return f"{address}login?token={LinkFolder(home / FOLDER).new_link()}"


def open_browser(home: Path, link: str, opener: Callable[[str], bool] = webbrowser.open) -> bool:
    """Open `link` in the browser, and return whether one was found.

    The browser is given a private file that leads to the link: what is on a command line, others on the machine can read.
    """
    file = home / FOLDER / "open.html"
    page = f'<!doctype html><meta http-equiv="refresh" content="0;url={quote(link, safe=":/?=#")}">'
    _write_private(file, page)
    opened = opener(file.as_uri())

    def remove() -> None:
        time.sleep(LINK_SECONDS)
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)

    threading.Thread(target=remove, daemon=True).start()
    return opened


def _write_private(file: Path, content: str) -> None:
    """Write a file that only the user can read, replacing an older one."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(content)
