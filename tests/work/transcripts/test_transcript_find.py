import os
from datetime import UTC, datetime

import pytest

from recollect.work.hosts.session_files import session_files

KEPT = {
    ".claude/projects/-shop/s1.jsonl": "claude-code",
    ".claude/projects/-shop/s1/subagents/agent-a1.jsonl": "claude-code",
    ".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-s1.jsonl": "codex",
    ".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-s2.jsonl.zst": "codex",
    ".codex/sessions/rollout-2025-04-20-s3.json": "codex",
    ".codex/archived_sessions/rollout-2026-02-01T10-00-00-s4.jsonl": "codex",
    ".gemini/tmp/shop/chats/session-2026-03-01.json": "gemini",
    ".gemini/tmp/shop/chats/session-2026-03-02.jsonl": "gemini",
    ".gemini/tmp/shop/chats/s1/s2.jsonl": "gemini",
    ".cursor/projects/shop/agent-transcripts/c1/c1.jsonl": "cursor",
}
NOT_KEPT = [
    ".claude/history.jsonl",
    ".claude/projects/-shop/memory/MEMORY.md",
    ".codex/history.jsonl",
    ".gemini/tmp/shop/logs.json",
    ".cursor/projects/shop/mcp.json",
]


@pytest.fixture
def machine(tmp_path):
    """A home where every host has been, each file written an hour after the one before."""
    for hour, name in enumerate([*KEPT, *NOT_KEPT]):
        _write(tmp_path / name, hour)
    return tmp_path


def _write(path, hour):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("never opened")
    os.utime(path, (_at(hour).timestamp(),) * 2)


def _at(hour):
    return datetime(2026, 3, 1, hour, tzinfo=UTC)


def test_the_sessions_of_every_host_are_found_the_newest_last(machine):
    found = session_files(machine, None, {})

    assert [(str(each.path.relative_to(machine)), each.host) for each in found] == list(KEPT.items())
    assert [each.modified for each in found] == [_at(hour) for hour in range(len(KEPT))]


def test_older_sessions_are_left_alone(machine):
    found = session_files(machine, _at(7), {})

    assert [each.modified for each in found] == [_at(7), _at(8), _at(9)]


def test_a_host_that_lives_elsewhere_is_found_there(machine, tmp_path):
    _write(tmp_path / "elsewhere" / "projects" / "-till" / "s9.jsonl", 20)
    _write(tmp_path / "codex" / "sessions" / "rollout-s9.jsonl", 21)
    _write(tmp_path / "gemini" / ".gemini" / "tmp" / "till" / "chats" / "session-s9.json", 22)
    environment = {
        "CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere"),
        "CODEX_HOME": str(tmp_path / "codex"),
        "GEMINI_CLI_HOME": str(tmp_path / "gemini"),
    }

    found = session_files(machine, None, environment)

    assert [each.path.name for each in found[-3:]] == ["s9.jsonl", "rollout-s9.jsonl", "session-s9.json"]
    assert {each.host for each in found[:-3]} == {"cursor"}


def test_a_machine_without_hosts_has_no_sessions(tmp_path):
    (tmp_path / ".claude" / "projects" / "-shop" / "folder.jsonl").mkdir(parents=True)
    (tmp_path / ".claude" / "projects" / "-shop" / "gone.jsonl").symlink_to(tmp_path / "nowhere")

    assert session_files(tmp_path, None, {}) == []
