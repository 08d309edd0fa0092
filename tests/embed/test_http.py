import json
import logging
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from typing import Any

import numpy as np
import pytest

from recollect.embed import http
from recollect.embed.http import HttpEmbedder
from recollect.embed.open import open_embedder
from recollect.errors import BadSetting, EmbedderUnavailable

KEY = "sk-very-secret-0123456789"


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, 2.0]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    data = [{"index": i, "embedding": vector(text)} for i, text in enumerate(request["input"])]
    return {"object": "list", "data": data}


class Server:
    """A real server on the loopback. `replies` holds what to do, request by request; the last stays."""

    def __init__(self) -> None:
        self.replies: list[Callable[[Any, dict[str, Any]], None]] = [reply()]
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Any] = []
        self.paths: list[str] = []
        self.closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                outer.headers.append(self.headers)
                outer.paths.append(self.path)
                do = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                do(self, body)

            def log_message(self, *args: Any) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # a client that hung up is part of the tests

        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        self.thread = threading.Thread(target=lambda: self.http.serve_forever(poll_interval=0.01))
        self.thread.start()

    def close(self) -> None:
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


def reply(status: int = 200, body: Any = answer, headers: dict[str, str] | None = None):
    """`body` is bytes, or a function from the request to the JSON of the answer."""

    def do(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body(request)).encode()
        handler.send_response(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return do


def hang_up(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
    handler.close_connection = True


def half(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data"')


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def embedder(server, pauses):
    return HttpEmbedder(server.url, "nomic", KEY, timeout=5.0, pause=pauses.append)


def test_a_server_gives_unit_rows_in_the_order_of_the_texts(server, embedder):
    rows = embedder.embed(["abc", "a"])

    expected = np.array([vector("abc"), vector("a")])
    assert np.allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True))
    assert rows.dtype == np.float32
    assert server.requests == [{"model": "nomic", "input": ["abc", "a"]}]
    assert server.paths == ["/v1/embeddings"]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1/embeddings"),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1/embeddings"),
        ("https://x.example/api/embeddings?version=2", "https://x.example/api/embeddings?version=2"),
    ],
)
def test_the_url_may_be_given_in_several_ways(url, endpoint):
    assert http._read_url(url)[0] == endpoint


def test_the_index_decides_the_order_and_not_the_position(server, embedder):
    server.replies = [reply(body=lambda request: {"data": answer(request)["data"][::-1]})]

    rows = embedder.embed(["abc", "a"])

    assert rows[0, 0] > rows[1, 0]


def test_no_key_is_sent_where_there_is_none(server):
    HttpEmbedder(server.url, "nomic").embed(["a"])

    assert server.headers[0]["Authorization"] is None


def test_many_texts_go_in_batches(server, embedder):
    rows = embedder.embed([str(10**n) for n in range(150)])

    assert [len(request["input"]) for request in server.requests] == [64, 64, 22]
    assert np.all(np.diff(rows[:, 0]) >= 0)


def test_texts_that_servers_refuse_are_made_sendable(server, embedder):
    embedder.embed(["", " \n", "\ud800", "x" * 1_000_000])

    assert server.requests[0]["input"] == [".", ".", "?", "x" * http.MAX_CHARS]


def test_no_texts_make_no_request(server, embedder):
    assert embedder.embed([]).shape == (0, 0)
    assert server.requests == []


def test_bulk_keeps_the_order(server, embedder):
    batches = [["x" * (batch + row) for row in range(3)] for batch in range(1, 30)]

    bulk = list(embedder.embed_each(batches))

    assert np.allclose(np.vstack(bulk), embedder.embed([*chain(*batches)]))


def test_the_dimension_is_learnt_from_the_server(server, embedder):
    assert embedder.dim == 3
    assert embedder.dim == 3
    assert len(server.requests) == 1


def test_a_dimension_that_is_asked_for_is_sent_and_checked(server):
    embedder = HttpEmbedder(server.url, "nomic", dim=2)

    with pytest.raises(EmbedderUnavailable, match="3 numbers instead of 2"):
        embedder.embed(["a"])

    assert server.requests[0]["dimensions"] == 2


def test_the_identity_tells_models_servers_and_dimensions_apart():
    assert HttpEmbedder("http://localhost:11434", "nomic").model == "nomic@localhost:11434"
    assert HttpEmbedder("https://api.example/v1", "nomic", dim=256).model == "nomic@api.example/256"


@pytest.mark.parametrize("trouble", [reply(429, b"slow down"), reply(503, b""), hang_up, half])
def test_a_passing_trouble_is_waited_out(server, embedder, pauses, trouble):
    server.replies = [trouble, trouble, reply()]

    rows = embedder.embed(["a"])

    assert rows.shape == (1, 3)
    assert pauses == list(http.PAUSES[:2])


def test_the_server_may_name_the_pause(server, embedder, pauses):
    server.replies = [reply(429, b"", {"Retry-After": "3"}), reply()]

    embedder.embed(["a"])

    assert pauses == [3.0]


def test_a_pause_longer_than_our_patience_is_not_waited_for(server, embedder, pauses):
    server.replies = [reply(429, b"come tomorrow", {"Retry-After": "86400"})]

    with pytest.raises(EmbedderUnavailable, match="429: come tomorrow"):
        embedder.embed(["a"])

    assert pauses == []


