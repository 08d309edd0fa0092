"""Two people with a command line, hooks and homes of their own, and a team server between them."""

import json
from dataclasses import replace

import anyio
import pytest
from mcp import Client
from mcp_types import Implementation

import recollect.model as m
from fakes import FakeEmbedder
from recollect.config import load_settings
from recollect.interfaces.engine_pool import EngineOpener
from recollect.interfaces.mcp.requests import McpRequests
from recollect.interfaces.mcp.server import build_server
from recollect.remote.operations import OPERATIONS, Call
from team_people import Host


def test_after_login_commands_use_the_server_and_logout_returns_to_the_local_store(team, person):
    ada = person("ada")
    ada.run("remember", "Only on this machine")
    owner = team.new_team()

    said = ada.run("login", team.address, "--token", owner.token, "--yes")

    assert "Logged in to Shop as Ada (owner)." in said.out
    assert "1 memory is in the local store" in said.out
    assert ada.run("list", "--json").json["memories"] == []
    assert ada.run("remember", "The shop runs on port 8080", "--visibility", "team").code == 0
    assert [memory["content"] for memory in ada.run("list", "--json").json["memories"]] == [
        "The shop runs on port 8080"
    ]
    assert "Ada (owner) in Shop" in ada.run("whoami").out

    assert ada.run("logout").code == 0
    assert [memory["content"] for memory in ada.run("list", "--json").json["memories"]] == [
        "Only on this machine"
    ]


def test_whoever_gives_a_code_as_a_token_is_told_what_to_do(team, person):
    said = person("ada").run("login", team.address, "--token", "rci_0123456789", "--yes")

    assert said.code == 1
    assert "The code of an invitation is given with --code." in said.err


def test_what_one_person_learns_the_other_finds_and_what_is_private_stays(ada, ben):
    ada.run("remember", "Tests need a running Redis", "--kind", "gotcha", "--visibility", "team")
    ada.run("remember", "My own note about redis")

    found = ben.run("search", "redis tests", "--json").json["results"]

    assert [hit["memory"]["content"] for hit in found] == ["Tests need a running Redis"]
    assert "Tests need a running Redis" in ben.run("recall", "run the redis tests").out


def test_a_hook_tells_an_agent_what_another_persons_agent_recorded(ada, ben):
    ada.run("remember", "Always run make fmt before a commit", "--kind", "convention", "--visibility", "team")
    host = Host(ben)

    start = host.hook("SessionStart", source="startup")
    ada.run(
        "remember",
        "The payment tests need a running Redis",
        "--kind",
        "gotcha",
        "--created-by",
        "agent:claude",
    )
    prompt = host.hook("UserPromptSubmit", prompt="run the payment tests that need redis")

    assert "Always run make fmt before a commit" in start
    assert "The payment tests need a running Redis" in prompt
    host.close()


def test_without_the_server_commands_fail_and_hooks_go_on_and_what_was_learnt_is_delivered_once(
    team, ada, ben, monkeypatch
):
    monkeypatch.setattr("recollect.remote.client.PAUSE", 0.0)
    host = Host(ben)
    host.hook("SessionStart", source="startup")
    team.stop()

    said = ben.run("search", "redis")
    noted = ben.run("remember", "The build needs Node 22", "--created-by", "agent:claude")

    assert said.code == 1
    assert "Memory unavailable: offline." in said.err
    assert "waits, encrypted" in noted.out
    assert host.hook("UserPromptSubmit", prompt="why does the build fail") == ""
    spooled = [path.read_bytes() for path in ben.home.rglob("*") if path.is_file()]
    assert not any(b"Node 22" in data for data in spooled)

    team.start()
    for _ in range(3):
        host.hook("UserPromptSubmit", prompt="go on")
        ben.run("search", "build")

    found = ada.run("list", "--json").json["memories"]
    assert [(memory["content"], memory["strength"]) for memory in found] == [("The build needs Node 22", 1)]
    host.close()


