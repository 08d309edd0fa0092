"""A server that is not what it says: the client reads no more and waits no longer than it should, and tells nobody the token."""

import contextlib
import json
import re
import socket
import threading

import pytest
from click.testing import CliRunner

from fakes import FakeEmbedder
from recollect.__main__ import main
from recollect.engine import Engine
from recollect.errors import BadSetting, Offline, RecollectError, TeamError, TokenRefused
from recollect.remote import client as client_module
from recollect.remote.client import TeamClient, checked_address
from recollect.remote.login import Login, write_login
from recollect.remote.outbox import Outbox
from recollect.remote.sign_in import sign_in
from recollect.remote.wire import Place

HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


class Stranger:
    """Answers every connection with `answer`, which is written to its socket until it hangs up."""

    def __init__(self, answer):
        self.requests = []
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._is_closing = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            connection, _ = self._listener.accept()
            if self._is_closing:
                connection.close()
                return
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection):
        with connection, contextlib.suppress(OSError):
            self.requests.append(_request(connection))
            for part in self._answer():
                connection.sendall(part)

    def close(self):
        """Stop listening. A thread that still waits would answer for whichever socket gets the number of this one."""
        self._is_closing = True
        socket.create_connection(self._listener.getsockname()).close()
        self._thread.join()
        self._listener.close()


def _request(connection):
    """Read a request with its body, as far as it comes."""
    read = connection.recv(65536)
    while b"\r\n\r\n" in read:
        head, _, body = read.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        if length is None or len(body) >= int(length[1]) or not (more := connection.recv(65536)):
            break
        read += more
    return read


@pytest.fixture
def stranger():
    with contextlib.ExitStack() as stack:

        def start(answer):
            found = answer if callable(answer) else lambda: [answer]
            return stack.enter_context(contextlib.closing(Stranger(found)))

        yield start


@pytest.fixture
def whoami():
    """Calls a server, and closes the client."""

    def call(address):
        client = TeamClient(address, "rct_secret")
        try:
            return client.call("whoami", {})
        finally:
            client.close()

    return call


def forever(start, part=b"x"):
    yield start
    while True:
        yield part


@pytest.mark.parametrize(
    "head",
    [HEAD + "content-length: 999999999999\r\n\r\n", HEAD + "connection: close\r\n\r\n"],
    ids=["said", "unsaid"],
)
def test_an_answer_without_end_is_read_up_to_a_limit(stranger, whoami, monkeypatch, head):
    monkeypatch.setattr(client_module, "MOST_BYTES", 100_000)
    endless = stranger(lambda: forever(head.encode(), b"x" * 1000))

    with pytest.raises(TeamError, match="answered with more than"):
        whoami(endless.address)


@pytest.mark.parametrize(
    "start",
    [b"HTTP/1.1 200 OK\r\nx: ", b"HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n", b""],
    ids=["head", "body", "nothing"],
)
def test_an_answer_that_drips_is_given_up(stranger, whoami, monkeypatch, start):
    monkeypatch.setattr(client_module, "SECONDS", 0.2)
    pause = threading.Event()

    def drip():
        yield start
        while start and not pause.wait(0.02):  # far less than the time-out of a single read
            yield b"x"
        pause.wait(60)

    slow = stranger(drip)
    try:
        with pytest.raises(Offline):
            whoami(slow.address)
    finally:
        pause.set()


def test_a_redirect_is_not_followed_and_the_token_goes_nowhere_else(stranger, whoami):
    other = stranger((HEAD + "content-length: 2\r\n\r\n{}").encode())
    first = stranger(
        f"HTTP/1.1 307 Moved\r\nlocation: {other.address}/\r\ncontent-length: 0\r\n\r\n".encode()
    )

    with pytest.raises(TeamError, match="status 307"):
        whoami(first.address)

    assert len(first.requests) == 1 and other.requests == []


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"error": ' * 50_000,
        b"\xff\xfe",
        b'{"error": {"type": "SystemExit", "message": "\\u001b]0;owned\\u0007", "hint": 1}}',
        b'{"error": {"type": "AmbiguousId", "matches": 7}}',
        b'{"error": null}',
        b"null",
    ],
    ids=["deep", "deeper", "no text", "no error of ours", "no list", "nothing", "null"],
)
@pytest.mark.parametrize("status", ["200 OK", "400 Bad", "401 No"])
def test_an_answer_that_makes_no_sense_is_an_error_of_ours(stranger, whoami, status, body):
    answer = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
    odd = stranger(answer)

    with pytest.raises(RecollectError):
        whoami(odd.address)


