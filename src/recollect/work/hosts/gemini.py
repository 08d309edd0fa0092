"""Gemini CLI: its transcripts, then what else we know about it (`GEMINI`).

A transcript is `~/.gemini/tmp/<project>/chats/session-….json`, in newer versions `.jsonl`. The lines of the newer form
repeat a message whenever it has grown; each part of it becomes an event once. What a person rewound happened all the
same, and stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from recollect.work.hosts.host import (
    Hook,
    HookCommand,
    HookKind,
    HookReply,
    Host,
    HostFiles,
    SessionFiles,
    SlashCommands,
    ToolHold,
    ToolPermissions,
    grouped_entry,
    show_message,
)
from recollect.work.transcripts.document import members
from recollect.work.transcripts.event import ASSISTANT, USER, Event
from recollect.work.transcripts.fields import arguments, identifier, items, mapping, moment, plain, string
from recollect.work.transcripts.lines import opened, records
from recollect.work.transcripts.reading import EventOrigin, TranscriptFormat, TranscriptReading

# The line that a command's output has only if the command failed.
_EXIT_LINE = re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)
# What the chat is replaced with when it has been compressed.
_COMPACTION_LINE = re.compile(rb'^\{"\$set":\{"messages":.*<state_snapshot>', re.MULTILINE)
_NOTICES = {"info", "error", "warning"}
_DONE = {"success", "error", "cancelled"}


def read(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    with opened(path) as stream:
        session = _GeminiSession(reading)
        for line in records(stream, reading):
            if "$rewindTo" in line:
                reading.ignore("rewind")
            elif isinstance(line.get("$set"), dict):
                session.begin(line["$set"])
                for message in items(line["$set"].get("messages")):
                    yield from session.events(mapping(message))
            elif "type" in line and "id" in line:
                yield from session.events(line)
            elif "sessionId" in line:
                session.begin(line)
                for message in items(line.get("messages")):
                    yield from session.events(mapping(message))
            else:
                reading.skip("unknown kind of line")


def read_document(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    with opened(path) as stream:
        session = _GeminiSession(reading)
        for name, value in members(stream, reading, {"sessionId", "directories", "kind", "messages"}):
            if name == "messages":
                yield from session.events(mapping(value))
            else:
                session.begin({name: value})


class _GeminiSession:
    def __init__(self, reading: TranscriptReading) -> None:
        self.reading = reading
        self.session = ""
        self.agent = ""
        self.cwd = _project_root(reading.path)
        self.seen: set[int] = set()

    def begin(self, meta: Mapping[str, Any]) -> None:
        self.reading.ignore("metadata")
        self.session = string(meta.get("sessionId")) or self.session
        if meta.get("kind") == "subagent":
            # Its file is in a folder named after its parent's session.
            self.agent = self.session or "subagent"
            parent = self.reading.path.parent.name
            self.session = parent if parent != "chats" else self.session
        folders = meta.get("directories")
        folder = string(folders[0]) if isinstance(folders, list) and folders else string(folders)
        self.cwd = folder or self.cwd

    def events(self, message: Mapping[str, Any]) -> Iterator[Event]:
        kind = string(message.get("type"))
        if kind in _NOTICES:
            self.reading.ignore(kind)
            return
        if kind not in (USER, "gemini"):
            self.reading.skip(f"unknown kind {kind[:40]!r}")
            return
        place = EventOrigin(self.session, moment(message.get("timestamp")), self.cwd, agent=self.agent)
        ident = identifier(message.get("id"))
        text = _text(message.get("content"))
        if text.strip() and self._is_new("text", ident, text):
            is_summary = text.lstrip().startswith("<state_snapshot>")  # which the model wrote for itself
            author = USER if kind == USER and not is_summary else ASSISTANT
            yield from self.reading.message(place, author, text, injected=author == USER and bool(self.agent))
        for number, call in enumerate(items(message.get("toolCalls"))):
            yield from self._call(mapping(call), place, f"{ident}-{number}")

    def _call(self, call: Mapping[str, Any], place: EventOrigin, spare: str) -> Iterator[Event]:
        ident = identifier(call.get("id")) or spare
        at = moment(call.get("timestamp")) or place.at
        place = EventOrigin(place.session, at, place.cwd, agent=place.agent)
        if self._is_new("call", ident, ""):
            yield self.reading.tool_call(place, string(call.get("name")), arguments(call.get("args")), ident)
        status = string(call.get("status"))
        # A running tool may show part of its answer; a finished one may have it masked later.
        if (status in _DONE or (not status and "result" in call)) and self._is_new("answer", ident, ""):
            text = _answer(call)
            failed = status != "success" if status else None
            if failed is False and _EXIT_LINE.search(text):  # a command that failed is a success of the tool
                failed = True
            yield self.reading.tool_result(place, text, ident, failed)

    def _is_new(self, what: str, ident: str, text: str) -> bool:
        key = hash((what, ident, text))
        if key in self.seen:
            return False
        self.seen.add(key)
        return True


def _project_root(path: Path) -> str:
    """Return the project folder that Gemini noted beside the chats; "" if it did not."""
    for folder in path.absolute().parents:
        if folder.name == "chats":
            try:
                return (folder.parent / ".project_root").read_text(encoding="utf-8")[:4096].strip()
            except (OSError, ValueError):
                break
    return ""


def _text(content: Any) -> str:
    """Return the text parts; calls and results are also in `toolCalls`, and read from there."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    kept = (
        part
        for part in parts
        if not (
            isinstance(part, dict)
            and (part.get("thought") or {"functionCall", "functionResponse"} & part.keys())
        )
    )
    return plain(list(kept))


