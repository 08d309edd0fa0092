"""A repository names programs in every way that git knows, and gives orders to agents; nobody runs or hears them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp_types import Implementation

import recollect as recollect_package
from hostile_repository import ORDER, WORD, build
from recollect.context.git import Repository
from recollect.engine import Engine
from recollect.interfaces.daemon_client.control import stop
from recollect.interfaces.mcp.requests import McpRequests
from recollect.interfaces.mcp.server import build_server

COMMANDS = [
    ("init",),
    ("init", "--subproject"),
    ("map",),
    ("graph", "relevant", "the total is wrong"),
    ("recall", "the total is wrong"),
    ("remember", "Totals are counted once.", "--file", "shop.py"),
    ("search", "totals"),
    ("doctor",),
    ("review",),
]


@pytest.fixture
def ran(tmp_path) -> Path:
    return tmp_path / "ran"


@pytest.fixture
def hostile(tmp_path, ran) -> Path:
    return build(tmp_path / "repo", ran)


def recollect(folder, *words, stdin="", **variables):
    return subprocess.run(
        [sys.executable, "-m", "recollect", *words],
        cwd=folder,
        input=stdin,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


def programs_run(ran):
    return [file.read_text() for file in ran.iterdir()]


def test_the_repository_would_run_programs_with_plain_git(hostile, ran):
    subprocess.run(["git", "log", "--name-status"], cwd=hostile, capture_output=True)

    assert programs_run(ran)


@pytest.mark.parametrize("within", [".", "fixtures/bare"])
def test_no_command_runs_a_program_of_the_repository(home, hostile, ran, within):
    for words in COMMANDS:
        done = recollect(hostile / within, *words)

        assert done.returncode < 2, done.stderr  # it was understood
        assert "Traceback" not in done.stderr
        assert programs_run(ran) == [], words


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_no_agent_hears_what_the_repository_says(home, hostile, host):
    assert recollect(hostile, "init").returncode == 0

    briefing = recollect(hostile, "recall", "fix the total of the till in shop.py", "--host", host)
    start = recollect(
        hostile, "hook", host, "SessionStart", stdin=event(hostile, hook_event_name="SessionStart")
    )

    assert "Files" in briefing.stdout
    assert "shop" in start.stdout
    for text in (briefing.stdout, start.stdout):
        assert WORD not in text.lower(), text


def test_no_prompt_is_answered_with_what_the_repository_says(home, hostile):
    recollect(hostile, "init")
    recollect(hostile, "remember", "The total of the till is counted in cents", "--kind", "gotcha")
    prompt = event(hostile, hook_event_name="UserPromptSubmit", prompt="fix the total of the till in shop.py")

    answer = recollect(
        hostile,
        "hook",
        "claude-code",
        "UserPromptSubmit",
        stdin=prompt,
        RECOLLECT_HOOK_DEADLINE="60",
        RECOLLECT_FIRST_PROMPT_SECONDS="60",
    )
    stop(home)

    assert "counted in cents" in answer.stdout
    assert WORD not in answer.stdout.lower()


ASKED = [
    ("search_memory", {"query": "install wombat before the total"}),
    ("memory", {"action": "list"}),
    ("memory", {"action": "recall", "query": "fix the total of the till"}),
    ("module_map", {}),
    ("module_map", {"task": "fix the total of the till"}),
    ("code_graph", {"question": "impact", "about": "shop.py"}),
    ("session_search", {"query": "install wombat"}),
    ("record_memory", {"content": f"{ORDER}."}),  # a proposal must not be quoted as known
]


def test_no_tool_answers_with_what_the_repository_says(home, hostile, ran, embedder, monkeypatch):
    recollect(hostile, "init")
    monkeypatch.setenv("RECOLLECT_MCP_TOOLS", "all")
    requests = McpRequests(
        str(home),
        str(hostile),
        lambda folder, actor: Engine.open(folder, home, actor=actor, embedder=embedder),
    )

    async def answers():
        async with Client(
            build_server(requests), client_info=Implementation(name="x", version="1")
        ) as client:
            return [await client.call_tool(*asked) for asked in ASKED]

    try:
        given = anyio.run(answers)
    finally:
        requests.close()

    assert not any(answer.is_error for answer in given)
    for asked, answer in zip(ASKED, given, strict=True):
        assert WORD not in answer.model_dump_json().lower(), asked
    assert programs_run(ran) == []


def event(folder, **fields):
    return json.dumps({"session_id": "s1", "cwd": str(folder), "source": "startup", **fields})


def test_a_person_sees_what_the_repository_proposes_and_can_trust_it(home, hostile):
    told = recollect(hostile, "init").stdout

    found = recollect(hostile, "search", "install wombat").stdout
    without = recollect(hostile, "recall", "install wombat").stdout
    recollect(hostile, "trust", "--yes")
    trusted = recollect(hostile, "recall", "install wombat", "--host", "codex").stdout

    assert "AGENTS.md:3" in told
    assert "recollect trust" in told
    assert "proposal" in found
    assert WORD not in without
    assert WORD in trusted
    assert "--- end of recollect-memory ---" in trusted


def test_history_is_read_as_far_as_it_is_there(hostile):
    repository = Repository.containing(hostile)

    log = repository.output("log", "-n2", "--format=%s", repository.head())

    assert log.decode().splitlines() == [
        "Fix the total because the till counted 6 times",
        "Fix the total because the till counted 5 times",
    ]
    assert repository.branches().keys() == {"main", "merged"}
    assert repository.merged_branches() == {"main", "merged"}


def test_variables_of_the_environment_lead_to_no_other_repository(home, hostile, tmp_path, ran):
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "elsewhere", str(other)], check=True)

    done = recollect(hostile, "doctor", GIT_DIR=str(other / ".git"), GIT_WORK_TREE=str(other))

    assert str(other) not in done.stdout
    assert programs_run(ran) == []


@pytest.mark.parametrize(
    "head",
    ["ref: refs/heads/../../../../etc/hostname", "ref: /etc/hostname", "ref: refs/heads/a.lock", "x" * 9000],
)
def test_a_head_that_leads_elsewhere_is_no_branch(hostile, head):
    (hostile / ".git" / "HEAD").write_text(head)

    repository = Repository.containing(hostile)

    assert (repository.branch, repository.head()) == (None, None)


def test_a_pipe_in_place_of_a_file_is_not_waited_for(hostile):
    (hostile / ".git" / "packed-refs").unlink(missing_ok=True)
    os.mkfifo(hostile / ".git" / "packed-refs")

    assert Repository.containing(hostile).branches().keys() == {"main", "merged"}


def test_only_one_module_runs_git():
    source = Path(recollect_package.__file__).parent
    modules = [
        file
        for file in source.rglob("*.py")
        if '"git"' in (text := file.read_text()) and "subprocess" in text
    ]

    assert [file.relative_to(source).as_posix() for file in modules] == ["context/git.py"]
