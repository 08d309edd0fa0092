"""What the doctor says of the connection from a host to memory."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.interfaces.install.connection import check_connection, repair_hosts
from recollect.interfaces.install.ledger import digest
from recollect.work.hosts.registry import HOSTS

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.fixture
def home(tmp_path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def connection(pc, home):
    """The checks by their part; of several of one part the last that is ill."""

    def examine():
        checks = check_connection(home, pc.machine, NOW)
        return {check.part: check for check in sorted(checks, key=lambda check: not check.ok)}

    return examine


def test_without_a_host_it_says_how_to_connect_one(connection):
    assert connection()["host"].ok
    assert "recollect install" in connection()["host"].hint


def test_all_is_well_after_an_installation(pc, connection):
    pc.install("claude-code")
    pc.install("cursor", "project")

    found = connection()

    assert [check for check in found.values() if not check.ok] == []
    assert "connected" in found["host"].finding
    assert "runs" in found["hook"].finding


def test_a_program_that_is_gone_is_named_and_a_new_installation_mends_it(pc, connection, home):
    pc.install("claude-code")
    Path(pc.machine.program[0]).unlink()
    ill = connection()

    new = pc.machine.user / "bin" / "recollect"
    new.parent.mkdir()
    new.write_text("#!/bin/sh\n")
    new.chmod(0o755)
    machine = type(pc.machine)(pc.machine.user, (str(new),), {}, "linux")
    done = repair_hosts(home, machine)

    assert not ill["host"].ok
    assert pc.machine.program[0] in ill["host"].finding
    assert "recollect install claude-code" in ill["host"].hint
    assert not ill["hook"].ok
    assert done == ["Claude Code (for you): installed again."]
    assert all(check.ok for check in check_connection(home, machine, NOW))


@pytest.mark.parametrize("data", [None, b"{}", b"{", b"half"])
def test_a_configuration_that_lost_our_entries_is_named(pc, connection, data):
    pc.install("gemini")
    path = pc.machine.user / ".gemini/settings.json"
    if data is None:
        path.unlink()
    elif data == b"half":
        path.write_text(json.dumps(json.loads(path.read_text()) | {"hooks": {}}))
    else:
        path.write_bytes(data)

    found = connection()["host"]

    assert not found.ok
    assert str(path) in found.finding


def test_a_project_that_is_gone_is_forgotten(pc, connection, home):
    pc.install("cursor", "project")
    pc.project.rename(pc.project.with_name("elsewhere"))
    ill = connection()["host"]

    done = repair_hosts(home, pc.machine)

    assert "the folder no longer exists" in ill.finding
    assert "forgotten" in done[0]
    assert pc.ledger.records() == []


def test_a_hook_that_fails_or_talks_is_named(pc, connection):
    pc.install("codex")
    Path(pc.machine.program[0]).write_text("#!/bin/sh\necho 'no such module' >&2\nexit 3\n")

    found = connection()["hook"]

    assert not found.ok
    assert "code 3: no such module" in found.finding


@pytest.mark.parametrize("hours, well", [(1, True), (30, False)])
def test_events_may_wait_a_day_and_no_longer(connection, home, hours, well):
    waiting = home / "spool/hooks/session.jsonl"
    waiting.parent.mkdir(parents=True)
    waiting.write_text("{}\n")
    (waiting.parent / "append.lock").touch()
    then = (NOW - timedelta(hours=hours)).timestamp()
    os.utime(waiting, (then, then))

    found = connection()["spool"]

    assert found.ok is well
    assert f"{hours} hours" in found.finding


def test_no_daemon_is_no_fault(connection):
    assert connection()["daemon"].ok
    assert "starts when needed" in connection()["daemon"].finding


def test_a_host_that_does_not_wait_for_what_a_tool_brings_is_named_and_mended(pc, home):
    pc.install("claude-code")
    settings = pc.machine.user / ".claude/settings.json"
    written = json.loads(settings.read_text())
    written["hooks"]["PostToolUse"][0]["hooks"][0]["async"] = True  # as older versions wrote it
    settings.write_text(json.dumps(written))

    ill, *_ = check_connection(home, pc.machine, NOW)
    done = repair_hosts(home, pc.machine)

    assert not ill.ok
    assert ".claude/settings.json" in ill.finding
    assert "recollect install claude-code" in ill.hint
    assert done == ["Claude Code (for you): installed again."]
    assert all(check.ok for check in check_connection(home, pc.machine, NOW))


def test_hooks_that_codex_does_not_run_are_named_until_the_user_trusts_them(pc, connection):
    pc.install("codex")
    hooks = pc.machine.user / ".codex/hooks.json"
    config = pc.machine.user / ".codex/config.toml"
    untrusted = connection()["host"]

    trust = HOSTS["codex"].hook_trust
    states = "".join(
        f'[hooks.state."{trust.key(str(hooks), event, 0, 0)}"]\ntrusted_hash = "{trust.digest(event, entry)}"\n'
        for event, (entry,) in json.loads(hooks.read_text())["hooks"].items()
    )
    config.write_text(f"{config.read_text()}\n{states}")
    trusted = connection()["host"]
    hooks.write_text(hooks.read_text().replace('"timeout": 3', '"timeout": 4'))
    changed = [
        check for check in check_connection(pc.ledger._home, pc.machine, NOW) if "trusted" in check.finding
    ]

    assert not untrusted.ok
    assert "SessionStart, UserPromptSubmit, PreToolUse" in untrusted.finding
    assert "Trust all" in untrusted.hint
    assert trusted.ok
    assert "UserPromptSubmit, PreToolUse." in changed[0].finding


@pytest.mark.parametrize(
    "event, entry, digest",
    [
        (
            "PreToolUse",
            {
                "matcher": "Bash|apply_patch",
                "hooks": [
                    {
                        "type": "command",
                        "command": "[ ! -x /opt/recollect ] || exec /opt/recollect hook codex PreToolUse",
                        "timeout": 3,
                    }
                ],
            },
            "sha256:6fec0c55de35fb03fbf441aa51f79766bfe6356b71369be14bbb4aaaeb17e8e4",
        ),
        (
            "Stop",
            {"hooks": [{"type": "command", "command": "/opt/recollect hook codex Stop", "timeout": 5}]},
            "sha256:063f4437698304f41b52e61d0c43b1a48a24401bf0aad209a88fb71ea1321119",
        ),
    ],
)
def test_the_digests_are_those_that_codex_itself_wrote(event, entry, digest):
    assert HOSTS["codex"].hook_trust.digest(event, entry) == digest


def test_an_mcp_server_with_another_home_than_the_hooks_is_named(pc, connection):
    pc.install("gemini")
    path = pc.machine.user / ".gemini/settings.json"
    data = json.loads(path.read_text())
    data["mcpServers"]["recollect"]["env"] = {"RECOLLECT_HOME": "/elsewhere", "LANG": "C"}
    path.write_text(json.dumps(data))

    found = connection()["host"]

    assert not found.ok
    assert "another RECOLLECT_HOME" in found.finding
    assert "/elsewhere" in found.finding


def test_hooks_that_are_there_twice_are_named(pc, home):
    pc.install("codex", "project")
    pc.install("codex", "user")
    pc.install("claude-code")
    settings = pc.machine.user / ".claude/settings.json"
    settings.write_text(
        json.dumps(json.loads(settings.read_text()) | {"enabledPlugins": {"recollect@recollect": True}})
    )
    pc.install("gemini")
    (pc.machine.user / ".gemini/extensions/recollect").mkdir(parents=True)

    found = [check.finding for check in check_connection(home, pc.machine, NOW) if not check.ok]

    assert [finding for finding in found if "Codex" in finding and "recorded twice" in finding]
    assert [finding for finding in found if "Claude Code" in finding and "as a plugin too" in finding]
    assert [finding for finding in found if "Gemini" in finding and "as an extension too" in finding]


def test_what_is_left_of_an_older_version_is_named_and_removed(pc, home):
    pc.install("claude-code")
    old = pc.write(".claude/skills/recollect/SKILL.md", b"Written by `recollect install`\n")
    record = next(record for record in pc.ledger.records() if record.path.endswith("SKILL.md"))
    pc.ledger.update([replace(record, path=str(old), after=digest(old.read_bytes()))], [])

    ill, *_ = check_connection(home, pc.machine, NOW)
    repair_hosts(home, pc.machine)

    assert str(old) in ill.finding
    assert not old.exists()
    assert all(check.ok for check in check_connection(home, pc.machine, NOW))
