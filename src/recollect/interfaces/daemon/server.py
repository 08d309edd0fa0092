"""The daemon's server: answers on a socket that only its user can reach, until it is stopped or idle for long."""

import hmac
import json
import logging
import os
import secrets
import select
import socket
import sys
import threading
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect import __version__
from recollect.config import load_settings
from recollect.errors import RecollectError, StoreTooNew
from recollect.interfaces.daemon.hook_service import HookService, NotReady
from recollect.interfaces.daemon.watchdog import Watchdog
from recollect.interfaces.daemon_client import protocol
from recollect.interfaces.daemon_client.caller import can_serve, unpack
from recollect.interfaces.daemon_client.first_prompts import FirstPrompts
from recollect.interfaces.daemon_client.log import write_log
from recollect.interfaces.daemon_client.spool import Fields, HookSpool, parse
from recollect.interfaces.engine_pool import EngineOpener, EnginePool
from recollect.memory.maintenance.consolidate.throttle import WorkCounter
from recollect.remote import login
from recollect.store.file_lock import identity_of
from recollect.store.spool_files import count_refused
from recollect.text import tokens
from recollect.work.hosts.hook_input import host_event
from recollect.work.hosts.host import HookKind

if TYPE_CHECKING:
    from recollect.interfaces.cli.served import CommandRunner
    from recollect.interfaces.mcp.sessions import McpSessions

logger = logging.getLogger(__name__)

TICK = 1.0  # seconds between two checks for due work
COMMAND_SECONDS = 30.0  # in which a client must have read the output of a command
REQUEST_SECONDS = 5.0  # in which a request must have arrived whole
START_SECONDS = 2.0  # that the start of a session may wait for us; most hosts wait for five
LONGEST_LINE = 8192
_BACKLOG = 128
_AT_ONCE = 16
ANSWER_SECONDS = 60.0  # after which the answer to a request is given up; commands may take long
CONNECTION_SECONDS = 1.0  # that current requests have when the daemon stops
STOP_SECONDS = 4.0  # after which a daemon that was told to stop ends, whatever it is doing


def serve(home: Path, lock: int, folder: str = "") -> None:
    """Run as the daemon until it is time to stop. The open file `lock` makes this process the only daemon.

    It gets ready for the project at `folder` first.
    """
    write_log(home)
    try:
        settings = load_settings(home)
    except RecollectError:
        logger.exception("the settings cannot be read")
        return
    tokens.use_estimates()  # until `warm_up` has loaded the vocabulary
    engines = EnginePool(EngineOpener(lambda: settings))
    service = HookService(engines, HookSpool(home), watchdog=Watchdog(home))
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()} {__version__}\n".encode(), 0)
    server = DaemonServer(home, service, settings.daemon_idle)
    service.tick()  # what hooks have spooled comes before later events
    try:
        server.run(folder)
    finally:
        server.close()