def test_doctor_says_whether_the_server_answers_and_looks_where_the_hosts_are(team, ada, monkeypatch):
    monkeypatch.setattr("recollect.remote.client.PAUSE", 0.0)
    asked = []
    monkeypatch.setattr(
        "recollect.interfaces.install.connection.control.status", lambda home: asked.append(home)
    )

    well = {check["part"]: check for check in ada.run("doctor", "--json").json["checks"]}
    team.stop()
    said = ada.run("doctor")

    assert well["team"]["finding"] == f"Ada (owner) in Shop, on {team.address}."
    assert "conflicts" not in well  # those of the team are on the server
    assert said.code == 1
    assert "Memory unavailable: offline." in said.out
    assert set(asked) == {ada.home}


def test_the_status_line_says_that_the_server_is_away_until_it_is_back(team, ada, monkeypatch):
    monkeypatch.setattr("recollect.remote.client.PAUSE", 0.0)
    monkeypatch.setattr("recollect.interfaces.daemon.status_lines.FRESH_SECONDS", 0.0)
    host = Host(ada)
    host.hook("SessionStart", source="startup")
    assert host.status_line() == ""

    team.stop()
    host.hook("UserPromptSubmit", prompt="why does the build fail")
    assert host.status_line() == "Recollect: Memory unavailable: offline"

    team.start()
    host.hook("UserPromptSubmit", prompt="and now")
    assert host.status_line() == ""
    host.close()


def test_no_memory_is_stored_on_a_machine_that_is_logged_in(ada):
    ada.run("remember", "The shop runs on port 8080", "--visibility", "team")
    ada.run("search", "port")

    assert ada.local_memories() == 0
    files = [path for path in ada.home.rglob("*") if path.is_file()]
    assert not any(b"8080" in path.read_bytes() for path in files)


def ask_mcp(person, tool, **arguments):
    """Call a tool as an agent of the person's does, in a session of its own."""

    async def call():
        opener = EngineOpener(lambda: load_settings(person.home), lambda settings: FakeEmbedder())
        requests = McpRequests(str(person.home), str(person.folder), opener)
        info = Implementation(name="codex", version="1")
        try:
            async with Client(build_server(requests), mode="auto", client_info=info) as client:
                answer = await client.call_tool(tool, arguments)
                return "\n".join(part.text for part in answer.content)
        finally:
            requests.close()

    return anyio.run(call)


def test_an_agent_finds_by_mcp_what_another_persons_agent_recorded_by_mcp(ada, ben):
    ask_mcp(ada, "record_memory", kind="gotcha", content="Staging has no payment provider; use the fake one")

    found = ask_mcp(ben, "search_memory", query="payment provider on staging")

    assert "Staging has no payment provider" in found


def test_an_agent_is_told_by_mcp_that_memory_is_offline_and_what_it_records_waits(team, ada, ben):
    team.stop()

    said = ask_mcp(
        ben, "record_memory", kind="gotcha", content="Staging has no payment provider; use the fake one"
    )
    found = ask_mcp(ben, "search_memory", query="payment provider on staging")

    assert "waits, encrypted" in said
    assert "offline" in found
    team.start()