def test_a_lasting_trouble_is_told_with_what_came_back(server, embedder, pauses):
    server.replies = [reply(500, b"out of memory " * 1000)]

    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed(["a"])

    assert caught.value.message.startswith(
        f"The embedding server {server.url}/embeddings answered 500: out of memory"
    )
    assert len(caught.value.message) < 400
    assert pauses == list(http.PAUSES)


def test_a_refusal_is_not_asked_again(server, embedder, pauses):
    server.replies = [reply(404, b'{"error": "model nomic not found"}')]

    with pytest.raises(EmbedderUnavailable, match=r"404: .*model nomic not found"):
        embedder.embed(["a"])

    assert len(server.requests) == 1


def test_nobody_there_is_unavailable(server, embedder, pauses):
    server.close()

    with pytest.raises(EmbedderUnavailable, match=r"127\.0\.0\.1.*cannot be reached"):
        embedder.embed(["a"])


def test_a_slow_server_is_left(server):
    server.replies = [lambda handler, request: (server.closing.wait(5), None)[1]]
    embedder = HttpEmbedder(server.url, "nomic", timeout=0.05)

    with pytest.raises(EmbedderUnavailable, match=r"did not answer within 0\.05 s"):
        embedder.embed(["a"])

    assert len(server.requests) == 1


def test_a_trickling_server_is_left(server):
    def trickle(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not server.closing.wait(0.01):
            handler.wfile.write(b" ")

    server.replies = [trickle]
    embedder = HttpEmbedder(server.url, "nomic", timeout=0.1)

    with pytest.raises(EmbedderUnavailable, match="did not answer"):
        embedder.embed(["a"])


def embedding(*values: Any) -> bytes:
    return json.dumps({"data": [{"index": 0, "embedding": list(values)}]}).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Welcome to nginx</html>",
        b"\xff\xfe",
        b"[" * 100_000,
        b"[]",
        b"null",
        b"{}",
        b'{"data": []}',
        b'{"data": [1]}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 1, "embedding": [1.0]}]}',
        b'{"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]}',
        b'{"data": [{"index": [], "embedding": [1.0]}]}',
        embedding(),
        embedding(float("nan"), 1.0),
        embedding(float("inf"), 1.0),
        embedding(0.0, 0.0),
        embedding(1e300, 1e300),
        embedding(10**400),
        embedding("north", "south"),
        embedding([1.0]),
        embedding({"a": 1}),
        embedding(None),
    ],
    ids=range(23),
)
def test_an_answer_that_is_not_vectors_is_unavailable(server, embedder, body):
    server.replies = [reply(200, body)]

    with pytest.raises(EmbedderUnavailable, match="sent no vectors"):
        embedder.embed(["a"])


def test_vectors_of_uneven_length_are_unavailable(server, embedder):
    uneven = {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}
    server.replies = [reply(body=lambda request: uneven)]

    with pytest.raises(EmbedderUnavailable, match="sent no vectors"):
        embedder.embed(["a", "b"])


def test_a_dimension_that_changes_is_unavailable(server, embedder):
    server.replies = [reply(), reply(200, embedding(1.0, 2.0))]
    embedder.embed(["a"])

    with pytest.raises(EmbedderUnavailable, match="2 numbers instead of 3"):
        embedder.embed(["a"])


def test_an_endless_answer_is_cut_off(server, embedder):
    def endless(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not server.closing.is_set():
            handler.wfile.write(b" " * 1_000_000)

    server.replies = [endless]

    with pytest.raises(EmbedderUnavailable, match="more than 32 MB"):
        embedder.embed(["a"])


def test_a_redirect_is_not_followed(server, embedder):
    other = Server()
    server.replies = [reply(307, b"", {"Location": f"{other.url}/embeddings"})]

    with pytest.raises(EmbedderUnavailable, match="307, a redirect"):
        embedder.embed(["a"])

    assert other.requests == []
    other.close()


def garble(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
    handler.wfile.write(f"{KEY}\r\n\r\n".encode())


@pytest.mark.parametrize(
    "echo", [reply(401, f"Incorrect API key: {KEY}".encode()), reply(200, embedding(KEY)), garble]
)
def test_the_key_is_never_shown(server, embedder, caplog, echo):
    caplog.set_level(logging.DEBUG)
    server.replies = [echo]

    with pytest.raises(EmbedderUnavailable, match="…") as caught:
        embedder.embed(["a"])

    assert KEY not in f"{caught.value!r} {caught.value.hint} {embedder!r} {embedder.model} {caplog.text}"


@pytest.mark.parametrize("key", ["line\nbreak", "naïve"])
def test_a_key_that_cannot_be_sent_is_refused_unshown(key):
    with pytest.raises(BadSetting) as caught:
        HttpEmbedder("http://localhost", "nomic", key)

    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["", "localhost:11434", "ftp://x", "file:///etc/passwd", "http://", "http://[x", "http://h:port"]
)
def test_a_url_that_is_none_is_refused(url):
    with pytest.raises(BadSetting, match="embedder_url"):
        HttpEmbedder(url, "nomic")


def test_a_password_in_the_url_is_refused_unshown():
    with pytest.raises(BadSetting) as caught:
        HttpEmbedder("http://me:hunter2@localhost", "nomic")

    assert "hunter2" not in str(caught.value) + caught.value.hint


def test_a_host_that_cannot_be_is_unavailable(pauses):
    with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
        HttpEmbedder(f"http://{'a' * 70}.example", "nomic", pause=pauses.append).embed(["a"])


def test_our_own_machine_is_never_reached_through_a_proxy(server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")

    assert open_embedder("http", url=server.url, model="nomic").dim == 3