class DaemonServer:
    """Listens on a Unix socket; with `port`, on a loopback port with a token, for systems without Unix sockets."""

    def __init__(
        self, home: Path, service: HookService, idle: float, *, port: bool = sys.platform == "win32"
    ) -> None:
        self._home = home
        self._first_prompts = FirstPrompts(home)
        self._service = service
        self._idle = idle
        self._started = m.utc_now()
        self._last_request = time.monotonic()
        self._stopping = threading.Event()
        self._token = secrets.token_hex(16) if port else ""
        self._watchdog = service.watchdog
        self._connections = self._watchdog.pool("connection", _AT_ONCE, ANSWER_SECONDS)
        self._settings = load_settings(home)
        self._settings_at = _changed_at(home)
        self.requests = 0
        self.commands = 0  # that were run for clients
        self.refused = 0
        self._mcp: McpSessions | None = None  # until the first session
        self._mcp_lock = threading.Lock()
        self._opening = WorkCounter()  # sessions that are being accepted
        self._wake_sender, self._wake_receiver = socket.socketpair()  # ends the wait in `run`
        self._listener = self._on_loopback() if port else self._on_unix_socket()
        self._address = home / (protocol.TOKEN if port else protocol.SOCKET)
        self._address_file = identity_of(self._address)
        self._lock_file = identity_of(home / protocol.LOCK)

    def _on_unix_socket(self) -> socket.socket:
        (self._home / protocol.TOKEN).unlink(missing_ok=True)
        (self._home / protocol.SOCKET).unlink(
            missing_ok=True
        )  # left by one that was killed: we hold the lock
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        address = protocol.SocketPath(str(self._home))
        before = os.umask(0o177)
        try:
            listener.bind(address.path)
        finally:
            os.umask(before)
            address.close()
        listener.listen(_BACKLOG)
        return listener

    def _on_loopback(self) -> socket.socket:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.bind(("127.0.0.1", 0))
        listener.listen(_BACKLOG)
        written = self._home / f"{protocol.TOKEN}.{os.getpid()}"
        file = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(file, "w", encoding="ascii") as out:  # noqa: PTH123
            out.write(f"{listener.getsockname()[1]} {self._token}\n")
        written.replace(self._home / protocol.TOKEN)
        return listener

    def run(self, folder: str = "") -> None:
        """Serve requests until it is time to stop; get ready for the project at `folder` meanwhile."""
        logger.info("started", extra={"fields": {"version": __version__}})
        self._service.warm_up(folder)
        self._first_prompts.clean()
        self._listener.setblocking(False)
        self._watchdog.alive()  # before the first request, which may be the one that stops everything
        ticked = time.monotonic()
        while not self._stopping.is_set():
            ready, _, _ = select.select([self._listener, self._wake_receiver], [], [], TICK)
            with suppress(BlockingIOError, ConnectionAbortedError):  # the client is gone again
                if self._listener in ready:
                    connection, _ = self._listener.accept()
                    self._last_request = time.monotonic()
                    self._connections.submit("", self._serve, connection)
            if time.monotonic() - ticked >= TICK:
                ticked = time.monotonic()
                self._watchdog.alive()
                self._stop_if_due()
                if not self._stopping.is_set():
                    self._service.tick()  # never in a home that is not ours
        logger.info("stopping", extra={"fields": {"requests": self.requests}})

    def stop(self) -> None:
        """Make `run` return after the current requests. Call it from any thread."""
        self._watchdog.alive(STOP_SECONDS)
        self._stopping.set()
        self._wake_sender.send(b"!")

    def close(self) -> None:
        """Remove the socket, and finish the current work if it ends soon."""
        if identity_of(self._address) == self._address_file:  # else it is another daemon's, in a new home
            with suppress(OSError):
                self._address.unlink(missing_ok=True)
        self._listener.close()
        close_mcp = self._mcp.close if self._mcp is not None else lambda: None
        closing = threading.Thread(target=close_mcp, name="recollect-close-mcp", daemon=True)
        closing.start()
        self._connections.shutdown(CONNECTION_SECONDS)
        closing.join(CONNECTION_SECONDS)
        self._service.close()
        self._wake_sender.close()
        self._wake_receiver.close()

    def _stop_if_due(self) -> None:
        """Stop if the daemon was idle for long, its settings changed, or its home is gone or was replaced."""
        if self._opening.busy() or (self._mcp is not None and self._mcp.open):
            self._last_request = time.monotonic()
        idle = time.monotonic() - self._last_request
        if self._idle and idle >= self._idle and not self._service.busy:
            self.stop()
        if _changed_at(self._home) != self._settings_at:
            logger.info("the settings changed")
            self.stop()
        if not self._has_home():
            logger.info("the home is gone or was replaced")
            self.stop()

    def _has_home(self) -> bool:
        """Return whether our lock is still in the home; a folder that was put in its place has another, or none."""
        found = identity_of(self._home / protocol.LOCK)
        return found is not None and found == self._lock_file

    # one request

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.settimeout(REQUEST_SECONDS)
                self._answer(connection)
            except (OSError, ValueError):  # closed, too slow, or not a request
                self.refused += 1
            except Exception:  # later requests must be answered
                logger.exception("a request failed")

    def _answer(self, connection: socket.socket) -> None:
        uid = protocol.peer_uid(connection) if not self._token else None
        if uid is not None and uid != os.getuid():
            self._refuse(connection, "another user", {"uid": uid})
            return
        head, received = _read_head(connection)
        want, version, token, length, *fields = head
        if self._token and not hmac.compare_digest(token.encode(), self._token.encode()):
            self._refuse(connection, "no token", {})
            return
        body = _read_body(connection, received, int(length))
        self.requests += 1
        if want == "mcp":
            self._start_mcp(connection, version, body)
        elif want == "hook" and len(fields) == 6:
            self._answer_hook(connection, tuple(fields), body)
        elif want == "run":
            self._run_command(connection, version, body)
        else:
            connection.sendall(self._reply(want, fields, body))
        if _is_newer(version, __version__):  # Recollect was upgraded while we ran
            logger.info("a newer version was installed", extra={"fields": {"version": version}})
            self.stop()

    def _answer_hook(self, connection: socket.socket, fields: Fields, body: bytes) -> None:
        began = time.monotonic()
        try:
            event = parse(body)
            if seconds := self._longer_wait(fields, event):
                fields = (*fields[:4], f"{seconds:.3f}", *fields[5:])
                connection.sendall(protocol.wait(seconds))
            answer = protocol.answer("ok", self._service.handle(fields, event, protocol.peer_pid(connection)))
        except ValueError:  # not JSON: nothing to record, now or later
            answer = protocol.answer("ok", b"")
        except protocol.NotRecorded as unrecorded:
            answer = protocol.answer("unrecorded", unrecorded.text)
        except NotReady:
            answer = protocol.answer("no", b"")
        except StoreTooNew:  # the hook keeps the event, and the next one starts the newer daemon
            logger.info("a newer version has migrated the store")
            self.stop()
            answer = protocol.answer("no", b"")
        took, received = round(1000 * (time.monotonic() - began)), False
        try:
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)
            # A hook that has given up may not have hung up yet: only its own word says that it has read the answer.
            received = connection.recv(1) == protocol.RECEIVED
        finally:
            self._service.sent(fields[2], received=received)
            details = {"host": fields[0], "event": fields[1], "ms": took, "received": received}
            logger.info("hook", extra={"fields": details})

    def _longer_wait(self, fields: Fields, body: dict[str, Any]) -> float:
        """Return how long the hook is to wait for its answer if that is longer than it would; else 0.

        A hook that gets no answer at the start of a session has more to do than we; and a session's first prompt may
        wait for the model.
        """
        host, name, event_id, at, given, folder = fields
        event = host_event(host, name, event_id, at, folder, body)
        if event.hook is None or not event.hook.injects or not event.session or not float(given) > 0:
            return 0.0
        first_prompt = self._settings.first_prompt_seconds
        if event.kind is HookKind.SESSION_START and float(given) < START_SECONDS:
            return START_SECONDS
        may_wait = event.kind is HookKind.PROMPT and float(given) < first_prompt
        if may_wait and self._first_prompts.claim(event.session, event_id):
            waited = max(time.time_ns() - int(at), 0) / 1e9  # a busy machine lets us begin late
            return max(first_prompt - waited, 0.0)
        return 0.0

    def _reply(self, want: str, fields: list[str], body: bytes) -> bytes:
        if want == "embed" and len(fields) == 1:
            return self._embedded(fields[0], body)
        if want == "status":
            return protocol.answer("ok", json.dumps(self.status()).encode())
        if want == "stop":
            self.stop()
            return protocol.answer("ok", b"")
        return protocol.answer("no", b"")

    def _start_mcp(self, connection: socket.socket, version: str, body: bytes) -> None:
        """Keep the connection for a session of a `recollect mcp`, or say why not."""
        with self._opening.working():
            self._accept_mcp(connection, version, body)

    def _accept_mcp(self, connection: socket.socket, version: str, body: bytes) -> None:
        caller = unpack(body)
        if version != __version__:
            newer = _is_newer(version, __version__)  # then we leave, and the client starts a new daemon
            connection.sendall(protocol.answer("no", b"again" if newer else b"version"))
            return
        if not can_serve(self._settings, caller, os.environ, exactly=False):
            connection.sendall(protocol.answer("no", b"settings"))
            return
        connection.sendall(protocol.answer("ok", b""))
        with self._mcp_lock:  # the first session waits for the MCP library to load
            if self._stopping.is_set():
                connection.sendall(b"bye 0\n")
                return
            if self._mcp is None:
                from recollect.interfaces.mcp.sessions import McpSessions

                engines = self._service.engines
                self._mcp = McpSessions(self._home, engines, os.environ, self._service.foreground)
            connection.settimeout(None)
            self._mcp.start(socket.socket(fileno=connection.detach()), caller)

    def _run_command(self, connection: socket.socket, version: str, body: bytes) -> None:
        """Run a command, or hang up: the client then runs it itself."""
        caller = unpack(body)
        same_settings = can_serve(self._settings, caller, os.environ, exactly=True)
        if version != __version__ or not same_settings or caller.variables.get("TZ") != os.environ.get("TZ"):
            return
        with self._commands.turn() as is_free, self._service.foreground.working():
            if not is_free:
                return
            connection.sendall(protocol.ACCEPTED)
            answer = self._commands.run(caller)
            if answer is not None and len(answer) <= protocol.LARGEST:
                connection.settimeout(COMMAND_SECONDS)
                connection.sendall(answer)
                self.commands += 1

    @cached_property
    def _commands(self) -> "CommandRunner":
        from recollect.interfaces.cli.served import CommandRunner

        return CommandRunner(self._settings, self._service.engines)

    def _embedded(self, model: str, body: bytes) -> bytes:
        texts = json.loads(body)
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError("not a list of texts")
        try:
            return protocol.answer("ok", self._service.embed(model, texts))
        except RecollectError:  # another model, or none: the client loads its own
            return protocol.answer("no", b"")

    def _refuse(self, connection: socket.socket, why: str, fields: dict[str, object]) -> None:
        self.refused += 1
        logger.warning("refused", extra={"fields": {"why": why, **fields}})
        connection.sendall(protocol.answer("no", b""))

    def status(self) -> dict[str, object]:
        return {
            "pid": os.getpid(),
            "version": __version__,
            "since": m.to_text(self._started),
            "requests": self.requests,
            "refused": self.refused,
            "events": self._service.events,
            "sessions": self._service.sessions,
            "waiting": self._service.waiting,
            "spool_refused": count_refused(self._home),
            "last_error": self._service.last_error,
            "stuck": self._watchdog.stuck(),
            "idle_seconds": self._idle,
            "model_ready": self._service.model_is_ready.is_set(),
            "commands": self.commands,
            "mcp_sessions": self._mcp.open if self._mcp else 0,
            "memory_mb": _memory(),
        }