def test_local_memories_move_after_a_preview_and_can_be_taken_back(team, person):
    ada = person("ada")
    ada.run(
        "remember", "Tests need a running Redis", "--kind", "gotcha", "--when", "the suite hangs on a laptop"
    )
    ada.run("remember", "I prefer small commits", "--scope", "global", "--kind", "preference")
    owner = team.new_team()
    ada.run("login", team.address, "--token", owner.token, "--yes")

    shown = ada.run("team", "migrate")
    assert "shop: 1 gotcha (1 private)" in shown.out
    assert ada.run("list", "--json").json["memories"] == []

    moved = ada.run("team", "migrate", "--yes", "--json").json["report"]
    assert (moved["sent"], moved["refused"], moved["missing"]) == (2, [], [])
    contents = {memory["content"] for memory in ada.run("list", "--json").json["memories"]}
    assert contents == {"Tests need a running Redis", "I prefer small commits"}
    hits = ada.run("search", "the suite hangs", "--json").json["results"]
    assert hits[0]["memory"]["content"] == "Tests need a running Redis"
    assert hits[0]["why"]["channels"]["when"]["cosine"] > 0
    assert ada.run("team", "migrate", "--yes", "--json").json["report"]["known"] == 2

    assert ada.run("team", "migrate", "--undo").code == 0
    assert ada.run("list", "--json").json["memories"] == []

    again = ada.run("team", "migrate", "--yes", "--visibility", "team", "--json").json["report"]
    assert (again["sent"], again["missing"]) == (2, [])
    assert {memory["visibility"] for memory in ada.run("list", "--json").json["memories"]} == {"team"}
    ada.run("logout")
    assert len(ada.run("list", "--json").json["memories"]) == 2


def test_links_move_to_the_team_and_back_with_their_memories(team, person, tmp_path):
    ada, other = person("ada"), person("other")
    names = [
        ada.run("remember", text, "--kind", "fact", "--json").json["id"]
        for text in ("Tests need a running Redis", "The search index is rebuilt nightly")
    ]
    ada.run("link", *names)
    ada.run("login", team.address, "--token", team.new_team().token, "--yes")

    moved = ada.run("team", "migrate", "--yes", "--visibility", "team", "--json").json["report"]
    again = ada.run("team", "migrate", "--yes", "--json").json["report"]
    ada.run("team", "export", str(tmp_path / "all.json"))
    brought = other.run("import", str(tmp_path / "all.json"))
    undone = ada.run("team", "migrate", "--undo")

    assert (moved["sent"], moved["links"], again["sent"]) == (2, 1, 0)
    assert brought.code == 0, brought.err
    assert brought.out == "Imported 2 memories, 1 link.\n"
    assert undone.code == 0, undone.err
    assert ada.run("list", "--json").json["memories"] == []


def test_an_older_server_takes_and_gives_memories_without_their_links(team, person, tmp_path, monkeypatch):
    ada = person("ada")
    names = [
        ada.run("remember", text, "--kind", "fact", "--json").json["id"]
        for text in ("Tests need a running Redis", "The search index is rebuilt nightly")
    ]
    ada.run("link", *names)
    ada.run("login", team.address, "--token", team.new_team().token, "--yes")
    older = {name: each for name, each in OPERATIONS.items() if not name.endswith("_links")}

    with monkeypatch.context() as patch:
        patch.setattr("recollect.interfaces.team.app.OPERATIONS", older)
        moved = ada.run("team", "migrate", "--yes", "--visibility", "team")
        written = ada.run("team", "export", str(tmp_path / "all.json"))
        lines = ada.run("team", "export", str(tmp_path / "all.jsonl"))

    for each in (moved, written, lines):
        assert each.code == 0, each.err
    assert "Moved 2 memories and 0 links" in moved.out
    assert "The links between memories stay here: the server needs an upgrade" in moved.err
    assert "The links between memories are left out: the server needs an upgrade" in written.err
    assert "links" not in lines.err
    document = json.loads((tmp_path / "all.json").read_text())
    assert (len(document["memories"]), document["links"]) == (2, [])
    assert ada.run("team", "migrate", "--yes", "--json").json["report"]["links"] == 1


