"""The program that hosts start: a relay to the daemon, where the server lives. Real processes, spoken to over their streams."""

import json
import os
import signal
import subprocess
import sys
from contextlib import closing

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.message import SessionMessage
from mcp_client import text_of
from mcp_types import jsonrpc_message_adapter

from recollect.engine import Engine
from recollect.interfaces.daemon_client import control as daemon
from recollect.interfaces.daemon_client.start import take_lock
from recollect.interfaces.mcp.relay import INTERRUPTED, LARGEST, READING_TOOLS, parse
from recollect.interfaces.mcp.requests import McpRequests
from recollect.interfaces.mcp.server import build_server
from recollect.interfaces.mcp.streams import serve_streams
from recollect.store.sqlite.connection import connect

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


@pytest.fixture(autouse=True)
def no_model(monkeypatch):
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")


@pytest.fixture
def start(home, folder):
    """Starts a relay in the project's folder; it is killed at the end if it is still there."""
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


@pytest.fixture
def window(start):
    """Opens a window of a host, with the handshake done."""

    def opened(**variables):
        made = Window(start(env={**os.environ, **variables}))
        made.ask(HELLO)
        made.send(READY)
        return made

    return opened


@pytest.fixture
def no_daemon(home):
    """No daemon can start: we hold its lock."""
    lock = take_lock(str(home))
    (home / "daemon.lock").write_text("starting\n")
    yield
    os.close(lock)


class Window:
    def __init__(self, process):
        self.process = process
        self._number = 100

    def send(self, *messages):
        self.process.stdin.write(lines(*messages))
        self.process.stdin.flush()

    def read(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, message):
        self.send(message)
        answer = self.read()
        assert answer["id"] == message["id"]
        return answer

    def call(self, tool, **arguments):
        self._number += 1
        return self.ask(call_of(self._number, tool, **arguments))["result"]

    def close(self):
        out, err = self.process.communicate(timeout=60)
        assert (self.process.returncode, out, err) == (0, b"", b"")


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


def test_a_relay_imports_neither_the_protocol_nor_the_command_line_nor_the_engine(start, home):
    daemon.ensure(home)
    server = start([sys.executable, "-X", "importtime", *SERVE[1:]])

    out, imported = server.communicate(
        lines(HELLO, READY, LIST, call_of(3, "search_memory", query="x")), timeout=60
    )

    names = {line.rpartition("|")[2].strip() for line in imported.decode().splitlines()}
    assert "recollect.interfaces.mcp.relay" in names
    assert not names & {"mcp", "click", "pydantic", "typing", "dataclasses", "asyncio", "recollect.config"}
    assert b'"tools"' in out
    assert len(names) < 120


def test_without_a_daemon_neither_store_nor_numpy_nor_model_is_imported_to_list_the_tools(start, no_daemon):
    server = start([sys.executable, "-X", "importtime", *SERVE[1:]])

    out, imported = server.communicate(lines(HELLO, LIST), timeout=60)

    names = {line.rpartition("|")[2].strip() for line in imported.decode().splitlines()}
    assert "recollect.interfaces.mcp.server" in names
    assert not names & {
        "numpy",
        "apsw",
        "onnxruntime",
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


def test_windows_share_the_daemon_and_each_has_its_project(window, start, home, tmp_path):
    shop = window()
    shop.call("record_memory", content="Tests need a running Redis")
    other = tmp_path / "other"
    other.mkdir()
    with subprocess.Popen(SERVE, cwd=other, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        office = Window(process)
        office.ask(HELLO)
        office.send(READY)

        there = office.call("search_memory", query="Redis")
        here = shop.call("search_memory", query="Redis", repeat=True)
        sessions = daemon.status(home)["mcp_sessions"]
        process.stdin.close()

    assert sessions == 2
    assert there["structuredContent"]["results"] == []
    assert "Tests need a running Redis" in here["content"][0]["text"]
    shop.close()


def test_a_daemon_that_is_stopped_is_replaced_within_the_session(window, home, engine):
    shop = window()
    shop.call("record_memory", content="Tests need a running Redis")
    first = daemon.status(home)["pid"]

    daemon.stop(home)
    stayed = daemon.is_running(home)
    shop.call("record_memory", content="The printer jams on Mondays")

    assert not stayed
    assert daemon.status(home)["pid"] != first
    assert len({memory.session for memory in engine.list()}) == 1
    assert len(engine.list()) == 2
    shop.close()


def test_a_killed_daemon_costs_no_question_and_a_change_is_reported(window, home, engine):
    shop = window()
    shop.call("record_memory", content="Tests need a running Redis")
    pid = daemon.status(home)["pid"]
    os.kill(pid, signal.SIGSTOP)
    shop.send(
        call_of(7, "search_memory", query="Redis", repeat=True),
        call_of(8, "record_memory", content="The printer jams on Mondays"),
        call_of(9, "memory", action="list", repeat=True),
    )
    shop.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1}})

    os.kill(pid, signal.SIGKILL)
    answers = {answer["id"]: answer["result"] for answer in (shop.read() for _ in range(3))}

    assert "Tests need a running Redis" in answers[7]["content"][0]["text"]
    assert "Tests need a running Redis" in answers[9]["content"][0]["text"]
    assert (answers[8]["isError"], answers[8]["content"][0]["text"]) == (True, INTERRUPTED)
    shop.close()


