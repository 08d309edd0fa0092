"""`recollect mcp`: pass an agent's messages to the daemon, where the MCP server lives, and pass its answers back.

Each open window of a host runs this program, so it imports next to nothing; the model, the store and the MCP library are
in the daemon, once for all windows. It works as follows:

- It connects to the daemon, and starts one if there is none. If a daemon cannot be had, or has other settings, the server
  runs in this process instead, behind a pair of sockets: for the rest of the program that is the same.
- Lists that never change (the handshake, the tools, the prompts) are answered from a file of earlier answers, so that a
  host has them at once, daemon or not.
- If the daemon goes, because it was stopped, upgraded or killed, the relay connects again, repeats the handshake, and
  sends again what was not answered. A call that may have changed something before the daemon was killed is answered
  with an error that says so.
- It exits when its input ends and everything is answered, or when its parent process ends.

The daemon sends the lines of the session as they are, and as the last line `bye` with the number of lines that it took.
"""

import _socket
import json
import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

from recollect import __version__
from recollect.interfaces.daemon_client import protocol
from recollect.interfaces.daemon_client.caller import Caller, own_folder, own_variables

TYPE_CHECKING = False  # importing typing for it would take as long as the rest
if TYPE_CHECKING:
    from typing import Any

    from recollect.interfaces.mcp.sessions import McpSessions

ANSWER_SECONDS = 5.0  # that a daemon may take to accept the session
START_SECONDS = 15.0  # that a daemon may take to start
RETRY_SECONDS = 0.05  # between two attempts to connect
PARENT_SECONDS = 1.0  # between two checks whether our parent process still runs
LARGEST = protocol.LARGEST  # bytes of a message
_PLATFORM: str = sys.platform
LISTS = "mcp-lists.json"  # in the home
# Requests whose answers depend on nothing but the version and the settings.
_LISTS = (
    "initialize",
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
)
_VERSION = "io.modelcontextprotocol/protocolVersion"
# Calls that can be repeated, because they change nothing: a test compares them with the hints of the tools.
READING_TOOLS = frozenset(
    {"search_memory", "code_graph", "session_search", "read_source", "module_map", "work_history"}
)
READING_ACTIONS = frozenset({"recall", "read", "list", "search"})  # of the tool `memory`
INTERRUPTED = (
    "Recollect's daemon ended while it worked on this call, so the call may or may not have taken effect. Check with"
    " search_memory or memory action=list, and call again if it did not."
)


def parse(arguments: list[str]) -> tuple[str, str] | None:
    """Return the home and the project of a plain `recollect mcp`; None if the command line has anything else."""
    given = {"--home": "", "--project": ""}
    words = [*arguments]
    is_mcp = False
    while words:
        word, equals, value = words.pop(0).partition("=")
        if word in given and (value or (words and not equals)):
            given[word] = value or words.pop(0)
        elif word == "mcp" and not is_mcp:
            is_mcp = True
        else:
            return None
    return (given["--home"], given["--project"]) if is_mcp else None


def main(home: str, project: str) -> int:
    """Serve the agent at our standard input and output; empty = RECOLLECT_HOME, and the current folder."""
    folder = own_folder()
    home = _absolute(home) if home else protocol.home_folder()
    project = _absolute(project) if project else ""
    session = f"mcp-{time.time_ns():x}-{os.getpid():x}"
    Relay(home, Caller(folder, own_variables(), project=project, session=session)).run()
    return 0


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111