def _read_head(connection: socket.socket) -> tuple[list[str], bytes]:
    data = b""
    while b"\n" not in data:
        if len(data) > LONGEST_LINE or not (part := connection.recv(65536)):
            raise ValueError("no request")
        data += part
    head, _, received = data.partition(b"\n")
    fields = head.decode("utf-8", "surrogateescape").split("\t")
    if len(fields) < 4:
        raise ValueError("no request")
    return fields, received


def _read_body(connection: socket.socket, data: bytes, size: int) -> bytes:
    if not 0 <= size <= protocol.LARGEST:
        raise ValueError("too large")
    parts, got = [data], len(data)
    while got < size:
        if not (part := connection.recv(1 << 18)):
            raise ValueError("cut off")
        parts.append(part)
        got += len(part)
    return b"".join(parts)[:size]


def _is_newer(one: str, other: str) -> bool:
    return _numbers(one) > _numbers(other)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _changed_at(home: Path) -> list[float]:
    """Return when the files changed that say what this daemon does: the settings, and where the memories are."""
    times = []
    for name in ("config.toml", login.FILE):
        try:
            times.append((home / name).stat().st_mtime)
        except OSError:
            times.append(0.0)
    return times


def _memory() -> int:
    """Return the megabytes that this process takes; 0 if the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20
