"""What the doctor says of the chain from a host to memory."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.interfaces.daemon.chain import examine_chain, mend_hosts

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.fixture
def home(tmp_path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def chain(desk, home):
    """The checks by their part; of several of one part the last that is ill."""

    def examine():
        checks = examine_chain(home, desk.machine, NOW)
        return {check.part: check for check in sorted(checks, key=lambda check: not check.ok)}

    return examine


def test_without_a_host_it_says_how_to_connect_one(chain):
    assert chain()["host"].ok
    assert "recollect install" in chain()["host"].hint


def test_all_is_well_after_an_installation(desk, chain):
    desk.install("claude-code")
    desk.install("codex", "project")

    found = chain()

    assert [check for check in found.values() if not check.ok] == []
    assert "connected" in found["host"].finding
    assert "runs" in found["hook"].finding


def test_a_program_that_is_gone_is_named_and_a_new_installation_mends_it(desk, chain, home):
    desk.install("claude-code")
    Path(desk.machine.program[0]).unlink()
    ill = chain()

    new = desk.machine.user / "bin" / "recollect"
    new.parent.mkdir()
    new.write_text("#!/bin/sh\n")
    new.chmod(0o755)
    machine = type(desk.machine)(desk.machine.user, (str(new),), {}, "linux")
    done = mend_hosts(home, machine)

    assert not ill["host"].ok
    assert desk.machine.program[0] in ill["host"].finding
    assert "recollect install claude-code" in ill["host"].hint
    assert not ill["hook"].ok
    assert done == ["Claude Code (for you): installed again."]
    assert all(check.ok for check in examine_chain(home, machine, NOW))


@pytest.mark.parametrize("data", [None, b"{}", b"{", b"half"])
def test_a_configuration_that_lost_our_entries_is_named(desk, chain, data):
    desk.install("gemini")
    path = desk.machine.user / ".gemini/settings.json"
    if data is None:
        path.unlink()
    elif data == b"half":
        path.write_text(json.dumps(json.loads(path.read_text()) | {"hooks": {}}))
    else:
        path.write_bytes(data)

    found = chain()["host"]

    assert not found.ok
    assert str(path) in found.finding


def test_a_project_that_is_gone_is_forgotten(desk, chain, home):
    desk.install("cursor", "project")
    desk.project.rename(desk.project.with_name("elsewhere"))
    ill = chain()["host"]

    done = mend_hosts(home, desk.machine)

    assert "the folder is gone" in ill.finding
    assert "forgotten" in done[0]
    assert desk.ledger.records() == []


def test_a_hook_that_fails_or_talks_is_named(desk, chain):
    desk.install("codex")
    Path(desk.machine.program[0]).write_text("#!/bin/sh\necho 'no such module' >&2\nexit 3\n")

    found = chain()["hook"]

    assert not found.ok
    assert "code 3: no such module" in found.finding


@pytest.mark.parametrize("hours, well", [(1, True), (30, False)])
def test_events_may_wait_a_day_and_no_longer(chain, home, hours, well):
    waiting = home / "spool/hooks/session.jsonl"
    waiting.parent.mkdir(parents=True)
    waiting.write_text("{}\n")
    (waiting.parent / "append.lock").touch()
    then = (NOW - timedelta(hours=hours)).timestamp()
    os.utime(waiting, (then, then))

    found = chain()["spool"]

    assert found.ok is well
    assert f"{hours} hours" in found.finding


def test_no_daemon_is_no_fault(chain):
    assert chain()["daemon"].ok
    assert "starts when it is needed" in chain()["daemon"].finding


def test_a_host_that_does_not_wait_for_shorter_outputs_is_named_and_mended(desk, home):
    desk.install("claude-code")
    machine = replace(desk.machine, shortens=True)

    ill, *_ = examine_chain(home, machine, NOW)
    done = mend_hosts(home, machine)

    assert not ill.ok
    assert ".claude/settings.json" in ill.finding
    assert "recollect install claude-code" in ill.hint
    assert done == ["Claude Code (for you): installed again."]
    assert all(check.ok for check in examine_chain(home, machine, NOW))
