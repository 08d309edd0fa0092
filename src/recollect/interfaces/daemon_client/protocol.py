"""The protocol between the daemon and its clients: one request and one answer per connection.

A request is a line of fields separated by tabs (what is wanted, our version, a token, the length of the body, and the
request's own fields), then the body. An answer is a word and a length, then as many bytes: `ok`; `no`, a refusal; or
`unrecorded`, an answer to an event that could not be recorded in time. Before it, `wait` and a number of seconds may
ask the client to wait longer than it would. A hook confirms an answer that it has read whole: what it was sent and did
not confirm was not told. After the answer to `mcp` the connection stays open, for the lines of a session
(`interfaces/mcp/relay.py`).

Hooks import this for every event: it uses only modules that the interpreter has loaded already.
"""

import _socket
import os
import sys
import time

from recollect import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SOCKET = "daemon.sock"
TOKEN = "daemon.token"  # Windows: port and token
LOCK = "daemon.lock"
ACCEPTED = b"+"  # the daemon runs the command that was asked for
RECEIVED = b"+"  # a hook has read its answer
LONGEST_PATH = 100  # bytes that an address may have on every system
LARGEST = 16 * 1024 * 1024  # bytes of a request or an answer
LONGEST_WAIT = 10.0  # seconds that `wait` may ask for
_ADDRESS = getattr(_socket, "AF_UNIX", None)
_PLATFORM: str = sys.platform


class NoAnswer(Exception):
    """No daemon listens, or it did not answer in time."""


class NotServed(NoAnswer):
    """The daemon answered, and will not do it; the message is its reason."""


class NotListening(NoAnswer):
    """No daemon listens."""


class NotRecorded(NoAnswer):
    """The daemon has answered, but the event is not on disk: the client must keep it."""

    def __init__(self, text: bytes) -> None:
        super().__init__("not recorded")
        self.text = text


def home_folder() -> str:
    """Return where memory is kept, as `config.expand_home` would: the hook cannot afford to import that."""
    folder = os.path.expanduser(os.environ.get("RECOLLECT_HOME") or "~/.recollect")  # noqa: PTH111
    if folder.startswith("~"):
        raise RuntimeError("no home folder")
    return os.path.abspath(folder)  # noqa: PTH100


def ask(
    home: str,
    want: str,
    fields: tuple[str, ...],
    body: bytes,
    seconds: float,
    more_seconds: "Callable[[], float] | None" = None,
) -> bytes:
    """Send a request and return the whole answer. Raise `NoAnswer` after `seconds`, and for a refusal.

    A daemon that says nothing in that time gets as many more as `more_seconds` returns: one that is starting may be too
    busy to say `wait`.
    """
    until = time.monotonic() + seconds
    try:
        with _Connection(home, until) as connection:
            connection.send(request(want, connection.token, fields, body))
            return connection.answer(more_seconds, confirm=want == "hook")
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise NotListening(str(error)) from error
    except (OSError, ValueError) as error:
        raise NoAnswer(str(error)) from error


def open_session(home: str, want: str, body: bytes, seconds: float) -> _socket.socket:
    """Send a request and return the connection, on which the answer comes. Raise `NoAnswer`."""
    try:
        with _Connection(home, time.monotonic() + seconds) as connection:
            connection.send(request(want, connection.token, (), body))
            return connection.detach()
    except (OSError, ValueError) as error:
        raise NoAnswer(str(error)) from error


def request(want: str, token: str, fields: tuple[str, ...], body: bytes) -> bytes:
    words = (want, __version__, token, str(len(body)), *map(_plain, fields))
    return "\t".join(words).encode("utf-8", "surrogateescape") + b"\n" + body


def answer(kind: str, body: bytes) -> bytes:
    return f"{kind} {len(body)}\n".encode() + body


def wait(seconds: float) -> bytes:
    """Return what asks the client to wait longer for the answer that follows."""
    return f"wait {seconds:.3f}\n".encode()


def _plain(field: str) -> str:
    """Return the field, or nothing if it would break the line: a folder with a tab in its name is left out."""
    return "" if "\t" in field or "\n" in field else field


