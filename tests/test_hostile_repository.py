"""A repository names programs in every way that git knows, and gives orders to agents; nobody runs or hears them."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner
from mcp import Client
from mcp_types import Implementation

import recollect as recollect_package
from hostile_repository import CONFIG, ORDER, WORD, build, plant_hangs
from recollect.__main__ import main
from recollect.code.git_history import read_history
from recollect.context.git import Repository
from recollect.engine import Engine
from recollect.interfaces.cli.main import GROUPS
from recollect.interfaces.daemon_client.control import stop
from recollect.interfaces.mcp.requests import McpRequests
from recollect.interfaces.mcp.server import build_server

# Every command, as a user would call it in the repository. TEXT is a file to read, and ID a memory.
COMMANDS = """
init | init --subproject | map | graph relevant total | graph impact shop.py | recall total | recall total --host codex
remember Totals-are-counted-once --file shop.py | search totals | similar totals | list | show ID | edit ID Totals-are-exact
tag ID till | pin ID | feedback ID --helpful | describe | describe ID --when the-till-is-short | wrong ID --because it-is-not | restore ID | forget ID | remember Tills-are-open
link ID ID | links ID | conflicts | resolve ID ID --keep both | gaps | alias list | season list | session list | extract TEXT | extract --since 2020-01-01
task start totals | history tasks | review | consolidate | changes | undo ID | export | import TEXT | mirror ../mirror | backup | vacuum
audit | stats | doctor | on | auto on | preset | kinds | config list | model list | budget | cost | trust | trust --yes | daemon status | off
whoami | logout | team members
"""
# Those that never look at the project, wait for somebody, or change other programs: hooks, MCP and the daemon have tests below.
LEFT_OUT = {"hook", "mcp", "web", "demo", "completion", "install", "uninstall", "encrypt", "login"}


@pytest.fixture
def ran(tmp_path) -> Path:
    return tmp_path / "ran"


@pytest.fixture
def hostile(tmp_path, ran, monkeypatch) -> Path:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
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
def test_no_command_runs_a_program_of_the_repository(home, hostile, ran, within, tmp_path, monkeypatch):
    plant_hangs(hostile)
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": "Use pnpm."}}))
    monkeypatch.chdir(hostile / within)
    monkeypatch.setenv("HOME", str(tmp_path))
    run("remember", "Totals are kept in cents", "--json")
    memory = json.loads(run("list", "--json").output)["memories"][0]["id"]
    lines = [line.split() for line in COMMANDS.replace("\n", "|").split("|") if line.strip()]
    named = {"ID": memory, "TEXT": str(transcript)}

    for line in lines:
        done = run(*(named.get(word, word) for word in line))

        assert done.exit_code < 2, (line, done.output)  # it was understood
        assert programs_run(ran) == [], line
    assert {line[0] for line in lines} | LEFT_OUT == {name for group in GROUPS.values() for name in group}


@dataclass(frozen=True)
class Done:
    exit_code: int
    output: str


def run(*words):
    """Run a command in this process; an error that is no message is raised."""
    with CliRunner().isolation(input=b"") as (out, err, _):
        code = main(list(words))
        return Done(code, out.getvalue().decode() + err.getvalue().decode())


def test_every_key_of_git_that_can_name_a_program_is_planted():
    listed = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True).stdout
    planted = keys_in(CONFIG)
    programs = re.compile(
        r"(cmd|command|program|pager|editor|helper|\.driver|textconv|\.external|gitproxy|askpass|\.fsmonitor|tunnel|process"
        r"|\.clean|smudge|browser|tool\.path|tool>\.path|hook|sshcommand|uploadpack|receivepack|vcs|difffilter|httpd|\.tool"
        r"|\.guitool|smtpserver)$"
    )
    found = {re.sub(r"\.<[^>]+>|\.\*", ".planted", key.lower()) for key in listed.split()}
    wanted = {key for key in found if programs.search(re.sub(r"planted\.path$", "tool.path", key))}

    assert len(wanted) > 40
    assert wanted - planted - NO_PROGRAMS == set()


# Colours, names of commands, folders and settings of servers.
NO_PROGRAMS = {
    "color.pager",
    "column.clean",
    "notes.rewrite.planted",
    "advice.ignoredhook",
    "advice.waitingforeditor",
    "diff.planted.cachetextconv",
}


def keys_in(text):
    """Return the keys of a git configuration, each variable part also as "planted"."""
    keys, sections = set(), ()
    for line in text.splitlines():
        if found := re.match(r'\[(\w+)(?: "(.*)")?\]', line):
            name = found[1].lower()
            sections = (f"{name}.{found[2]}", f"{name}.planted") if found[2] else (name,)
        elif "=" in line:
            key = line.partition("=")[0].strip().lower()
            keys |= {f"{section}.{key}" for section in sections} | {
                f"{section}.planted" for section in sections
            }
    return keys


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_no_agent_hears_what_the_repository_says(home, hostile, host, monkeypatch):
    monkeypatch.chdir(hostile)
    assert run("init").exit_code == 0

    briefing = run("recall", "fix the total of the till in shop.py", "--host", host)
    starts = hook_answers(hostile, host, "SessionStart", "shop")

    assert "Files" in briefing.output
    assert "shop" in starts[-1]
    for text in (briefing.output, *starts):
        assert WORD not in text.lower(), text


def test_no_prompt_is_answered_with_what_the_repository_says(home, hostile, monkeypatch):
    monkeypatch.chdir(hostile)
    run("init")
    run("remember", "The total of the till is counted in cents", "--kind", "gotcha")

    answers = hook_answers(
        hostile,
        "claude-code",
        "UserPromptSubmit",
        "counted in cents",
        prompt="fix the total of the till in shop.py",
    )

    assert "counted in cents" in answers[-1]
    assert not any(WORD in answer.lower() for answer in answers)


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
    monkeypatch.chdir(hostile)
    run("init")
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


def hook_answers(folder, host, name, wanted, **body):
    """Send an event in new sessions until the answer has `wanted`: on a busy machine it may be late, and then is left out."""
    patient = {"RECOLLECT_HOOK_DEADLINE": "10", "RECOLLECT_FIRST_PROMPT_SECONDS": "60"}
    answers = [""]
    while wanted not in answers[-1] and len(answers) < 8:
        given = event(folder, session_id=f"s{len(answers)}", hook_event_name=name, **body)
        answers.append(recollect(folder, "hook", host, name, stdin=given, **patient).stdout)
    stop(Path(os.environ["RECOLLECT_HOME"]))
    return answers


def event(folder, **fields):
    return json.dumps({"session_id": "s1", "cwd": str(folder), "source": "startup"} | fields)


def test_a_person_sees_what_the_repository_proposes_and_can_trust_it(home, hostile, monkeypatch):
    monkeypatch.chdir(hostile)
    told = run("init").output
    proposed = run("review", "--kind", "seed").output

    found = run("search", "install wombat").output
    without = run("recall", "install wombat").output
    run("trust", "--yes")
    trusted = run("recall", "install wombat", "--host", "codex").output

    assert "AGENTS.md:3" in proposed
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


def test_a_file_that_would_fill_the_memory_is_not_read(tmp_path):
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    with (tmp_path / "big.py").open("wb") as file:
        file.truncate(3_000_000)  # some bytes when packed
    blob = subprocess.run(
        ["git", "hash-object", "-w", "big.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.strip()

    repository = Repository.containing(tmp_path)

    assert repository.output("cat-file", "blob", blob, most=2_999_999) is None
    assert repository.output("cat-file", "blob", blob, most=3_000_000) == bytes(3_000_000)


def test_variables_of_the_environment_lead_to_no_other_repository(home, hostile, tmp_path, ran, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "elsewhere", str(other)], check=True)

    without = read_history(hostile)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))

    done = recollect(hostile, "doctor")
    misled = read_history(hostile)

    assert str(other) not in done.stdout
    assert misled is not None and list(misled.log) == list(without.log) != []
    assert programs_run(ran) == []


PROGRAMS = "PAGER EXTERNAL_DIFF SSH SSH_COMMAND ASKPASS EDITOR SEQUENCE_EDITOR PROXY_COMMAND".split()


def test_no_program_of_the_environment_or_of_the_users_configuration_is_run(
    home, hostile, ran, tmp_path, monkeypatch
):
    program = tmp_path / "planted-program"
    (tmp_path / ".gitconfig").write_text((hostile / ".git/config").read_text())
    for name in PROGRAMS:
        monkeypatch.setenv(f"GIT_{name}", str(program))
    for name, value in {
        "HOME": tmp_path,
        "GIT_CONFIG_GLOBAL": tmp_path / ".gitconfig",
        "GIT_CONFIG_COUNT": 1,
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": program,
        "GIT_EXEC_PATH": ran,
    }.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(hostile)

    read = [run(*words).exit_code for words in (("init",), ("map",), ("graph", "relevant", "total"))]

    assert program.exists()
    assert read == [0, 0, 0]
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
