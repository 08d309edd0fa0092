from pathlib import Path

import pytest

from recollect.interfaces.mcp.requests import MAX_OPEN, McpRequests, chosen_folder
from recollect.work.hosts.registry import host_of_client

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "roots, here, chosen",
    [
        ([], "shop", "shop"),
        (["shop"], "shop", "shop"),
        (["shop"], "shop/packages/till", "shop/packages/till"),
        (["shop"], "elsewhere", "shop"),
        (["gone", "shop"], "elsewhere", "shop"),
        (["gone"], "elsewhere", "elsewhere"),
    ],
)
def test_the_folder_is_where_the_client_works(tmp_path, roots, here, chosen):
    for made in ("shop/packages/till", "elsewhere"):
        (tmp_path / made).mkdir(parents=True)

    folder = chosen_folder([tmp_path / root for root in roots], tmp_path / here)

    assert folder == tmp_path / chosen


@pytest.mark.parametrize(
    "client, host",
    [
        ("claude-code", "claude-code"),
        ("gemini-cli-mcp-client", "gemini"),
        ("Cursor-vscode", "cursor"),
        ("…", "mcp"),
    ],
)
def test_clients_are_known_by_the_name_of_their_host(client, host):
    assert host_of_client(client) == host


@pytest.mark.parametrize("era", ["legacy"])  # the newer protocol lets no server ask
async def test_a_client_with_roots_has_the_memory_of_the_first(connect, engine, folder):
    async with connect(project=None, roots=[folder]) as client:
        await client.call_tool("record_memory", {"content": "Tests need a running Redis"})

    assert len(engine.list()) == 1


async def test_a_given_project_wins_over_roots(connect, engine, folder, tmp_path):
    async with connect(project=folder, roots=[tmp_path]) as client:
        await client.call_tool("record_memory", {"content": "Tests need a running Redis"})

    assert len(engine.list()) == 1


async def test_after_a_change_of_branch_what_is_true_there_is_seen(connect, engine, folder, opener):
    git = folder / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    async with connect() as client:
        await client.call_tool("record_memory", {"content": "Releases are cut on Fridays"})
        with opener(folder, "user") as user:
            user.remember("The parser is being rewritten", branch="parser")
        before = await client.call_tool("search_memory", {"query": "parser rewritten"})
        (git / "HEAD").write_text("ref: refs/heads/parser\n")

        after = await client.call_tool("search_memory", {"query": "parser rewritten"})

    assert "rewritten" not in str(before.structured_content["results"])
    assert "rewritten" in str(after.structured_content["results"])


def test_engines_that_nobody_uses_are_closed(home, opener, tmp_path):
    closed = []

    def noted(folder, actor):
        engine = opener(folder, actor)
        close = engine.close
        engine.close = lambda: (closed.append(actor), close())
        return engine

    requests = McpRequests(str(home), str(tmp_path), noted)
    for number in range(MAX_OPEN + 2):
        with requests._engine(Path(tmp_path), f"agent:{number}"):
            pass
    early = list(closed)
    requests.close()

    assert early == ["agent:0", "agent:1"]
    assert len(closed) == MAX_OPEN + 2
