"""The server in this process, with real stores, and the protocol's own client in front of it."""

from contextlib import asynccontextmanager

import pytest
from mcp import Client
from mcp_types import Implementation, ListRootsResult, Root

from recollect.engine import Engine
from recollect.interfaces.mcp.requests import McpRequests
from recollect.interfaces.mcp.server import build_server

# The older protocol, with its handshake, and the newer one, which a client finds out about.
ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(params=ERAS)
def era(request):
    return request.param


@pytest.fixture
def version(era):
    return ERAS[era]


@pytest.fixture
def opener(home, embedder, clock):
    return lambda folder, actor: Engine.open(folder, home, actor=actor, embedder=embedder, clock=clock)


@pytest.fixture
def connect(home, folder, opener, era, monkeypatch):
    """A client that has just connected, in a session of its own."""

    @asynccontextmanager
    async def connected(name="tester", project=folder, roots=(), opener=opener, mode=era, tools="all"):
        async def tell_roots(_):
            return ListRootsResult(roots=[Root(uri=root.as_uri()) for root in roots])

        monkeypatch.setenv("RECOLLECT_MCP_TOOLS", tools)
        requests = McpRequests(str(home), str(project) if project else None, opener)
        client = Client(
            build_server(requests),
            mode=mode,
            client_info=Implementation(name=name, version="1"),
            list_roots_callback=tell_roots if roots else None,
        )
        try:
            async with client:
                yield client
        finally:
            requests.close()

    return connected