class _Connection:
    def __init__(self, home: str, until: float) -> None:
        self._until = until
        self.token = ""
        if _ADDRESS is not None and not os.path.exists(f"{home}/{TOKEN}"):  # noqa: PTH110
            self._socket = _socket.socket(_ADDRESS, _socket.SOCK_STREAM)
            by_path = SocketPath(home)
            where: str | tuple[str, int] = by_path.path
        else:
            by_path = None
            with open(f"{home}/{TOKEN}", encoding="ascii") as file:  # noqa: PTH123
                port, self.token = file.read(200).split()
            self._socket = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
            where = ("127.0.0.1", int(port))
        try:
            self._wait()
            self._socket.connect(where)
            if by_path is not None and peer_uid(self._socket) not in (None, os.getuid()):
                raise OSError("another user listens there")
        except OSError:
            self._socket.close()
            raise
        finally:
            if by_path is not None:
                by_path.close()

    def send(self, data: bytes) -> None:
        self._wait()
        self._socket.sendall(data)

    def answer(self, more_seconds: "Callable[[], float] | None" = None, *, confirm: bool = False) -> bytes:
        try:
            kind, length, body = self._head(b"")
        except TimeoutError:
            if more_seconds is None:
                raise
            self._until = time.monotonic() + more_seconds()
            kind, length, body = self._head(b"")
        if kind == b"wait":
            self._until = time.monotonic() + min(float(length), LONGEST_WAIT)
            kind, length, body = self._head(body)
        size = int(length)
        if size > LARGEST:
            raise ValueError("too large")
        while len(body) < size:
            body += self._more()
        if confirm:
            self._confirm()
        if kind == b"unrecorded":
            raise NotRecorded(body)
        if kind != b"ok":
            raise NotServed(body[:size].decode("utf-8", "replace"))
        return body

    def _confirm(self) -> None:
        try:  # noqa: SIM105
            self._socket.sendall(RECEIVED)
        except OSError:  # the daemon is gone, and we have its answer
            pass

    def _head(self, data: bytes) -> tuple[bytes, bytes, bytes]:
        while b"\n" not in data:
            data += self._more()
        head, _, rest = data.partition(b"\n")
        kind, _, length = head.partition(b" ")
        return kind, length, rest

    def detach(self) -> _socket.socket:
        """Return the socket, which from now on is not ours to close."""
        self._socket.settimeout(None)
        return _socket.socket(fileno=self._socket.detach())

    def _more(self) -> bytes:
        self._wait()
        data = self._socket.recv(65536)
        if not data:
            raise OSError("connection closed")
        return data

    def _wait(self) -> None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("too late")
        self._socket.settimeout(left)

    def __enter__(self) -> "_Connection":
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()


class SocketPath:
    """The path of the socket; for a long home a shorter one that works until `close`, because socket paths are short."""

    def __init__(self, home: str) -> None:
        self.path = f"{home}/{SOCKET}"
        self._folder = -1
        if len(os.fsencode(self.path)) <= LONGEST_PATH:
            return
        if _PLATFORM == "linux":
            self._folder = os.open(home, os.O_PATH | os.O_DIRECTORY)
            self.path = f"/proc/self/fd/{self._folder}/{SOCKET}"
        else:
            os.chdir(home)
            self.path = SOCKET

    def close(self) -> None:
        if self._folder >= 0:
            os.close(self._folder)


def peer_pid(connection: _socket.socket) -> int | None:
    """Return the process at the other end of a Unix socket; None if the system does not say."""
    if _PLATFORM != "linux" or _ADDRESS is None or connection.family != _ADDRESS:
        return None
    credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[:4], sys.byteorder) or None


def peer_uid(connection: _socket.socket) -> int | None:
    """Return the user of the process at the other end of a Unix socket; None if the system does not say."""
    if _PLATFORM == "linux":
        credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        return int.from_bytes(credentials[4:8], sys.byteorder)
    if _PLATFORM == "darwin":
        credentials = connection.getsockopt(0, 1, 76)  # LOCAL_PEERCRED: a version, then the uid
        return int.from_bytes(credentials[4:8], sys.byteorder)
    return None