def test_an_older_server_takes_a_memory_without_when_it_is_needed(ada, monkeypatch):
    def remember(
        call: Call, content: str, kind: str | None = None, created_by: str = "", correction: bool = False
    ) -> m.Receipt:
        receipt: m.Receipt = call.engine.remember(content, kind=kind, created_by=created_by)
        return receipt

    older = {**OPERATIONS, "remember": replace(OPERATIONS["remember"], run=remember)}
    record = ("remember", "Tests need a running Redis", "--kind", "gotcha", "--created-by", "agent:claude")

    with monkeypatch.context() as patch:
        patch.setattr("recollect.interfaces.team.app.OPERATIONS", older)
        done = ada.run(*record, "--when", "the suite hangs", "--json")

    assert done.code == 0, done.err
    assert ada.run("show", done.json["id"], "--json").json["memory"]["when_needed"] == []


def test_an_export_of_the_team_can_be_imported_into_a_local_store(ada, ben, tmp_path):
    ada.run("remember", "Tests need a running Redis", "--visibility", "team")
    ada.run("remember", "Mine alone")
    file = tmp_path / "export.jsonl"

    assert "Wrote 1 memory" in ben.run("team", "export", str(file)).out
    ben.run("logout")

    assert ben.run("import", str(file)).code == 0
    assert [memory["content"] for memory in ben.run("list", "--json").json["memories"]] == [
        "Tests need a running Redis"
    ]


def test_people_tokens_and_projects_are_listed(ada, ben):
    ada.run("remember", "Tests need a running Redis", "--visibility", "team")

    assert ada.run("team", "members").out.splitlines()[0].startswith("Ada  owner")
    assert "person" in ada.run("team", "token", "list", "--everybody").out
    assert "shop  everybody" in ben.run("team", "projects").out


def test_an_admin_checks_the_audit_log_of_the_team(ada, ben):
    ben.run("remember", "Tests need a running Redis", "--visibility", "team")

    checked = ada.run("audit", "verify")
    refused = ben.run("audit", "verify")

    assert checked.code == 0, checked.err
    assert "no entry was altered" in checked.out
    assert refused.code == 1
    assert "Only an admin" in refused.err


def test_in_a_folder_of_a_closed_project_one_keeps_what_is_ones_own(ada, ben):
    ada.run("remember", "The shop runs on port 8080", "--visibility", "team")
    assert ada.run("team", "restrict", "shop", "Ada").code == 0

    assert ben.run("remember", "The shop is slow").code == 1
    assert ben.run("remember", "I like short answers", "--scope", "global").code == 0
    [memory] = ben.run("list", "--json", "--scope", "global").json["memories"]
    assert ben.run("edit", memory["id"], "I like long answers").code == 0
    assert ben.run("wrong", memory["id"], "--instead", "I like answers in Dutch").code == 0


def test_a_person_is_given_a_role_by_its_name(ada, ben):
    assert ada.run("team", "role", "Ben", "reader").code == 0
    assert ada.run("team", "invite", "Rita", "--role", "admin").code == 0

    assert "Ben  reader" in ada.run("team", "members").out
    assert "reader changes nothing" in ben.run("remember", "Nothing").err


@pytest.mark.parametrize("gone", ["no", "forgotten", "hidden", "made private", "server away"])
def test_an_opened_file_brings_what_the_team_knows_of_it_only_if_that_may_still_be_told(team, ada, ben, gone):
    known = "Carts are written with SETNX: two tabs may race"
    given = ("--kind", "gotcha", "--file", "shop/carts.py", "--visibility", "team")
    name = ada.run("remember", known, *given, "--json").json["id"]
    host = Host(ben)
    host.hook("SessionStart", source="startup")
    host.hook(
        "UserPromptSubmit", prompt="Add a discount code to carts and show it on every receipt and invoice"
    )
    match gone:
        case "forgotten":
            ada.run("forget", name)
        case "hidden":
            ben.run("team", "hide", name)
        case "made private":
            ada.run("edit", name, "--visibility", "private")
        case "server away":
            team.stop()

    path = str(ben.folder / "shop/carts.py")
    told = host.hook(
        "PostToolUse", tool_name="Read", tool_input={"file_path": path}, tool_response="import redis"
    )
    host.close()

    assert (known in told) == (gone == "no")