class Relay:
    """Passes the messages of one session between the client, at our streams, and the server."""

    def __init__(self, home: str, caller: Caller) -> None:
        self._home = home
        self._caller = caller
        self._lists = ListCache(home, caller)
        self._version = ""  # of the protocol, once the handshake is answered
        self._hello = b""  # the client's `initialize`, for every server that we connect to
        self._initialized = b""  # the notification that follows it
        self._is_hello_answered = False
        self._waiting: dict[str, Request] = {}  # requests without an answer, oldest first
        self._server: ServerConnection | None = None
        self._pending: ServerConnection | None = None  # a daemon that has not accepted the session yet
        self._sessions: McpSessions | None = None  # if the server runs in this process
        self._is_new = True  # no server yet
        self._connect_by = 0.0  # when we stop waiting for a daemon
        self._next_attempt = 0.0
        self._input = _standard_input()
        self._is_input_open = True
        self._client_lines = Lines()

    def run(self) -> None:
        """Relay until the client has closed its stream and has its answers, or has ended."""
        parent = os.getppid()
        self._connect_by = time.monotonic() + START_SECONDS
        try:
            while True:
                if self._needs_server():
                    self._connect()
                if self._server is None and not self._is_input_open and not self._waiting:
                    return
                ready = self._wait()
                if not ready and os.getppid() != parent:
                    return
                if self._input in ready:
                    self._read_client()
                if self._pending is not None and self._pending.socket in ready:
                    self._read_pending(self._pending)
                elif self._server is not None and self._server.socket in ready and self._read_server():
                    return
        except BrokenPipeError:  # the client did not wait for the answer
            return
        finally:
            if self._sessions is not None:
                self._sessions.close()

    def _wait(self) -> "list[Any]":
        sources: list[Any] = [self._input] if self._is_input_open else []
        seconds = PARENT_SECONDS
        if self._server is not None:
            sources.append(self._server.socket)
        elif self._needs_server():
            seconds = RETRY_SECONDS
            if self._pending is not None:
                sources.append(self._pending.socket)
        return select.select(sources, [], [], seconds)[0]

    def _needs_server(self) -> bool:
        """Whether to connect now: at the start, and after a server has gone when there is something to ask.

        A daemon that was stopped stays stopped while nobody asks.
        """
        return self._server is None and (self._is_new or bool(self._waiting))

    # the client

    def _read_client(self) -> None:
        data = self._read_input()
        if not data:
            self._is_input_open = False
            if self._server is not None:
                self._server.finish()
            return
        for line in self._client_lines.add(data):
            self._from_client(line)
        if self._client_lines.is_too_long():
            self._print_error(None, -32600, f"The message has more than {LARGEST:,} bytes.")

    def _read_input(self) -> bytes:
        if isinstance(self._input, int):
            return os.read(self._input, 1 << 16)
        return self._input.recv(1 << 16)

    def _from_client(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._print_error(None, -32700, "The message is not JSON.")
            return
        if not isinstance(message, dict):
            self._print_error(None, -32600, "The message is not a JSON object.")
            return
        method, number = message.get("method"), message.get("id")
        if _has_half_character(line, message):
            if method is not None and number is not None:
                text = "The message has half of a surrogate pair, which is not a character. Send the whole character."
                self._print_error(number, -32602, text)
            return
        if method is None or number is None:
            self._note(method, message, line)
            self._send(line)
            return
        self._request(Request(number, str(method), message.get("params"), line))

    def _note(self, method: object, message: "dict[str, Any]", line: bytes) -> None:
        if method == "notifications/initialized":
            self._initialized = line
        elif method == "notifications/cancelled":
            cancelled = (message.get("params") or {}).get("requestId")
            for key in [key for key, each in self._waiting.items() if str(each.id) == str(cancelled)]:
                del self._waiting[key]

    def _request(self, request: "Request") -> None:
        if request.method == "initialize":
            self._hello = request.line
            self._is_hello_answered = False
        request.list = self._lists.name_of(request, self._version)
        known = self._lists.answer(request.list) if request.list else None
        if known is not None:
            self._print({"jsonrpc": "2.0", "id": request.id, "result": known})
            if request.method == "initialize":
                self._is_hello_answered = True
                self._version = known.get("protocolVersion", "")
                self._send(request.line, request.key)
            return
        if self._server is None and not self._waiting:
            self._connect_by = time.monotonic() + START_SECONDS
        self._waiting[request.key] = request
        self._send(request.line, request.key)

    # the server

    def _connect(self) -> None:
        """Connect to the daemon, start one, or serve here; if a daemon is starting, return and try again later."""
        now = time.monotonic()
        if self._pending is not None:
            if now >= self._pending.answer_by:  # it hangs
                self._pending.socket.close()
                self._pending = None
                self._serve_here()
            return
        if now < self._next_attempt:
            return
        self._next_attempt = now + RETRY_SECONDS
        try:
            line = protocol.open_session(self._home, "mcp", self._caller.pack(), ANSWER_SECONDS)
            self._pending = ServerConnection(line, now + ANSWER_SECONDS)
        except protocol.NoAnswer:
            if now >= self._connect_by or not self._is_daemon_coming():
                self._serve_here()

    def _read_pending(self, server: "ServerConnection") -> None:
        """Read whether the daemon accepts the session."""
        server.answer += server.receive() or b"no 5\nagain"  # it has hung up
        head, end, rest = server.answer.partition(b"\n")
        kind, _, size = head.partition(b" ")
        if not end or len(rest) < int(size):
            return
        self._pending = None
        if kind == b"ok":
            self._use(server)
            return
        server.socket.close()
        if rest != b"again" or time.monotonic() >= self._connect_by:
            self._serve_here()

    def _is_daemon_coming(self) -> bool:
        """Start a daemon if there is none; False if none can be started, or the last one failed."""
        from recollect.interfaces.daemon_client.start import has_failed, start

        try:
            return start(self._home, self._caller.folder) or not has_failed(self._home)
        except OSError:
            return False

    def _serve_here(self) -> None:
        from recollect.interfaces.mcp.sessions import serve_in_process

        if self._sessions is None:
            self._sessions = serve_in_process(self._home)
        self._use(ServerConnection(self._sessions.connect(self._caller)))

    def _use(self, server: "ServerConnection") -> None:
        """Begin a session with a server: repeat the handshake, and send what is not answered."""
        self._server = server
        self._is_new = False
        if self._hello:
            hello = json.loads(self._hello)
            self._send(self._hello, key_of(hello.get("id")))
        if self._initialized:
            self._send(self._initialized)
        for key, request in self._waiting.items():
            if request.method != "initialize":
                self._send(request.line, key)
        if not self._is_input_open:
            self._server.finish()

    def _send(self, line: bytes, key: str = "") -> None:
        """Send a line, if there is a server; `_use` sends again what must not be lost."""
        if self._server is not None:
            self._server.send(line, key)

    def _read_server(self) -> bool:
        """Read what the server sent; return whether the session is over."""
        assert self._server is not None
        data = self._server.receive()
        for line in self._server.lines.add(data):
            self._from_server(line)
        if data:
            return False
        server, self._server = self._server, None
        server.socket.close()
        if server.taken is not None and not self._is_input_open:
            return True
        self._settle(server)
        self._connect_by = time.monotonic() + START_SECONDS
        self._next_attempt = 0.0
        return False

    def _settle(self, server: "ServerConnection") -> None:
        """Decide what happens with requests that a server took and did not answer."""
        taken = server.sent_keys if server.taken is None else server.sent_keys[: server.taken]
        for key in taken:
            request = self._waiting.get(key)
            if request is not None and not request.can_be_repeated():
                del self._waiting[key]
                content = [{"type": "text", "text": INTERRUPTED}]
                self._print(
                    {"jsonrpc": "2.0", "id": request.id, "result": {"content": content, "isError": True}}
                )

    def _from_server(self, line: bytes) -> None:
        assert self._server is not None
        if line.startswith(b"bye "):
            self._server.taken = int(line[4:])
            return
        message = json.loads(line)
        if "method" not in message:
            key = key_of(message.get("id"))
            request = self._waiting.pop(key, None)
            if request is None and self._is_hello_answered and self._hello and key == self._hello_key():
                return  # the client has had that answer
            if request is not None:
                self._answered(request, message)
        _write(line + b"\n")

    def _answered(self, request: "Request", message: "dict[str, Any]") -> None:
        result = message.get("result")
        if not isinstance(result, dict):
            return
        if request.method == "initialize":
            self._is_hello_answered = True
            self._version = result.get("protocolVersion", "")
        if request.list:
            self._lists.keep(request.list, result)

    def _hello_key(self) -> str:
        return key_of(json.loads(self._hello).get("id"))

    def _print_error(self, number: object, code: int, text: str) -> None:
        self._print({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}})

    def _print(self, message: "dict[str, Any]") -> None:
        _write(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


class Request:
    """A request of the client's."""

    def __init__(self, number: object, method: str, params: object, line: bytes) -> None:
        self.id = number
        self.key = key_of(number)
        self.method = method
        self.params: dict[str, Any] = params if isinstance(params, dict) else {}
        self.line = line
        self.list = ""  # its name in the file of lists; empty if its answer is not kept

    def can_be_repeated(self) -> bool:
        """Whether it changes nothing, so that it does no harm to do it twice."""
        if self.method != "tools/call":
            return True
        arguments = self.params.get("arguments")
        action = arguments.get("action") if isinstance(arguments, dict) else None
        name = self.params.get("name")
        return name in READING_TOOLS or (name == "memory" and action in READING_ACTIONS)


class ServerConnection:
    """The connection to a server, in the daemon or in this process."""

    def __init__(self, line: "_socket.socket", answer_by: float = 0.0) -> None:
        self.socket = line
        self.answer_by = answer_by  # when the daemon must have accepted the session
        self.answer = b""  # what it has said about that
        self.lines = Lines()
        self.sent_keys: list[str] = []  # of each line that we sent; empty if it is no request
        self.taken: int | None = None  # how many of them the server took; None until it says so

    def send(self, line: bytes, key: str) -> None:
        self.sent_keys.append(key)
        with suppress(OSError):  # it has gone: reading tells us
            self.socket.sendall(line + b"\n")

    def receive(self) -> bytes:
        try:
            return self.socket.recv(1 << 16)
        except OSError:
            return b""

    def finish(self) -> None:
        """Tell the server that no more requests will come."""
        with suppress(OSError):
            self.socket.shutdown(_socket.SHUT_WR)


class Lines:
    """Cuts bytes into lines, and drops a line that is longer than any message."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._is_dropping = False

    def add(self, data: bytes) -> Iterator[bytes]:
        """Yield the lines that are complete now, without their ends."""
        while True:
            line, end, data = data.partition(b"\n")
            if not self._is_dropping:
                self._parts.append(line)
                self._size += len(line)
            if not end:
                return
            line, is_whole = b"".join(self._parts), not self._is_dropping
            self._parts, self._size, self._is_dropping = [], 0, False
            if is_whole:
                yield line

    def is_too_long(self) -> bool:
        """Whether the line that has begun is too long; it is dropped then, and this is said once."""
        if self._size <= LARGEST:
            return False
        self._parts, self._size, self._is_dropping = [], 0, True
        return True


class ListCache:
    """Earlier answers to requests that are always answered alike, in a file for this version and these settings."""

    def __init__(self, home: str, caller: Caller) -> None:
        self._file = f"{home}/{LISTS}"
        try:
            changed = os.stat(f"{home}/config.toml")  # noqa: PTH116
            settings = f"{changed.st_mtime_ns} {changed.st_size}"
        except OSError:
            settings = "none"
        self._for = f"{__version__} {settings} {caller.variables.get('RECOLLECT_MCP_TOOLS', '')}"
        self._answers: dict[str, Any] | None = None

    def name_of(self, request: Request, version: str) -> str:
        """Return the name under which the answer is kept; empty if it is not. `version` is that of the handshake."""
        if request.method not in _LISTS:
            return ""
        if request.method == "initialize":
            return f"initialize {request.params.get('protocolVersion')}"
        meta = request.params.get("_meta")
        version = (meta.get(_VERSION) if isinstance(meta, dict) else None) or version
        return f"{request.method} {version}" if version and not request.params.keys() - {"_meta"} else ""

    def answer(self, name: str) -> "dict[str, Any] | None":
        """Return the result that was answered earlier; None if there is none."""
        if self._answers is None:
            self._answers = self._read()
        found = self._answers.get(name)
        return found if isinstance(found, dict) else None

    def keep(self, name: str, result: "dict[str, Any]") -> None:
        """Write an answer down for other sessions. A file that cannot be written is no reason to fail."""
        self._answers = {**self._read(), name: result}
        part = f"{self._file}.{os.getpid()}"
        try:
            file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(file, "w", encoding="utf-8") as out:  # noqa: PTH123
                json.dump({"for": self._for, "answers": self._answers}, out)
            os.replace(part, self._file)  # noqa: PTH105
        except OSError:
            pass

    def _read(self) -> "dict[str, Any]":
        try:
            with open(self._file, encoding="utf-8") as file:  # noqa: PTH123
                kept = json.load(file)
            if kept["for"] == self._for and isinstance(kept["answers"], dict):
                return kept["answers"]
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return {}


def key_of(number: object) -> str:
    """Return the id of a request as a key: 3 and "3" are different ids."""
    return json.dumps(number)


def _has_half_character(line: bytes, message: object) -> bool:
    """Whether the message has half of a surrogate pair, which JSON can write and no text can hold, or is not UTF-8."""
    if b"\\ud" not in line.lower() and line.isascii():
        return False
    try:
        line.decode()
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeError:
        return True
    return False


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _standard_input() -> "int | _socket.socket":
    """Return something that `select` accepts: on Windows a socket that a thread fills from the real input."""
    if _PLATFORM == "win32":
        from recollect.interfaces.mcp.windows_input import input_socket

        return input_socket()
    return 0
