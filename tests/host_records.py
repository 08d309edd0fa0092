"""A home folder in which coding agents record their sessions, each in its own way, as they were seen to do."""

import itertools
import json
from datetime import UTC, datetime
from pathlib import Path

import apsw

_TABLES = """
    CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, time_created INTEGER NOT NULL);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
        time_created INTEGER NOT NULL, data TEXT NOT NULL);
"""
_NUMBERS = itertools.count(1)


class HostHome:
    """Records of `claude-code`, `codex`, `gemini`, `cursor` and `opencode` below one home folder."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home, self.project = home, project

    def path(self, host: str, session: str) -> Path:
        """Return the file in which the host records the session."""
        return (
            self.home
            / {
                "claude-code": f".claude/projects/-shop/{session}.jsonl",
                "codex": f".codex/sessions/2026/11/17/rollout-2026-11-17T08-18-03-{session}.jsonl",
                "gemini": f".gemini/tmp/shop/chats/session-2026-11-17T08-18-{session[:8]}.jsonl",
                "cursor": f".cursor/projects/shop/agent-transcripts/{session}/{session}.jsonl",
                "opencode": ".local/share/opencode/opencode.db",
            }[host]
        )

    def user(self, host: str, session: str, text: str, **more: object) -> None:
        """Record that the user typed `text`; `more` are further fields of the host's own line."""
        self._write(host, session, "user", text, **more)

    def assistant(self, host: str, session: str, text: str) -> None:
        self._write(host, session, "assistant", text)

    def run(self, host: str, session: str, command: str, output: str = "") -> None:
        """Record that the agent ran `command`; only Claude Code's way is known here."""
        assert host == "claude-code"
        call = f"t{next(_NUMBERS)}"
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        self._claude(session, "assistant", [use])
        self._claude(session, "user", [{"type": "tool_result", "tool_use_id": call, "content": output}])

    def _write(self, host: str, session: str, who: str, text: str, **more: object) -> None:
        number = next(_NUMBERS)
        if host == "claude-code":
            self._claude(session, who, text, **more)
        elif host == "codex":
            path = self.path(host, session)
            if not path.exists():
                meta = {
                    "session_id": session,
                    "id": session,
                    "cwd": str(self.project),
                    "source": "exec",
                    **more,
                }
                self._append(path, {"timestamp": _now(), "type": "session_meta", "payload": meta})
            kind = "input_text" if who == "user" else "output_text"
            item = {"type": "message", "role": who, "content": [{"type": kind, "text": text}]}
            self._append(path, {"timestamp": _now(), "type": "response_item", "payload": item})
        elif host == "gemini":
            path = self.path(host, session)
            if not path.exists():
                self._append(
                    path,
                    {"sessionId": session, "projectHash": "aa", "startTime": _now(), "kind": "main", **more},
                )
            kind = {"user": "user", "assistant": "gemini"}[who]
            self._append(
                path, {"id": f"m{number}", "timestamp": _now(), "type": kind, "content": [{"text": text}]}
            )
        elif host == "cursor":
            line = {"role": who, "message": {"content": [{"type": "text", "text": text}]}}
            self._append(self.path(host, session), line)
        else:
            self.opencode(session, who, text, **more)

    def _claude(self, session: str, who: str, content: object, **more: object) -> None:
        line = {
            "type": who,
            "uuid": f"u{next(_NUMBERS)}",
            "sessionId": session,
            "timestamp": _now(),
            "cwd": str(self.project),
            "isSidechain": False,
            "userType": "external",
            "message": {"role": who, "content": content},
            **more,
        }
        self._append(self.path("claude-code", session), line)

    def opencode(self, session: str, who: str, text: str, parent: str | None = None, **more: object) -> None:
        path = self.path("opencode", session)
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        database = apsw.Connection(str(path))
        if is_new:
            database.execute("PRAGMA journal_mode = wal")
            database.execute(_TABLES)
        place = session, parent, str(self.project)
        _add_part(database, place, who, {"type": "text", "text": text, **more})
        database.close()

    def _append(self, path: Path, line: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def _now() -> str:
    return datetime.now(UTC).isoformat()


def opencode_database(session: str, *parts: tuple[str, dict[str, object]]) -> bytes:
    """Return the bytes of OpenCode's database with one session; a part is given with the role of its message."""
    database = apsw.Connection(":memory:")
    database.execute(_TABLES)
    for who, part in parts:
        _add_part(database, (session, None, "/shop"), who, part)
    return database.serialize("main")


def _add_part(
    database: apsw.Connection, place: tuple[str, str | None, str], who: str, part: dict[str, object]
) -> None:
    number, at = next(_NUMBERS), int(datetime.now(UTC).timestamp() * 1000)
    database.execute("INSERT OR IGNORE INTO session VALUES (?, ?, ?, 1)", place)
    message = (f"msg{number:04}", place[0], at, json.dumps({"role": who}))
    database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", message)
    database.execute(
        "INSERT INTO part VALUES (?, ?, ?, ?, ?)",
        (f"prt{number:04}", message[0], place[0], at, json.dumps(part)),
    )
