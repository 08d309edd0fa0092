"""Run the team server: uvicorn, TLS, logs and shutdown."""

import json
import logging
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn

import recollect.model as m
from recollect.config import Settings
from recollect.context.embedder import Embedder
from recollect.context.team import TeamBackend
from recollect.errors import BadSetting, Refused
from recollect.frozen import frozen
from recollect.interfaces.engine_pool import CachingEmbedder
from recollect.interfaces.team.app import TeamApp
from recollect.interfaces.team.browser import browser_routes
from recollect.interfaces.team.engines import CallerEngines
from recollect.interfaces.team.limits import HEAD_SECONDS, Quotas, RateLimiter, Rates
from recollect.interfaces.web.connections import ImpatientConnections

if TYPE_CHECKING:
    from recollect.interfaces.team.oidc import OpenIdProvider

PORT = 7438
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
SHUTDOWN_SECONDS = 10  # that current requests have


@frozen
class Listening:
    """Where the server listens, and how."""

    host: str = "127.0.0.1"
    port: int = PORT
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False  # a proxy on this machine or in a private network terminates TLS
    address: str = (
        ""  # under which browsers reach the pages, such as https://memory.example; "" = host and port
    )

    def check(self) -> None:
        """Raise `BadSetting` if tokens would cross a network in the clear."""
        if (self.certificate is None) != (self.key is None):
            raise BadSetting("TLS needs a certificate and its key.", "Give both --certificate and --key.")
        if self.host not in LOOPBACK and self.certificate is None and not self.behind_proxy:
            raise BadSetting(
                f"Without TLS the server listens on this machine only, not on {self.host}.",
                "Give --certificate and --key, or --behind-proxy if a proxy terminates TLS in front of it.",
            )


def build(
    backend: TeamBackend,
    settings: Settings,
    embedder: Embedder,
    rates: Rates | None = None,
    clock: m.Clock = m.utc_now,
    provider: "OpenIdProvider | None" = None,
) -> TeamApp:
    """Return the application on a database."""
    engines = CallerEngines(backend, settings, CachingEmbedder(embedder), clock)
    rates = rates or Rates()
    quotas = Quotas(rates, backend.directory, clock)
    return TeamApp(backend, engines, RateLimiter(rates), quotas, clock, provider)


class TeamServer:
    """A running server. `run` returns after a signal, or after `stop`."""

    def __init__(self, app: TeamApp, where: Listening) -> None:
        where.check()
        self._listener = listen(where)
        self.port: int = self._listener.getsockname()[1]
        scheme = "https" if where.certificate else "http"
        self.address = f"{scheme}://{where.host}:{self.port}"
        tls: dict[str, Any] = {}
        if where.certificate:
            tls = {"ssl_certfile": where.certificate, "ssl_keyfile": where.key}
        config = uvicorn.Config(
            app.starlette(browser_routes(app, frozenset({where.address.rstrip("/") or self.address}))),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="on",
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            h11_max_incomplete_event_size=64 * 1024,
            http=TeamConnections,
            **tls,
        )
        self._server = _Server(config, app)

    def run(self) -> None:
        self._server.run(sockets=[self._listener])

    def stop(self) -> None:
        self._server.should_exit = True

    @property
    def started(self) -> bool:
        return self._server.started


class _Server(uvicorn.Server):
    """Ends the streams of live updates first when it shuts down: it would wait for them."""

    def __init__(self, config: uvicorn.Config, app: TeamApp) -> None:
        super().__init__(config)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.feed.stop()
        await super().shutdown(sockets)


class TeamConnections(ImpatientConnections):
    head_seconds = HEAD_SECONDS


def listen(where: Listening) -> socket.socket:
    """Return a socket that listens there. Raise `Refused` if it cannot."""
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    # The protocol is named, or asyncio would not send at once: the body of an answer would wait 40 ms for its head's receipt.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((where.host, where.port))
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise Refused(
            f"Cannot listen on {where.host}:{where.port}: {error.strerror}.", "Give another --port."
        ) from error
    return listener


class JsonFormatter(logging.Formatter):
    """A line of JSON for each record: what happened, with fields; never a text of a user's."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        line = {"at": m.to_text(m.utc_now()), "level": record.levelname.lower(), "event": record.getMessage()}
        if record.exc_info and record.exc_info[0]:
            trace = record.exc_info[2]
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            line["error"] = record.exc_info[0].__name__
            if trace is not None:
                line["where"] = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        return json.dumps(line | fields, ensure_ascii=False)


def log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.root.handlers = [handler]
    logging.root.setLevel(logging.INFO)
