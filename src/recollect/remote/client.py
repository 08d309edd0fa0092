"""Requests to the team server: one JSON document there, one back."""

import base64
import contextlib
import http.client
import io
import json
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from pydantic import TypeAdapter, ValidationError

import recollect.model as m
from recollect.errors import (
    AnotherServer,
    BadSetting,
    NotOnServer,
    Offline,
    RecollectError,
    TeamError,
    TokenRefused,
    VectorsNeeded,
)
from recollect.remote.results import IdentityProvider, Joined
from recollect.remote.wire import (
    ACTOR_HEADER,
    IDEMPOTENCY_HEADER,
    MOST_VECTORS,
    NOWHERE,
    PREFIX,
    VERSION_HEADER,
    Place,
    error_from,
)

if TYPE_CHECKING:
    from recollect.context.embedder import Embedder

SECONDS = 10.0  # that a whole answer may take; what waits for less gives up by itself
CONNECT_SECONDS = 2.0
STREAM_SECONDS = 60.0  # that a stream may be silent; the server sends a line every 20
MOST_ROUNDS = 5  # in which a server may ask for vectors of more texts
LONGEST_LINE = 64 * 1024  # bytes that are read of a line in a stream
MOST_BYTES = 32 * 1024 * 1024  # of an answer: 1000 of the largest memories with all their fields
MOST_IDLE = 8  # connections that are kept
PAUSE = 1.0  # seconds after a failed connection in which no other is tried
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_TROUBLE = (OSError, http.client.HTTPException)
_AWAY = (502, 503, 504)  # statuses of a proxy without its server, and of a server without its database