def suspend_outside_transactions(pid, home):
    """Suspend the daemon while it cannot be writing, because we hold the lock of the store."""
    with closing(connect(home / "recollect.db", None)) as db:
        db.set_busy_timeout(20_000)
        db.execute("BEGIN IMMEDIATE")
        os.kill(pid, signal.SIGSTOP)
        db.execute("ROLLBACK")


def test_a_daemon_that_hangs_is_done_without(home, window):
    with Engine.open(home.parent, home):
        pid = daemon.ensure(home)["pid"]
    suspend_outside_transactions(pid, home)
    try:
        shop = window()
        answer = shop.call("record_memory", content="Tests need a running Redis")
        shop.close()
    finally:
        os.kill(pid, signal.SIGCONT)

    assert answer["structuredContent"]["outcome"] == "stored"


def test_what_was_listed_before_is_listed_at_once_though_the_daemon_hangs(home, start, window):
    first = window()
    tools = first.ask(LIST)["result"]
    first.close()
    pid = daemon.status(home)["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        second = Window(start())
        hello = second.ask(HELLO)
        listed = second.ask(LIST)["result"]
        second.process.kill()
    finally:
        os.kill(pid, signal.SIGCONT)

    assert hello["result"]["serverInfo"]["name"] == "recollect"
    assert listed == tools


@pytest.mark.parametrize(
    "variables, sessions, tools",
    [
        ({}, 1, 4),
        ({"RECOLLECT_MCP_TOOLS": "all"}, 1, 10),
        ({"RECOLLECT_SESSION_LIMIT": "7"}, 0, 4),
        ({"RECOLLECT_KEY": "x" * 64}, 0, 4),
    ],
)
def test_the_daemon_serves_whoever_has_its_settings(home, window, variables, sessions, tools):
    daemon.ensure(home)

    shop = window(**variables)
    listed = shop.ask(LIST)["result"]["tools"]
    shop.call("search_memory", query="anything")

    assert len(listed) == tools
    assert daemon.status(home)["mcp_sessions"] == sessions
    shop.close()


def test_a_host_that_passes_no_variables_on_gets_the_daemons_settings(home, start):
    daemon.ensure(home)
    bare = {key: value for key, value in os.environ.items() if key != "RECOLLECT_EMBEDDER"}
    shop = Window(start(env=bare))
    shop.ask(HELLO)
    shop.send(READY)

    shop.call("search_memory", query="anything")

    assert daemon.status(home)["mcp_sessions"] == 1
    shop.close()


@pytest.mark.parametrize(
    "line, number, code",
    [
        (b"this is not JSON", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b"[1, 2]", None, -32600),
        (b"x" * (LARGEST + 100_000), None, -32600),
        (
            b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"search_memory",'
            b'"arguments":{"query":"half \\ud83d of it"}}}',
            5,
            -32602,
        ),
    ],
    ids=["no JSON", "no UTF-8", "no object", "too long", "half a character"],
)
def test_what_is_no_message_is_answered_with_an_error(window, line, number, code):
    shop = window()

    shop.process.stdin.write(line + b"\n")
    shop.process.stdin.flush()
    answer = shop.read()

    assert (answer["id"], answer["error"]["code"]) == (number, code)
    assert "isError" in shop.call("search_memory", query="still here")
    shop.close()


async def test_the_relay_repeats_the_calls_that_only_read(connect):
    async with connect() as client:
        listed = (await client.list_tools()).tools

    assert {tool.name for tool in listed if tool.annotations.read_only_hint} == READING_TOOLS


@pytest.mark.parametrize(
    "arguments, given",
    [
        (["mcp"], ("", "")),
        (["mcp", "--home", "/h", "--project=/p"], ("/h", "/p")),
        (["--home=/h", "mcp"], ("/h", "")),
        (["mcp", "--http", "0"], None),
        (["mcp", "--help"], None),
        (["mcp", "--home"], None),
        (["mcp", "--home="], None),
        (["remember", "mcp"], None),
        (["mcp", "mcp"], None),
    ],
)
def test_plain_command_lines_are_served_without_the_command_line(arguments, given):
    assert parse(arguments) == given
