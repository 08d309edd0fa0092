"""The server as hosts start it: a process of its own, spoken to over its streams."""

import json
import os
import subprocess
import sys

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.message import SessionMessage
from mcp_client import text_of
from mcp_types import jsonrpc_message_adapter

from recollect.interfaces.mcp.requests import McpRequests
from recollect.interfaces.mcp.server import build_server
from recollect.interfaces.mcp.stdio import serve_streams

pytestmark = pytest.mark.anyio

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "tester", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
SERVE = [sys.executable, "-m", "recollect", "mcp"]


@pytest.fixture
def start(home, folder):
    """Starts a server in the project's folder; it is killed at the end if it is still there."""
    started = []

    def popen(command=SERVE, **more):
        process = subprocess.Popen(
            command,
            cwd=folder,
            **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
        )
        started.append(process)
        return process

    yield popen
    for process in started:
        process.kill()
        process.communicate()


def lines(*messages):
    return "".join(json.dumps(message) + "\n" for message in messages).encode()


def call_of(number, tool, **arguments):
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


async def test_both_eras_of_clients_can_record_and_search(home, folder, era, version):
    server = StdioServerParameters(command=SERVE[0], args=SERVE[1:], cwd=folder, env=dict(os.environ))

    async with Client(server, mode=era) as client:
        client_version = client.protocol_version
        listed = await client.list_tools()
        kept = await client.call_tool("record_memory", {"content": "Tests need a running Redis"})
        found = await client.call_tool("search_memory", {"query": "why do tests fail", "repeat": True})

    assert client_version == version
    assert len(listed.tools) == 4
    assert kept.structured_content["outcome"] == "stored"
    assert "Tests need a running Redis" in text_of(found)


def test_neither_store_nor_numpy_nor_model_is_imported_to_list_the_tools(start):
    server = start([sys.executable, "-X", "importtime", *SERVE[1:]])

    out, imported = server.communicate(lines(HELLO, LIST), timeout=60)

    names = {line.rpartition("|")[2].strip() for line in imported.decode().splitlines()}
    assert "recollect.interfaces.mcp.server" in names
    assert not names & {
        "numpy",
        "apsw",
        "onnxruntime",
        "sklearn",
        "recollect.engine",
        "recollect.store.sqlite",
    }
    assert b'"tools"' in out


def test_the_server_goes_when_its_client_closes_the_stream_and_prints_nothing_else(start):
    server = start()

    out, _ = server.communicate(lines(HELLO, LIST) + b"this is not JSON\n\xff\xfe\n", timeout=60)

    assert server.returncode == 0
    answers = [json.loads(line) for line in out.splitlines()]
    assert {1, 2} <= {answer.get("id") for answer in answers}


def test_every_request_is_answered_though_the_client_closes_its_stream_right_after_it(start):
    gotchas = [
        call_of(3, "record_memory", content="Tests need a running Redis"),
        call_of(4, "record_memory", content="The printer jams on Mondays"),
    ]
    server = start()

    out, _ = server.communicate(lines(HELLO, READY, LIST, *gotchas), timeout=60)

    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines())}
    assert server.returncode == 0
    assert sorted(answers) == [1, 2, 3, 4]
    assert [answers[number]["result"]["structuredContent"]["outcome"] for number in (3, 4)] == ["stored"] * 2


@pytest.mark.parametrize("request_id, cancelled", [(3, 3), (3, "3"), ("3", 3)])
def test_a_cancelled_request_does_not_keep_the_server_when_its_client_is_gone(start, request_id, cancelled):
    call = call_of(request_id, "search_memory", query="x")
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}}
    server = start()

    out, _ = server.communicate(lines(HELLO, READY, call, cancel), timeout=40)

    assert server.returncode == 0
    assert json.loads(out.splitlines()[0])["id"] == 1


async def test_the_server_does_not_wait_for_folders_that_a_client_who_is_gone_cannot_name(
    home, opener, monkeypatch
):
    monkeypatch.setattr("recollect.interfaces.mcp.requests.ROOTS_SECONDS", 3600.0)
    has_roots = {**HELLO, "params": {**HELLO["params"], "capabilities": {"roots": {}}}}
    to_server, incoming = anyio.create_memory_object_stream(10)
    outgoing, from_server = anyio.create_memory_object_stream(10)
    requests = McpRequests(str(home), None, opener)
    sent = []

    with anyio.fail_after(60):
        async with from_server, anyio.create_task_group() as tasks:
            tasks.start_soon(serve_streams, build_server(requests), incoming, outgoing)
            for message in (has_roots, READY, call_of(3, "search_memory", query="x")):
                await to_server.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))
            async for item in from_server:
                sent.append(item.message)
                if getattr(item.message, "method", "") == "roots/list":
                    await to_server.aclose()
    requests.close()

    assert [getattr(message, "method", message.id) for message in sent] == [1, "roots/list", 3]


def test_the_server_goes_when_its_parent_is_killed_and_the_stream_stays_open(start, tmp_path):
    """As when a host crashes, and another child of its still has the pipe."""
    reading, writing = os.pipe()
    parent = start(
        [
            sys.executable,
            "-c",
            "import subprocess, sys, time\n"
            f"child = subprocess.Popen({SERVE!r}, stdin={reading}, stdout=sys.stdout)\n"
            "child.wait()",
        ],
        stdin=subprocess.DEVNULL,
        pass_fds=[reading],
    )
    os.write(writing, lines(HELLO))
    assert parent.stdout.readline()

    parent.kill()

    rest = parent.stdout.read()  # until the server has gone, too: it has the other end
    os.close(writing)
    os.close(reading)
    assert rest == b""


def test_a_broken_configuration_does_not_stop_the_handshake(start, home):
    (home / "config.toml").write_text("this is not TOML")
    call = call_of(3, "search_memory", query="x")
    server = start()
    server.stdin.write(lines(HELLO, READY, LIST, call))
    server.stdin.flush()

    answers = {answer["id"]: answer for answer in (json.loads(server.stdout.readline()) for _ in range(3))}

    assert len(answers[2]["result"]["tools"]) == 4
    assert answers[3]["result"]["isError"]
    assert "Memory is unavailable" in answers[3]["result"]["content"][0]["text"]