def checked_address(url: str) -> str:
    """Return the address of a server without a slash at its end. Raise `BadSetting` unless it is safe to send a token to."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, or brackets that do not close
        is_address = False
    if not is_address or parts.query or parts.fragment or parts.username or not url.isprintable():
        raise BadSetting(
            f"{url!r} is not the address of a server.", "Give one like https://memory.example.com."
        )
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise BadSetting(
            "A token is not sent over an unencrypted connection.", "Use https://, or http:// on this machine."
        )
    return url.rstrip("/")


# What a server says that does not know yet that memories say when they are needed. It takes the statement without.
_OLDER = "when_needed: Extra inputs are not permitted"


class TeamClient:
    """Calls the operations of one server with one token. It can be used from any thread."""

    def __init__(self, address: str, token: str) -> None:
        self.address = checked_address(address)
        if not (token.isascii() and token.isprintable()):
            raise TokenRefused("This is not a token.", "Copy it again: it is a single word.")
        self._token = token
        parts = urlsplit(self.address)
        self._secure, self._host = parts.scheme == "https", parts.hostname or ""
        self._port, self._path = parts.port, parts.path
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        self._down_until = 0.0
        self._why = ""
        self.is_offline = False  # whether the last attempt to reach the server failed
        self.changes = 0  # of the team's memories that live updates have told of

    @property
    def is_down(self) -> bool:
        """Whether the last attempt to reach the server failed a moment ago."""
        return time.monotonic() < self._down_until

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        place: Place = NOWHERE,
        actor: str = "user",
        key: str | None = None,
        embedder: "Embedder | None" = None,
    ) -> Any:
        """Run an operation and return its result. A write with the same `key` is written once, however often it is sent.

        With an `embedder`, vectors are made here, of the texts that the server asks for, and not there. Raise `Offline`, `TokenRefused`, or the error that the operation raised on the server.
        """
        from recollect.remote.operations import OPERATIONS

        operation = OPERATIONS[name]
        request: dict[str, Any] = {"place": place, "arguments": arguments}
        if embedder is not None:
            request["vectors"] = {"model": embedder.model, "rows": {}}
        headers = {ACTOR_HEADER: quote(actor[:100], safe=" :/@", errors="replace")}
        if operation.is_write:
            headers[IDEMPOTENCY_HEADER] = key or secrets.token_hex(16)
        for _ in range(MOST_ROUNDS):
            body = m.dumps(request).encode("utf-8", "surrogatepass")
            try:
                answer = self.request("POST", f"{PREFIX}/{name}", body, headers)
            except VectorsNeeded as error:
                if embedder is None:
                    raise
                request["vectors"]["rows"] |= _vectors_of(error.texts[:MOST_VECTORS], embedder)
                continue
            except RecollectError as error:
                if _OLDER not in error.message or "when_needed" not in request["arguments"]:
                    raise
                request["arguments"] = {
                    name: value for name, value in arguments.items() if name != "when_needed"
                }
                continue
            return self._understood(name, operation.result, answer)
        raise TeamError(
            f"{self.address} asks for vectors again and again.", "Log in with --embeddings server."
        )

    def join(self, code: str, name: str) -> str:
        """Return the token that the server gives for an invitation code; `name` is what it is called there."""
        body = json.dumps({"code": code, "client": name[:100] or "client"}).encode()
        answer = self.request("POST", f"{PREFIX}/join", body)
        joined: Joined = self._understood("join", TypeAdapter(Joined), answer)
        return joined.token

    def server_version(self) -> str:
        """Return the version of Recollect that the server has."""
        answer = self.request("GET", "/health")
        found: dict[str, Any] = self._understood("health", TypeAdapter(dict[str, Any]), answer)
        return str(found.get("version", ""))[:20]

    def provider(self) -> IdentityProvider:
        """Return where people of this server sign in. Raise `RecollectError` if there is no such place."""
        answer = self.request("GET", f"{PREFIX}/sign-in")
        found: IdentityProvider = self._understood("sign-in", TypeAdapter(IdentityProvider), answer)
        return found

    def sign_in(self, id_token: str, code: str, name: str) -> str:
        """Return the token that the server gives for an ID token, with an invitation code the first time."""
        body = json.dumps({"id_token": id_token, "code": code, "client": name[:100] or "client"}).encode()
        answer = self.request("POST", f"{PREFIX}/sign-in", body)
        joined: Joined = self._understood("sign-in", TypeAdapter(Joined), answer)
        return joined.token

    def _understood(self, name: str, kind: "TypeAdapter[Any]", answer: bytes) -> Any:
        try:
            return kind.validate_json(answer)
        except ValidationError as error:
            raise TeamError(
                f"The answer of {self.address} to {name} is not understood.",
                "The server may have another version of Recollect: `recollect whoami` shows both.",
            ) from error

    def request(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> bytes:
        """Send a request and return the body of the answer. One that is not understood on the way is sent once more."""
        if self.is_down:
            raise Offline(self.address, self._why)
        sent = {
            "content-type": "application/json",
            VERSION_HEADER: version("recollect"),
            **({"authorization": f"Bearer {self._token}"} if self._token else {}),
            **(headers or {}),
        }
        for attempt in (1, 2):
            connection, fresh = None, False
            try:
                connection, fresh = self._acquire()
                connection.response_class = _TimedResponse
                connection.sock.settimeout(SECONDS)
                connection.request(method, self._path + path, body, sent)
                response = connection.getresponse()
                data = response.read(MOST_BYTES + 1)
            except _TROUBLE as error:
                if connection is not None:
                    connection.close()
                if connection is None or fresh or attempt == 2 or isinstance(error, TimeoutError):
                    self._down_until, self._why = time.monotonic() + PAUSE, _reason(error)
                    self.is_offline = True
                    raise Offline(self.address, self._why) from error
                self.close()  # the server may have closed connections that were idle
                continue
            if len(data) > MOST_BYTES:
                connection.close()
                raise TeamError(
                    f"{self.address} answered with more than {MOST_BYTES // 1024**2} MB.",
                    "Is this a Recollect team server?",
                )
            self._release(connection)
            self._down_until = 0.0
            self.is_offline = response.status in _AWAY
            if response.status == 200:
                return data
            raise self._error(response.status, data)
        raise AssertionError("unreachable")

    @contextlib.contextmanager
    def stream(self) -> Iterator[tuple[Iterator[str], Callable[[], None]]]:
        """Open the stream of live updates; yield its lines, and a function that ends it from another thread.

        The lines end when the connection does. Raise `Offline`, `TokenRefused` and `TeamError`.
        """
        try:
            connection = self._connected(STREAM_SECONDS)
        except _TROUBLE as error:
            self.is_offline = True
            raise Offline(self.address, _reason(error)) from error
        try:
            headers = {"authorization": f"Bearer {self._token}", VERSION_HEADER: version("recollect")}
            try:
                connection.request("GET", f"{self._path}{PREFIX}/events", headers=headers)
                response = connection.getresponse()
                if response.status != 200:
                    raise self._error(response.status, response.read(LONGEST_LINE))
            except _TROUBLE as error:
                raise Offline(self.address, _reason(error)) from error
            self.is_offline = False
            yield _lines(response), partial(_hang_up, connection.sock)
        finally:
            connection.close()

    def _error(self, status: int, data: bytes) -> Exception:
        if status in _AWAY:
            return Offline(self.address, f"status {status}")
        with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
            error = error_from(json.loads(data)["error"])
            # Everything else that is not found has an error of its own.
            is_unknown = status == 404 and type(error) is RecollectError
            return NotOnServer(error.message, error.hint) if is_unknown else error
        if status == 401:
            return TokenRefused()
        self.is_offline = True
        return AnotherServer(self.address, status)

    def _acquire(self) -> tuple[http.client.HTTPConnection, bool]:
        """Return a connection, and whether it is new."""
        with self._lock:
            if self._idle:
                return self._idle.pop(), False
        return self._connected(SECONDS), True

    def _connected(self, seconds: float) -> http.client.HTTPConnection:
        """Return a new connection on which an answer may take so many seconds."""
        if self._secure:
            context = ssl.create_default_context()
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                self._host, self._port, timeout=CONNECT_SECONDS, context=context
            )
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)
        connection.connect()
        connection.sock.settimeout(seconds)
        return connection

    def _release(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if connection.sock is not None and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close the connections that are idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _vectors_of(texts: Sequence[str], embedder: "Embedder") -> dict[str, str]:
    rows = embedder.embed(list(texts)).astype("<f4")
    return {text: base64.b64encode(row.tobytes()).decode() for text, row in zip(texts, rows, strict=True)}


def _lines(response: http.client.HTTPResponse) -> Iterator[str]:
    """Yield the lines of a stream that are not empty, until it ends or is cut off."""
    try:
        while line := response.readline(LONGEST_LINE):
            if text := line.decode("utf-8", "replace").rstrip("\r\n"):
                yield text
    except (*_TROUBLE, ValueError, AttributeError):  # closed by another thread, or silent for too long
        return


def _hang_up(stream: socket.socket) -> None:
    with contextlib.suppress(OSError):
        stream.shutdown(socket.SHUT_RDWR)


class _TimedResponse(http.client.HTTPResponse):
    """An answer that has `SECONDS` in all, however slowly its bytes come."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp = io.BufferedReader(_TimedReader(sock, self.fp.detach()))


class _TimedReader(io.RawIOBase):
    def __init__(self, sock: socket.socket, raw: io.RawIOBase) -> None:
        self._socket, self._raw = sock, raw
        self._deadline = time.monotonic() + SECONDS

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)
        count: int | None = self._raw.readinto(buffer)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
