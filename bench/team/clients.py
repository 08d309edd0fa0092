"""Clients that search, write and edit without pause for a while: of a team server, or of a local engine.

`python -m bench.team.clients` reads what to do from standard input as JSON and prints what it measured. It is a process
of its own, so that the clients do not take turns with what they measure. 80 % of the requests are searches, 15 % writes, 5 % edits.
"""

import http.client
import itertools
import json
import random
import secrets
import statistics
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.corpus import sentences
from bench.team.synthetic import embedder_named
from recollect.engine import Engine

MIX = {"search": 80, "remember": 15, "edit": 5}
PROJECT = {"keys": ["remote:example.com/load/shop"], "name": "shop"}
Act = Callable[[str, str], Any]  # a kind of request and its text → what was answered


class RemoteClient:
    """A person with a connection to the server."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        self._written: list[str] = []

    def __call__(self, kind: str, text: str) -> Any:
        if kind == "edit" and self._written:
            return self._post("edit", {"name": self._written[-1], "content": text})
        if kind == "search":
            return self._post("search", {"query": text})
        receipt = self._post("remember", {"content": text, "kind": "fact", "visibility": "project"})
        self._written.append(receipt["id"])
        return receipt

    def _post(self, operation: str, arguments: dict[str, Any]) -> Any:
        body = json.dumps({"place": PROJECT, "arguments": arguments})
        headers = {**self._headers, "idempotency-key": secrets.token_hex(8)}
        try:
            response, data = self._send(operation, body, headers)
        except (http.client.HTTPException, OSError):  # the server closes connections that were idle
            self._connection.close()
            response, data = self._send(operation, body, headers)
        if response.status != 200:
            raise RuntimeError(f"{operation}: {response.status} {data[:200]!r}")
        return json.loads(data)

    def _send(
        self, operation: str, body: str, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        self._connection.request("POST", f"/api/v1/{operation}", body, headers)
        response = self._connection.getresponse()
        return response, response.read()


class LocalClient:
    """A person's agent that uses the local engine, as the daemon does for all of them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._written: list[str] = []

    def __call__(self, kind: str, text: str) -> Any:
        if kind == "edit" and self._written:
            return self._engine.memory.edit(self._written[-1], content=text)
        if kind == "search":
            return self._engine.search(text)
        receipt = self._engine.remember(text, kind="fact")
        self._written.append(receipt.id)
        return receipt


class Load:
    """Requests of several clients, and how long each took."""

    def __init__(self, clients: list[Act], seconds: float, seed: int = 7) -> None:
        self._clients = clients
        self._seconds = seconds
        self._texts = sentences(20_000, seed)
        self._took: dict[str, list[float]] = defaultdict(list)
        self._errors: list[str] = []

    def run(self) -> dict[str, Any]:
        for client in self._clients:
            client("search", "warm up")
        ready = threading.Barrier(len(self._clients) + 1)
        threads = [
            threading.Thread(target=self._act, args=(number, client, ready))
            for number, client in enumerate(self._clients)
        ]
        for thread in threads:
            thread.start()
        ready.wait()
        begun = time.perf_counter()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - begun
        figures: dict[str, Any] = {"errors": self._errors[:5], "error_count": len(self._errors)}
        total = sum(map(len, self._took.values()))
        figures |= {"requests": total, "per_second": total / seconds}
        for kind, took in self._took.items():
            took.sort()
            figures[kind] = {
                "count": len(took),
                "p50_ms": statistics.median(took),
                "p95_ms": took[int(len(took) * 0.95)],
            }
        return figures

    def _act(self, number: int, client: Act, ready: threading.Barrier) -> None:
        chosen = random.Random(number)
        ready.wait()
        ends = time.monotonic() + self._seconds
        while time.monotonic() < ends:
            (kind,) = chosen.choices(list(MIX), list(MIX.values()))
            text = chosen.choice(self._texts) + (f" {secrets.token_hex(6)}" if kind != "search" else "")
            begun = time.perf_counter()
            try:
                client(kind, text)
            except Exception as error:
                self._errors.append(f"{kind}: {error!r}"[:300])
            self._took[kind].append((time.perf_counter() - begun) * 1000)


def main() -> None:
    given = json.load(sys.stdin)
    if "ports" in given:
        ports = itertools.cycle(given["ports"])
        clients: list[Act] = [RemoteClient(next(ports), token) for token in given["tokens"]]
        print(json.dumps(Load(clients, given["seconds"]).run()))
        return
    embedder = embedder_named(given["embedder"])
    with Engine.open(Path(given["project"]), Path(given["home"]), embedder=embedder) as engine:
        clients = [LocalClient(engine) for _ in range(given["clients"])]
        cpu = time.process_time()
        figures = Load(clients, given["seconds"]).run()
        figures["cpu_ms"] = (time.process_time() - cpu) * 1000 / figures["requests"]
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
