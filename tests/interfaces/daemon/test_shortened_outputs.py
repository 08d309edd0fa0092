"""A tool's long output, shortened on its way to the model: never lost, never without the user's wish."""

import json
import subprocess
import sys

import pytest
from hook_fields import fields

from recollect.interfaces.daemon.hook_session import LARGEST_OUTPUT
from recollect.interfaces.daemon_client import control
from recollect.store.sqlite.connection import connect
from recollect.text import tokens
from recollect.work.window.outputs import output_id

SECRET = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"
LOG = "\n".join([*(f"step {number}: compiled" for number in range(1_000)), f"token: {SECRET}", "1 failed"])
BASH = {"stdout": LOG, "stderr": "", "interrupted": False, "isImage": False}


@pytest.fixture
def wish(home):
    """Writes the user's settings."""

    def write(**settings):
        (home / "config.toml").write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))

    write(prune_output=300)
    return write


@pytest.fixture
def take(wish, request, folder):
    """What the daemon answers when a tool ran."""

    def call(response=None, host="claude-code", event="PostToolUse", tool="Bash", given=None, seconds="20"):
        body = {
            "session_id": "s1",
            "cwd": str(folder),
            "tool_name": tool,
            "tool_input": given or {"command": "make"},
            "tool_response": BASH if response is None else response,
        }
        return request.getfixturevalue("service").handle(fields(host, event, seconds=seconds), body)

    return call


@pytest.fixture
def hook(home, folder, monkeypatch):
    """The real program before a real daemon, with time enough for a busy machine."""
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    monkeypatch.setenv("RECOLLECT_HOOK_DEADLINE", "10")

    def call():
        control.ensure(home)
        body = {"session_id": "s1", "cwd": str(folder), "tool_name": "Bash", "tool_response": BASH}
        return recollect("hook", "claude-code", "PostToolUse", stdin=json.dumps(body))

    return call


def recollect(*words, stdin=""):
    done = subprocess.run(
        [sys.executable, "-m", "recollect", *words], input=stdin.encode(), capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def kept(home):
    database = connect(home / "recollect.db", None)
    try:
        return database.execute("SELECT session, gist, text FROM pruned").fetchall()
    finally:
        database.close()


def test_claude_code_shows_less_and_all_of_it_can_be_had_again(hook, wish, home):
    said = json.loads(hook())["hookSpecificOutput"]

    shown = said["updatedToolOutput"]
    assert said["hookEventName"] == "PostToolUse"
    assert shown | {"stdout": LOG} == BASH
    assert tokens.count(shown["stdout"]) <= 300
    assert shown["stdout"].endswith("1 failed")
    assert f"recollect history output {output_id(LOG)}" in shown["stdout"]
    again = recollect("history", "output", output_id(LOG)).decode()
    assert SECRET not in again
    assert [line for line in again.splitlines() if "token" not in line] == [
        line for line in LOG.splitlines() if "token" not in line
    ]


def test_no_secret_is_kept_with_it(take, home):
    take()

    ((session, tool, text),) = kept(home)
    assert (session, tool) == ("s1", "Bash")
    assert "step 999: compiled\ntoken: " in text
    assert SECRET not in text


def test_unless_the_user_wishes_it_nothing_is_printed_and_nothing_kept(hook, home):
    assert hook() == b""

    assert kept(home) == []


def test_where_nothing_may_be_kept_an_output_stays_as_it_is(take, wish):
    wish(prune_output=300, pruned_days=0)

    assert take() == b""


def test_a_store_that_fails_leaves_the_output_alone(take, service, memory, home):
    take({"stdout": "ok"})
    database = connect(home / "recollect.db", None)
    database.execute("ALTER TABLE pruned RENAME TO elsewhere")

    printed = take()

    database.execute("ALTER TABLE elsewhere RENAME TO pruned")
    database.close()

    assert printed == b""
    assert service.last_error == "StoreDamaged"
    assert [event.text for event in memory.sessions.recorded.events("s1") if event.is_answer][1].endswith(
        "1 failed"
    )


def test_what_takes_too_long_leaves_it_alone(take, home):
    assert take(seconds="0") == b""
    assert take({"stdout": "word " * (LARGEST_OUTPUT // 5 + 1)}) == b""

    assert kept(home) == []


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Bash", {"command": "/opt/recollect history output 5f0c1e9ab2d4 | head -900"}),
        ("mcp__recollect__memory", {"action": "read", "id": "5f0c1e9ab2d4"}),
        ("mcp__recollect__read_source", {"id": "5f0c1e9ab2d4"}),
        ("mcp__plugin_recollect_recollect__read_source", {"id": "5f0c1e9ab2d4"}),
    ],
)
def test_who_asks_for_all_of_it_is_given_all_of_it(take, tool, given):
    assert take(tool=tool, given=given) == b""


def test_an_output_that_is_half_a_character_is_kept_too(take, home):
    assert take({"stdout": f"\ud83d{LOG}"}) != b""

    assert kept(home)[0][2].startswith("?step 0")


def test_opencode_is_handed_the_output_to_show(take):
    said = json.loads(
        take({"title": "make", "output": LOG}, host="opencode", event="tool.execute.after", tool="bash")
    )

    assert said.keys() == {"output", "text"}
    assert tokens.count(said["output"]) <= 300


@pytest.mark.parametrize(
    ("host", "event"),
    [("codex", "PostToolUse"), ("gemini", "AfterTool"), ("vscode", "PostToolUse"), ("cursor", "postToolUse"), ("windsurf", "post_run_command")],
)  # fmt: skip
def test_hosts_that_cannot_show_less_are_told_nothing(take, home, host, event):
    assert take(host=host, event=event, tool="mcp__shop__orders") == b""

    assert kept(home) == []
