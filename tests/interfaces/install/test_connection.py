"""What the doctor says of the connection from a host to memory."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.interfaces.daemon.connection import check_connection, repair_hosts

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
    pc.install("codex", "project")

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


def test_a_host_that_does_not_wait_for_shorter_outputs_is_named_and_mended(pc, home):
    pc.install("claude-code")
    machine = replace(pc.machine, shortens_output=True)

    ill, *_ = check_connection(home, machine, NOW)
    done = repair_hosts(home, machine)

    assert not ill.ok
    assert ".claude/settings.json" in ill.finding
    assert "recollect install claude-code" in ill.hint
    assert done == ["Claude Code (for you): installed again."]
    assert all(check.ok for check in check_connection(home, machine, NOW))
