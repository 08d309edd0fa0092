"""install, uninstall and what doctor says of them, as they are typed."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

import recollect.model as m
from recollect.engine import Engine
from recollect.work.transcripts.event import USER, Event

OTHERS = '{\n  "theme": "dark", // mine\n}\n'


@pytest.fixture
def user(tmp_path, home, monkeypatch) -> Path:
    """The user's own folder, where Claude Code was used before."""
    folder = tmp_path / "user"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude/settings.json").write_text(OTHERS)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", "/nowhere")
    return folder


def typed(arguments: list[str], answers: str) -> str:
    """What a terminal shows when `answers` are typed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", *arguments], stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, answers.encode())
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that the other side has left
        while part := os.read(ours, 65536):
            shown += part
    process.wait(60)
    os.close(ours)
    return shown.decode()


def settings(user: Path) -> str:
    return (user / ".claude/settings.json").read_text()


def test_install_lists_the_files_and_uninstall_gives_the_bytes_back(run, user):
    planned = run("install", "claude-code", "--dry-run")
    done = run("install", "claude-code", "--yes")
    during = settings(user)
    undone = run("uninstall", "claude-code", "--yes")

    assert (done.code, undone.code) == (0, 0), (done, undone)
    assert '+  "hooks": {' in planned.out
    assert '"hooks": {' not in done.out
    assert re.search(
        rf"^changed  {re.escape(str(user))}/.claude/settings.json \(\d+ lines added\)$", done.out, re.M
    )
    assert f"new      {user}/.claude/commands/remember.md" in done.out
    assert len(done.out.splitlines()) < 15
    assert "Connected: Claude Code, for you." in done.out
    assert "// mine" in during
    assert "UserPromptSubmit" in during
    assert f"deleted  {user}/.claude/commands/remember.md" in undone.out
    assert "Disconnected: Claude Code, for you." in undone.out
    assert settings(user) == OTHERS
    assert [path.name for path in user.rglob("*")] == [".claude", "settings.json"]


def test_the_installed_program_runs_outside_of_any_environment(run, user):
    run("install", "claude-code", "--yes")
    entry = json.loads((user / ".claude.json").read_text())["mcpServers"]["recollect"]

    done = subprocess.run([entry["command"], "--version"], capture_output=True, env={}, cwd="/")

    assert done.returncode == 0
    assert b"recollect" in done.stdout


def test_a_dry_run_shows_everything_and_writes_nothing(run, user, home):
    told = run("install", "claude-code", "--dry-run")

    assert told.code == 0
    assert "+description: Remember something" in told.out
    assert settings(user) == OTHERS
    assert not (home / "installed.json").exists()


def test_without_a_terminal_nothing_is_written_unasked(run, user):
    told = run("install", "claude-code")

    assert told.code == 1
    assert "--yes" in told.err
    assert settings(user) == OTHERS


def test_a_second_installation_has_nothing_to_do(run, user):
    run("install", "claude-code", "--yes")
    before = settings(user)

    again = run("install", "claude-code", "--yes")

    assert "nothing to change" in again.out
    assert settings(user) == before


def test_install_alone_lists_what_is_here(run, user):
    (user / ".cursor").mkdir()
    run("install", "cursor", "--yes")

    listed, told = run("install"), run("install", "--json").json["found"]

    assert "Claude Code  found" in listed.out
    assert "recollect install claude-code" in listed.out
    assert "Cursor       connected" in listed.out
    assert {each["host"]: each["connected"] for each in told} == {"claude-code": False, "cursor": True}


def test_yes_connects_and_disconnects_every_agent_that_is_found(run, user):
    connected = run("install", "--yes")
    hooks = settings(user)
    run("uninstall", "--yes")

    assert "Connected: Claude Code" in connected.out
    assert "UserPromptSubmit" in hooks
    assert settings(user) == OTHERS


def test_install_finds_a_program_on_the_path(run, user, tmp_path, monkeypatch):
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))

    assert "Codex CLI" in run("install").out


def test_on_a_terminal_it_asks_which_agent_what_it_may_show_and_use_and_whether_to_write(run, user):
    refused = typed(["install"], "y\ny\ny\nn\n")
    before = settings(user)
    agreed = typed(["install"], "y\nn\ny\ny\n")

    assert "Found Claude Code. Connect it?" in refused
    assert "Nothing was changed." in refused
    assert before == OTHERS
    assert f"{user}/.claude/settings.json: search_memory, code_graph" in agreed
    assert "Connected" in agreed
    assert "UserPromptSubmit" in settings(user)
    assert "mcp__recollect__search_memory" not in settings(user)
    assert "claude-code StatusLine" in settings(user)


def test_whoever_is_asked_can_see_every_line_first(run, user):
    shown = typed(["install"], "y\ny\ny\nd\nn\n")

    assert '"UserPromptSubmit": [' in shown
    assert shown.count("Write these changes?") == 2
    assert "Nothing was changed." in shown
    assert settings(user) == OTHERS


def test_where_no_agent_is_found_the_names_are_told(run, user, monkeypatch):
    monkeypatch.setenv("PATH", "")
    (user / ".claude/settings.json").unlink()
    (user / ".claude").rmdir()

    told = run("install").err

    assert "No supported agents found." in told
    assert "recollect install claude-code" in told
    assert "recollect install windsurf" in told


def test_a_status_line_of_the_users_is_kept_and_they_learn_how_to_have_both(run, user):
    own = '{"statusLine": {"type": "command", "command": "my-line"}}'
    (user / ".claude/settings.json").write_text(own)

    done = run("install", "claude-code", "--yes", "--status-line")
    during = settings(user)
    run("uninstall", "claude-code", "--yes")

    assert "Your status line is kept." in done.err
    assert "hook claude-code StatusLine" in done.err
    assert '"command": "my-line"' in during
    assert settings(user) == own


def test_a_host_without_a_status_line_says_so(run, user):
    refused = run("install", "codex", "--yes", "--status-line")

    assert refused.code == 1
    assert "Codex CLI has no status line" in refused.err


def test_a_script_says_whether_tools_are_allowed(run, user):
    allowed = run("install", "claude-code", "--yes", "--allow-tools")
    during = settings(user)
    run("install", "claude-code", "--yes")
    kept = settings(user)
    run("install", "claude-code", "--yes", "--no-allow-tools")

    assert '"mcp__recollect__search_memory"' in during
    assert "--allow-tools" not in allowed.out
    assert during == kept
    assert "mcp__recollect" not in settings(user)
    assert "--allow-tools allows it" in run("install", "gemini", "--yes").out


def test_uninstall_alone_asks_on_a_terminal_and_lists_elsewhere(run, user, tmp_path):
    run("install", "claude-code", "--yes")
    run("install", "codex", "--project", "--yes")

    listed, told = run("uninstall").out, run("uninstall", "--json").json["connected"]
    typed(["uninstall"], "y\ny\nn\n")

    assert "recollect uninstall claude-code" in listed
    assert f"recollect uninstall codex --project {tmp_path / 'shop'}" in listed
    assert [each["host"] for each in told] == ["claude-code", "codex"]
    assert settings(user) == OTHERS
    assert (tmp_path / "shop/.codex/config.toml").exists()


def test_a_project_is_where_we_stand_or_the_folder_that_is_named(run, user, tmp_path):
    other = tmp_path / "other"
    other.mkdir()

    here = run("install", "cursor", "--project", "--yes")
    there = run("install", "cursor", "--project", str(other), "--yes")

    assert (here.code, there.code) == (0, 0)
    assert (tmp_path / "shop/.cursor/rules/recollect.mdc").exists()
    assert (other / ".cursor/mcp.json").exists()
    assert not (user / ".cursor").exists()


def test_json_tells_every_file_and_its_diff(run, user):
    planned = run("install", "claude-code", "--dry-run", "--json").json
    done = run("install", "claude-code", "--yes", "--json").json

    assert (planned["done"], done["done"]) == (False, True)
    assert planned["files"] == done["files"]
    assert {each["change"] for each in done["files"]} == {"new", "changed"}
    assert all(each["diff"] for each in done["files"])
    assert (done["host"], done["scope"], done["root"]) == ("claude-code", "user", None)


@pytest.mark.parametrize(
    "arguments, code, said",
    [
        (["install", "claud-code"], 1, "Did you mean 'claude-code'?"),
        (["install", "codex", "--user", "--project", "."], 2, "cannot be used together"),
        (["install", "--project", "codex"], 2, "Give the host before --project"),
        (["install", "codex", "--project", "/no/such/folder"], 1, "does not exist"),
    ],
)
def test_what_cannot_be_meant_is_refused(run, user, arguments, code, said):
    told = run(*arguments)

    assert (told.code, said in told.err) == (code, True), told


def test_a_broken_configuration_is_refused_with_its_place(run, user):
    (user / ".claude/settings.json").write_text('{\n  "theme" "dark"\n}')

    told = run("install", "claude-code", "--yes")

    assert told.code == 1
    assert "settings.json" in told.err
    assert "line 2, column 11" in told.err
    assert not (user / ".claude.json").exists()


def test_doctor_checks_the_chain_and_mends_it(run, user, home):
    run("install", "claude-code", "--yes")
    well = run("doctor")
    (user / ".claude/settings.json").write_text("{}")
    home.chmod(0o755)

    ill, fixed = run("doctor"), run("doctor", "--fix")

    assert well.code == 0, well
    for part in ("project", "host", "hook", "spool", "daemon", "store", "embedder"):
        assert f"✓ {part}" in well.out
    assert ill.code == 1
    assert "differs from what would be installed now" in ill.out
    assert fixed.code == 0, fixed
    assert "Claude Code (for you): installed again." in fixed.err
    assert "UserPromptSubmit" in settings(user)
    assert home.stat().st_mode & 0o077 == 0


def test_doctor_takes_in_what_waits(run, user, home):
    event = Event(session="s", order=0, at=m.utc_now(), author=USER, text="Use tabs")
    with Engine.open() as engine:
        engine.sessions.spool.append("s", [("e1", event)], m.utc_now())

    waiting, fixed = run("doctor"), run("doctor", "--fix", "--json")

    assert "Events of one session are waiting" in waiting.out
    assert "Read 1 event from the spool." in fixed.json["done"]
    assert "Empty" in run("doctor").out