@pytest.mark.parametrize(
    "address",
    [
        "https://memory.example.com:99999",
        "https://memory.example.com:port",
        "https://memory.example.com:0",
        "https://[::1",
        "https://me@memory.example.com",
        "https://memory.example.com/#top",
        "https://memory.example.com/\r\nx: y",
        "http://memory.example.com",
        "http://127.0.0.1.example.com",
        "file:///etc/passwd",
    ],
)
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(BadSetting):
        checked_address(address)


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b"[" * 100_000, b'{"token": 1, "me": null}'])
def test_an_answer_to_an_invitation_that_makes_no_sense_is_an_error_of_ours(stranger, home, body):
    odd = stranger(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)

    with CliRunner().isolation() as (_, err, _):
        code = main(["login", odd.address, "--code", "rci_x", "--yes", "--home", str(home)])
        printed = err.getvalue().decode()

    assert code == 1 and "is not understood" in printed


@pytest.mark.parametrize("body", [b"", b"<html>", b"[" * 100_000])
def test_an_identity_provider_whose_answer_makes_no_sense_is_said_not_to_answer(stranger, body):
    odd = stranger(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)

    with pytest.raises(TeamError, match="does not answer"):
        sign_in(odd.address, "recollect", "openid", print)


@pytest.mark.parametrize("token", ["rct_x\r\nhost: y", "rct_é", "rct_\x00"])
def test_a_token_that_would_be_more_than_a_word_is_refused(token):
    with pytest.raises(TokenRefused):
        TeamClient("http://127.0.0.1:1", token)


def test_no_secret_of_a_query_is_sent(stranger, home, folder):
    secret = "ghp_" + "Zk3mQ9xT7vB2nL5wR8yC1dF4gH6jK0pS3uVa"
    server = stranger(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n")
    write_login(home, Login(server.address, "Shop", "t", "u", "Ada", "member", ""), "rct_x")

    with Engine.open(folder, home, embedder=FakeEmbedder()) as engine:
        for ask in (engine.search, engine.recall):
            with pytest.raises(Offline):
                ask(f"deploy with {secret}")
            engine.context.remote.client._down_until = 0.0

    assert len(server.requests) == 2 and all(b"deploy with" in request for request in server.requests)
    assert secret.encode() not in b"".join(server.requests)


def test_words_of_a_server_do_not_reach_the_terminal_as_commands(stranger, home):
    words = "\x1b]0;owned\x07\x1b[2J\u202eevil\nSecond line"
    body = json.dumps({"error": {"type": "Refused", "message": words, "hint": words}}).encode()
    odd = stranger(b"HTTP/1.1 400 Bad\r\ncontent-length: %d\r\n\r\n" % len(body) + body)

    with CliRunner().isolation() as (out, err, _):
        code = main(["login", odd.address, "--token", "rct_x", "--yes", "--home", str(home)])
        printed = (out.getvalue() + err.getvalue()).decode()

    assert code == 1 and "evil Second line" in printed
    assert not set("\x1b\x07\u202e") & set(printed)


@pytest.mark.parametrize("status", ["404 Not Found", "500 Internal Server Error", "302 Found"])
def test_what_an_agent_learnt_waits_while_something_else_answers_at_the_address(stranger, home, status):
    page = b"<html>nginx</html>"
    proxy = stranger(f"HTTP/1.1 {status}\r\ncontent-length: {len(page)}\r\n\r\n".encode() + page)
    client = TeamClient(proxy.address, "rct_x")
    outbox = Outbox(home, home / "recollect.db")
    outbox.add("remember", {"content": "Tests need Redis"}, Place(), "agent:claude", "k1")

    with pytest.raises(Offline, match="not as a team server does"):
        client.call("whoami", {})
    outbox.deliver(client.call)

    assert outbox.waiting()
    client.close()
