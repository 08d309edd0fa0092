"""Where the hosts keep their sessions. Nothing is opened here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recollect.config import expand_home


@dataclass(frozen=True, slots=True)
class Found:
    path: Path
    host: str
    modified: datetime


@dataclass(frozen=True, slots=True)
class _Host:
    name: str
    folder: str  # below the user's home; "" = the home itself
    variable: str  # which names another folder in its place; "" = none does
    patterns: tuple[str, ...]


# The sub-agents' own files are found too: their events name the session they belong to.
_HOSTS = (
    _Host(
        "claude-code",
        ".claude",
        "CLAUDE_CONFIG_DIR",
        ("projects/*/*.jsonl", "projects/*/*/subagents/*.jsonl"),
    ),
    _Host(
        "codex",
        ".codex",
        "CODEX_HOME",
        tuple(
            f"{folder}/**/rollout-*.{ending}"
            for folder in ("sessions", "archived_sessions")
            for ending in ("jsonl", "jsonl.zst", "json")
        ),
    ),
    _Host(
        "gemini",
        "",
        "GEMINI_CLI_HOME",
        (".gemini/tmp/*/chats/**/*.json", ".gemini/tmp/*/chats/**/*.jsonl"),
    ),
    _Host("cursor", ".cursor", "", ("projects/*/agent-transcripts/**/*.jsonl",)),
)


def session_files(home: Path, since: datetime | None, environment: Mapping[str, str]) -> list[Found]:
    """Every session file the hosts keep for this user that was written at or after `since`, the newest last."""
    found = [
        each
        for host in _HOSTS
        for each in _of(host, home, environment)
        if since is None or each.modified >= since
    ]
    return sorted(found, key=lambda each: (each.modified, str(each.path)))


def _of(host: _Host, home: Path, environment: Mapping[str, str]) -> Iterator[Found]:
    elsewhere = environment.get(host.variable, "") if host.variable else ""
    folder = expand_home(elsewhere) if elsewhere else home / host.folder
    for pattern in host.patterns:
        for path in folder.glob(pattern):
            try:
                status = path.stat()
            except OSError:
                continue  # gone since it was listed, or not ours to see
            if path.is_file():
                yield Found(path, host.name, datetime.fromtimestamp(status.st_mtime, UTC))
