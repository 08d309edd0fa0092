"""The daemon: answers on a socket that only its user may reach, until it is told to leave or nobody needs it."""

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
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import recollect.model as m
from recollect import __version__
from recollect.config import load_settings
from recollect.errors import RecollectError, StoreError
from recollect.interfaces.daemon import protocol
from recollect.interfaces.daemon.hook_service import HookService
from recollect.interfaces.daemon.log import write_log
from recollect.interfaces.daemon.spool import HookSpool, parse
from recollect.interfaces.engine_pool import EngineOpener, EnginePool

logger = logging.getLogger(__name__)

TICK = 1.0  # seconds between two looks at what is due
PATIENCE = 5.0  # seconds in which a request must be there whole
LONGEST_LINE = 8192
_BACKLOG = 128
_AT_ONCE = 16


def serve(home: Path, lock: int) -> None:
    """Be the daemon until it is time to leave. `lock` makes us the only one, and goes with us."""
    write_log(home)
    try:
        settings = load_settings(home)
    except RecollectError:
        logger.exception("the settings are wrong")
        return
    service = HookService(EnginePool(EngineOpener(lambda: settings)), HookSpool(home))
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()} {__version__}\n".encode(), 0)
    try:
        service.drain()  # before anybody brings what happened later
    except (RecollectError, OSError):
        logger.exception("what waited could not be taken in")
    server = Server(home, service, settings.daemon_idle)
    try:
        server.run()
    finally:
        server.close()


