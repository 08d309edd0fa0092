"""A model on the loopback address: it plays a script and writes every request down."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from livehosts.apis import anthropic, chat, gemini, responses
from livehosts.model_request import ModelRequest
from livehosts.reply import ModelReply

_Api = tuple[Callable[[str, Mapping[str, Any]], ModelRequest], Callable[[ModelRequest, ModelReply], bytes]]


def _api(path: str) -> _Api | None:
    """Return how to read and answer a request to `path`; None if it is no request for an answer of a model."""
    route = path.partition("?")[0]
    if route.endswith("/messages"):
        return anthropic.read, anthropic.answer
    if route.endswith("/responses"):
        return responses.read, responses.answer
    if route.endswith("/chat/completions"):
        return chat.read, chat.answer
    if route.endswith((":generateContent", ":streamGenerateContent")):
        return gemini.read, gemini.answer
    return None


class ModelServer:
    """Answers the requests of one host. `play` may be replaced at any time.

    `requests` has all of them in order; the same is in the file, one JSON object per line: `api`, `path`, `parts` (what the
    model reads), `body` (as it was sent) and `reply`.
    """

    def __init__(self, file: Path, play: Callable[[ModelRequest], ModelReply], port: int = 0) -> None:
        self.play = play
        self.requests: list[ModelRequest] = []
        self.unknown: list[str] = []  # other paths that were asked for
        self._file = file
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, kind, answer = server._answer(self.path, body)
                self._send(status, kind, answer)

            def do_GET(self) -> None:
                server._note_unknown(f"GET {self.path}")
                self._send(200, "application/json", b'{"data": [], "models": []}')

            def do_HEAD(self) -> None:
                self._send(200, "application/json", b"")

            def _send(self, status: int, kind: str, answer: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def turns(self) -> list[ModelRequest]:
        """The requests that are turns of an agent."""
        return [request for request in self.requests if request.is_turn]

    def _note_unknown(self, what: str) -> None:
        with self._lock:
            self.unknown.append(what)

    def _answer(self, path: str, body: bytes) -> tuple[int, str, bytes]:
        api = _api(path)
        if api is None:
            self._note_unknown(f"POST {path}")
            return 200, "application/json", b'{"input_tokens": 100, "totalTokens": 100}'
        read, write = api
        request = read(path, json.loads(body))
        with self._lock:
            request = replace(request, number=len(self.requests) + 1, at=time.time())
            self.requests.append(request)
        reply = self.play(request)
        answered = write(request, reply)
        self._write(replace(request, reply=json.dumps(asdict(reply), ensure_ascii=False)))
        return 200, "text/event-stream" if request.streamed else "application/json", answered

    def _write(self, request: ModelRequest) -> None:
        line = {
            "number": request.number,
            "at": round(request.at, 3),
            "api": request.api,
            "path": request.path,
            "is_turn": request.is_turn,
            "tools": [tool.name for tool in request.tools],
            "parts": [asdict(part) for part in request.parts],
            "reply": json.loads(request.reply),
            "body": request.body,
        }
        with self._lock, self._file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
