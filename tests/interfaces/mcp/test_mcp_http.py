"""The server over HTTP: a real one on loopback, with friends and strangers."""

import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_client import text_of

from recollect.errors import Refused
from recollect.interfaces.mcp.http import TOKEN, read_token

pytestmark = pytest.mark.anyio

BODY = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "tester", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


class Served:
    def __init__(self, home, folder):
        self.home = home
        self.process = subprocess.Popen(
            [sys.executable, "-m", "recollect", "mcp", "--http", "0"],
            cwd=folder,
            env={**os.environ, "RECOLLECT_HOME": str(home)},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.url = self.process.stderr.readline().split()[-1]
        self.port = int(self.url.split(":")[2].partition("/")[0])
        self.token = (home / TOKEN).read_text()
        self.allowed = {"Authorization": f"Bearer {self.token}"}

    @asynccontextmanager
    async def client(self, era):
        http = httpx2.AsyncClient(headers=self.allowed, timeout=60)
        async with http, Client(streamable_http_client(self.url, http_client=http), mode=era) as client:
            yield client

    def post(self, **headers):
        return httpx2.post(self.url, json=BODY, headers={**ACCEPT, **headers}, timeout=60)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("shop")
    server = Served(home, folder)
    yield server
    server.process.terminate()
    server.process.communicate(timeout=30)


async def test_both_eras_of_clients_can_record_and_search(served, era, version):
    async with served.client(era) as client:
        spoken = client.protocol_version
        kept = await client.call_tool("record_memory", {"content": f"Clients of {version} are served"})
        found = await client.call_tool("search_memory", {"query": f"clients {version}", "repeat": True})

    assert spoken == version
    assert not kept.is_error
    assert version in text_of(found)


@pytest.mark.parametrize("era, repeats", [("legacy", False), ("auto", True)])
async def test_only_a_session_can_be_told_that_it_was_shown_something_before(served, era, repeats):
    async with served.client(era) as client:
        await client.call_tool("record_memory", {"content": "The header of the shop is painted blue"})
        found = await client.call_tool("search_memory", {"query": "header painted blue"})

    assert bool(found.structured_content["results"]) == repeats


def test_who_has_the_token_gets_in(served):
    answer = served.post(**served.allowed)

    assert answer.status_code == 200


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic {token}"}, 401),
        ({"Authorization": "Bearer {token}x"}, 401),
        ({"Authorization": "Bearer {token}", "Origin": "https://evil.example"}, 403),
        ({"Authorization": "Bearer {token}", "Origin": "null"}, 403),
        ({"Authorization": "Bearer {token}", "Origin": "http://localhost:1"}, 403),
        ({"Authorization": "Bearer {token}", "Host": "evil.example:{port}"}, 421),
        ({"Authorization": "Bearer {token}", "Host": "127.0.0.1"}, 421),
        ({"Authorization": "Bearer {token}", "Host": "localhost.evil.example:{port}"}, 421),
    ],
)
def test_strangers_and_web_pages_stay_out(served, headers, status):
    filled = {name: text.format(token=served.token, port=served.port) for name, text in headers.items()}

    answer = served.post(**filled)

    assert answer.status_code == status


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_no_way_of_asking_goes_round_the_token(served, method):
    for path in ("/mcp", "/mcp/", "/", "/.well-known/oauth-protected-resource"):
        answer = httpx2.request(method, f"http://127.0.0.1:{served.port}{path}", timeout=60)

        assert answer.status_code == 401


def test_a_refusal_is_logged_without_what_was_sent(served):
    served.post(Authorization="Bearer a-guess-of-mine")

    log = (served.home / "daemon.log").read_text()

    last = json.loads(log.splitlines()[-1])
    assert (last["what"], last["status"]) == ("refused a request", 401)
    assert "a-guess-of-mine" not in log
    assert served.token not in log


def test_only_this_machine_is_listened_to(served):
    assert served.url.startswith("http://127.0.0.1:")


def test_the_token_is_for_its_owner_only_and_stays_the_same(tmp_path):
    first = read_token(tmp_path / "home")

    assert read_token(tmp_path / "home") == first
    assert len(first) >= 32
    assert (tmp_path / "home" / TOKEN).stat().st_mode & 0o777 == 0o600
    assert [each.name for each in (tmp_path / "home").iterdir()] == [TOKEN]


def test_a_token_that_others_can_read_is_not_used(tmp_path):
    read_token(tmp_path)
    (tmp_path / TOKEN).chmod(0o644)

    with pytest.raises(Refused, match="can read"):
        read_token(tmp_path)


def test_an_empty_token_is_not_used(tmp_path):
    (tmp_path / TOKEN).touch(0o600)

    with pytest.raises(Refused, match="does not contain a token"):
        read_token(tmp_path)