def _answer(call: Mapping[str, Any]) -> str:
    texts = []
    result = call.get("result")
    for part in result if isinstance(result, list) else [result]:
        response = mapping(mapping(part).get("functionResponse")).get("response")
        if isinstance(response, dict):
            texts.append(plain(response.get("output", response.get("error", response.get("content")))))
        else:
            texts.append(_text(part))
    return "\n".join(filter(None, texts)) or string(call.get("resultDisplay"))


def _is_record(record: Mapping[str, Any]) -> bool:
    kind = string(record.get("type"))
    return bool(
        "$set" in record
        or "$rewindTo" in record
        or {"sessionId", "projectHash"} <= record.keys()
        or kind == "gemini"
        or (kind == "user" and {"id", "content"} <= record.keys())
    )


def _is_member(name: str, value: Mapping[str, Any], seen: Set[str]) -> bool:
    return "projectHash" in seen or (name == "messages" and "type" in value and "role" not in value)


def _folders(environment: Mapping[str, str], platform: str) -> Mapping[str, str]:
    return {"home": environment.get("GEMINI_CLI_HOME") or "~"}


def _hook_entry(hook: Hook, command: HookCommand) -> dict[str, Any]:
    handler = {
        "name": "recollect",
        "type": "command",
        "command": command.line,
        "timeout": hook.seconds * 1000,
    }
    return grouped_entry(hook, handler)


def _refuse(reason: str) -> dict[str, Any]:
    return {"decision": "deny", "reason": reason}


def _policy(tools: Sequence[str]) -> str:
    rows = [
        "[[rule]]",
        'mcpName = "recollect"',
        f"toolName = {json.dumps(list(tools))}",
        'decision = "allow"',
    ]
    return "\n".join([*rows, "priority = 100", ""])


GEMINI = Host(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    folder="{home}/.gemini",
    folders=_folders,
    user_files=HostFiles(
        hooks="{home}/.gemini/settings.json",
        mcp="{home}/.gemini/settings.json",
        commands="{home}/.gemini/commands",
        skill="~/.agents/skills/long-term-memory",
    ),
    project_files=HostFiles(
        hooks=".gemini/settings.json",
        mcp=".gemini/settings.json",
        commands=".gemini/commands",
        skill=".agents/skills/long-term-memory",
    ),
    hooks=(
        Hook("SessionStart", HookKind.SESSION_START, HookReply.HOOK_OUTPUT, "adds the briefing"),
        Hook(
            "BeforeAgent",
            HookKind.PROMPT,
            HookReply.HOOK_OUTPUT,
            "adds memories that match the prompt",
            seconds=3,
        ),
        Hook(
            "BeforeTool",
            HookKind.BEFORE_TOOL,
            HookReply.DECISION,
            "holds back what a rule of yours forbids",
            seconds=3,
            matcher="run_shell_command|write_file|replace",
        ),
        Hook(
            "AfterTool",
            HookKind.AFTER_TOOL,
            HookReply.HOOK_OUTPUT,
            "records the event, adds memories about a file that was read or changed, or a known fix",
        ),
        Hook(
            "AfterAgent",
            HookKind.TURN_END,
            HookReply.DECISION,
            "learns from the session in the background; asks once to record what was learnt",
        ),
        # With the trigger `auto` it comes before every request. Whether the chat was compressed, the transcript tells.
        Hook(
            "PreCompress",
            HookKind.COMPACTION,
            summary="learns from the session in the background",
            matcher="manual",
        ),
        Hook("SessionEnd", HookKind.SESSION_END, summary="closes the session", seconds=2),
    ),
    hook_entry=_hook_entry,
    bundle_folder="{home}/.gemini/extensions/recollect",
    payload_fields={"session": ("sessionId",), "answer": ("prompt_response",)},
    reports_failures=True,
    exit_line=_EXIT_LINE,
    compaction_line=_COMPACTION_LINE,
    # It knows "ask" too, but waits for an answer that nobody can give in `gemini -p`.
    hold_tool=ToolHold(_refuse, asks_user=False),
    continue_turn=_refuse,  # the reason is the next prompt
    message_user=show_message,
    servers_key="mcpServers",
    tool_permissions=ToolPermissions(
        user="{home}/.gemini/policies/recollect.toml",
        project=".gemini/policies/recollect.toml",
        content=_policy,
    ),
    commands=SlashCommands(
        "toml", ".toml", "{{args}}", renamed={"memory": "recollect"}, clash_with_prompts=True
    ),
    transcript=TranscriptFormat("gemini", read, read_document, _is_record, _is_member),
    session_files=SessionFiles(
        "{home}",
        (".gemini/tmp/*/chats/**/*.json", ".gemini/tmp/*/chats/**/*.jsonl"),
        of_session=(".gemini/tmp/*/chats/session-*{short}*",),
    ),
)
