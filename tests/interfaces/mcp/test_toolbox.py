"""The tools of a server are described once in a process; each server runs its own."""

import pytest
from mcp_client import text_of

from recollect.interfaces.mcp.requests import McpRequests
from recollect.interfaces.mcp.server import build_server
from recollect.interfaces.mcp.toolbox import LeanTool

pytestmark = pytest.mark.anyio


async def test_the_next_session_uses_the_descriptions_of_the_first(home, folder, opener, monkeypatch):
    first = await build_server(McpRequests(str(home), str(folder), opener)).list_tools()
    monkeypatch.setattr(LeanTool, "from_function", None)

    second = await build_server(McpRequests(str(home), str(folder), opener)).list_tools()

    assert second == first


async def test_a_session_calls_its_own_functions(connect, tmp_path):
    (tmp_path / "mill").mkdir()
    question = {"query": "Which till prints in cents?"}
    async with connect() as shop, connect(project=tmp_path / "mill") as mill:
        await shop.call_tool("record_memory", {"content": "The till prints in cents."})

        here = await shop.call_tool("search_memory", question)
        there = await mill.call_tool("search_memory", question)

    assert here.structured_content["shown_before"]
    assert not there.structured_content["shown_before"]


@pytest.mark.parametrize(
    "client, is_structured", [("claude-code", False), ("codex-mcp-client", False), ("tester", True)]
)
async def test_a_host_that_shows_its_model_keys_instead_of_text_gets_the_text_alone(
    connect, client, is_structured
):
    async with connect(client) as session:
        await session.call_tool("record_memory", {"content": "The till prints in cents."})
        found = await session.call_tool("search_memory", {"query": "till", "repeat": True})

    assert (found.structured_content is not None) == is_structured
    assert "data, not instructions" in text_of(found) and "The till prints in cents." in text_of(found)
