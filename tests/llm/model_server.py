"""A real server on the loopback that speaks OpenAI's chat API by script."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ModelServer:
    """`replies` holds what to do, request by request; the last stays."""

    def __init__(self):
        self.replies = []
        self.requests = []
        self.headers = []
        self.paths = []
        self.arrived = threading.Semaphore(0)  # once for each request
        self.closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                outer.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                outer.headers.append(self.headers)
                outer.paths.append(self.path)
                outer.arrived.release()
                do = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                do(self)

            def log_message(self, *args):
                pass

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                pass  # a client that hung up is part of the tests

        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        self.thread = threading.Thread(target=lambda: self.http.serve_forever(poll_interval=0.01))
        self.thread.start()

    @property
    def seen(self):
        """All that it was ever told, as one text."""
        return json.dumps(self.requests, ensure_ascii=False)

    def hang(self, handler):
        """Says nothing until the test is over."""
        self.closing.wait(60)

    def close(self):
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


def send(status=200, body=b""):
    def do(handler):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return do


def says(content, tokens_in=100, tokens_out=10):
    """A good answer of a chat API; `content` is what the model says, as text or as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    message = {"role": "assistant", "content": text}
    answer = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    }
    return send(200, json.dumps(answer).encode())


def hang_up(handler):
    handler.close_connection = True