class Server:
    """`port` = listen on loopback and ask for a token, as where there are no Unix sockets."""

    def __init__(
        self, home: Path, service: HookService, idle: float, *, port: bool = sys.platform == "win32"
    ) -> None:
        self._home = home
        self._desk = service
        self._idle = idle
        self._started = m.utc_now()
        self._seen = time.monotonic()
        self._leaving = threading.Event()
        self._token = secrets.token_hex(16) if port else ""
        self._lines = ThreadPoolExecutor(_AT_ONCE, "recollect-line")
        self._settings_at = _changed_at(home / "config.toml")
        self.requests = 0
        self.refused = 0
        self._rope, self._bell = socket.socketpair()
        self._listener = self._on_loopback() if port else self._on_unix_socket()

    def _on_unix_socket(self) -> socket.socket:
        (self._home / protocol.TOKEN).unlink(missing_ok=True)
        (self._home / protocol.SOCKET).unlink(missing_ok=True)  # of one that was killed: we have the lock
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        way = protocol.Way(str(self._home))
        before = os.umask(0o177)
        try:
            listener.bind(way.path)
        finally:
            os.umask(before)
            way.close()
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

    def run(self) -> None:
        """Returns when it is time to leave."""
        logger.info("here", extra={"fields": {"version": __version__}})
        threading.Thread(target=self._desk.warm_up, name="recollect-warm-up", daemon=True).start()
        self._listener.setblocking(False)
        ticked = time.monotonic()
        while not self._leaving.is_set():
            ready, _, _ = select.select([self._listener, self._bell], [], [], TICK)
            with suppress(BlockingIOError, ConnectionAbortedError):  # who rang has gone again
                if self._listener in ready:
                    line, _ = self._listener.accept()
                    self._seen = time.monotonic()
                    self._lines.submit(self._serve, line)
            if time.monotonic() - ticked >= TICK:
                ticked = time.monotonic()
                self._desk.tick()
                self._leave_if_due()
        logger.info("leaving", extra={"fields": {"requests": self.requests}})

    def leave(self) -> None:
        """Finish the requests at hand and go. From any thread."""
        self._leaving.set()
        self._rope.send(b"!")

    def close(self) -> None:
        """Finish what is at hand, and leave nothing behind that looks like us."""
        with suppress(OSError):
            (self._home / (protocol.TOKEN if self._token else protocol.SOCKET)).unlink(missing_ok=True)
        self._listener.close()
        self._lines.shutdown(wait=True)
        self._desk.close()
        self._rope.close()
        self._bell.close()

    def _leave_if_due(self) -> None:
        """Nobody has come for long; the settings were changed; or our home is gone or another's."""
        idle = time.monotonic() - self._seen
        if self._idle and idle >= self._idle and not self._desk.busy:
            self.leave()
        if _changed_at(self._home / "config.toml") != self._settings_at:
            logger.info("the settings were changed")
            self.leave()
        if not (self._home / protocol.LOCK).exists():
            self.leave()

    # one request

    def _serve(self, line: socket.socket) -> None:
        with line:
            try:
                line.settimeout(PATIENCE)
                self._answer(line)
            except (OSError, ValueError):  # gone, too slow, or no request of ours
                self.refused += 1
            except Exception:  # the next one must be answered
                logger.exception("a request failed")

    def _answer(self, line: socket.socket) -> None:
        whose = protocol.peer(line) if not self._token else None
        if whose is not None and whose != os.getuid():
            self._refuse(line, "another user", {"uid": whose})
            return
        head, rest = _head(line)
        want, version, token, length, *fields = head
        if self._token and not hmac.compare_digest(token.encode(), self._token.encode()):
            self._refuse(line, "no token", {})
            return
        body = _body(line, rest, int(length))
        self.requests += 1
        line.sendall(self._reply(want, fields, body))
        if _newer(version, __version__):  # we are what was there before an upgrade
            logger.info("a newer version has come", extra={"fields": {"version": version}})
            self.leave()

    def _reply(self, want: str, fields: list[str], body: bytes) -> bytes:
        began = time.monotonic()
        if want == "hook" and len(fields) == 6:
            try:
                text = self._desk.take(tuple(fields), parse(body))
            except ValueError:
                text = b""  # garbage: nothing to keep, and no use in bringing it again
            except (StoreError, OSError):
                logger.exception("an event could not be kept")
                return protocol.answer("no", b"")
            took = round(1000 * (time.monotonic() - began))
            logger.info("hook", extra={"fields": {"host": fields[0], "event": fields[1], "ms": took}})
            return protocol.answer("ok", text)
        if want == "embed" and len(fields) == 1:
            return self._embedded(fields[0], body)
        if want == "status":
            return protocol.answer("ok", json.dumps(self.status()).encode())
        if want == "stop":
            self.leave()
            return protocol.answer("ok", b"")
        return protocol.answer("no", b"")

    def _embedded(self, model: str, body: bytes) -> bytes:
        texts = json.loads(body)
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError("no texts")
        try:
            return protocol.answer("ok", self._desk.embed(model, texts))
        except RecollectError:  # another model, or none: whoever asks has one too
            return protocol.answer("no", b"")

    def _refuse(self, line: socket.socket, why: str, fields: dict[str, object]) -> None:
        self.refused += 1
        logger.warning("refused", extra={"fields": {"why": why, **fields}})
        line.sendall(protocol.answer("no", b""))

    def status(self) -> dict[str, object]:
        return {
            "pid": os.getpid(),
            "version": __version__,
            "since": m.to_text(self._started),
            "requests": self.requests,
            "refused": self.refused,
            "events": self._desk.events,
            "sessions": self._desk.conversations,
            "waiting": self._desk.waiting,
            "last_error": self._desk.last_error,
            "idle_seconds": self._idle,
            "memory_mb": _memory(),
        }


def _head(line: socket.socket) -> tuple[list[str], bytes]:
    data = b""
    while b"\n" not in data:
        if len(data) > LONGEST_LINE or not (part := line.recv(65536)):
            raise ValueError("no request")
        data += part
    head, _, rest = data.partition(b"\n")
    fields = head.decode("utf-8", "surrogateescape").split("\t")
    if len(fields) < 4:
        raise ValueError("no request")
    return fields, rest


def _body(line: socket.socket, data: bytes, size: int) -> bytes:
    if not 0 <= size <= protocol.LARGEST:
        raise ValueError("too large")
    parts, got = [data], len(data)
    while got < size:
        if not (part := line.recv(1 << 18)):
            raise ValueError("cut off")
        parts.append(part)
        got += len(part)
    return b"".join(parts)[:size]


def _newer(one: str, other: str) -> bool:
    return _numbers(one) > _numbers(other)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _changed_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _memory() -> int:
    """Megabytes that this process takes; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20
