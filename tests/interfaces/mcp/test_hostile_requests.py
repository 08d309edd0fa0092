"""Requests that no client should send: each is answered, and the ones beside them are too."""

import json
import subprocess
import sys
import threading

import anyio
import pytest

from recollect.interfaces.daemon_client import control as daemon
from recollect.interfaces.mcp import requests
from recollect.interfaces.mcp.toolbox import LARGEST_ARGUMENTS

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}
SECONDS = 120


@pytest.fixture
def answers(home, folder, monkeypatch):
    """Send lines to `recollect mcp` and return its answers, by id."""
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    monkeypatch.setenv("RECOLLECT_MCP_TOOLS", "all")

    def send(*lines):
        hello = [json.dumps(HELLO).encode(), b'{"jsonrpc":"2.0","method":"notifications/initialized"}']
        done = subprocess.run(
            [sys.executable, "-m", "recollect", "mcp"],
            input=b"".join(line + b"\n" for line in [*hello, *lines]),
            capture_output=True,
            cwd=folder,
            timeout=SECONDS,
        )
        answered = [json.loads(line) for line in done.stdout.splitlines()]
        return {answer["id"]: answer for answer in answered}

    yield send
    daemon.stop(home)


def call(number, tool, **arguments):
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


def test_half_a_character_is_answered_with_an_error_however_it_is_written(answers):
    escaped = call(2, "search_memory", query="HERE").replace(b"HERE", b"\\ud800")
    raw = call(3, "search_memory", query="HERE").replace(b"HERE", "\ud800".encode("utf-8", "surrogatepass"))
    latin = call(4, "search_memory", query="HERE").replace(b"HERE", b"\xe9")

    answered = answers(escaped, raw, latin, call(5, "search_memory", query="whole"))

    assert {"error" in answered[number] for number in (2, 3)} == {True}
    assert "error" in answered.get(4, answered.get(None))
    assert "result" in answered[5]


@pytest.mark.parametrize("size", [LARGEST_ARGUMENTS + 1, 3_000_000, 17_000_000])
def test_a_huge_argument_is_refused_and_other_requests_go_on(answers, size):
    answered = answers(call(2, "module_map", task="x" * size), call(3, "search_memory", query="whole"))

    huge = answered.get(2) or answered[None]
    assert "error" in huge or huge["result"]["isError"]
    assert "result" in answered[3]


@pytest.mark.anyio
async def test_a_request_that_does_not_end_is_answered_and_other_projects_go_on(monkeypatch, tmp_path):
    monkeypatch.setattr(requests, "REQUEST_SECONDS", 0.5)
    ends = threading.Event()
    limiter = requests._limiter_of(tmp_path / "stuck")
    for _ in range(requests.AT_ONCE):
        with anyio.move_on_after(0.2):
            await anyio.to_thread.run_sync(ends.wait, 60, abandon_on_cancel=True, limiter=limiter)

    other = requests._limiter_of(tmp_path / "other")

    assert await anyio.to_thread.run_sync(lambda: "done", limiter=other) == "done"
    ends.set()
