"""Codex CLI: its transcripts, then what else we know about it (`CODEX`).

A transcript is `~/.codex/sessions/…/rollout-….jsonl` since the first version in Rust, one JSON file before that.
"""

from __future__ import annotations

import hashlib
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
    HookTrust,
    Host,
    HostFiles,
    SessionFiles,
    SlashCommands,
    ToolHold,
    block_stop,
    grouped_entry,
    show_message,
    stdio_server,
)
from recollect.work.transcripts.document import members
from recollect.work.transcripts.event import ASSISTANT, USER, Event
from recollect.work.transcripts.fields import arguments, identifier, items, mapping, moment, plain, string
from recollect.work.transcripts.lines import opened, records
from recollect.work.transcripts.reading import EventOrigin, TranscriptFormat, TranscriptReading

ENVELOPES = set(
    """
    session_meta response_item turn_context event_msg compacted world_state inter_agent_communication
    security_risk_score
    """.split()
)
# The kinds of a `response_item`; in older files a line of its own.
ITEMS = set(
    """
    message reasoning function_call function_call_output custom_tool_call custom_tool_call_output
    local_shell_call local_shell_call_output web_search_call tool_search_call tool_search_output
    image_generation_call mcp_tool_call ghost_snapshot compaction compaction_summary context_compaction other
    """.split()
)
# The header that newer versions put above an output.
_EXIT = re.compile(r"(?:.*\n){0,4}?(?:Exit code:|Process exited with code) (-?\d+)\n(?:.*\n){0,4}?Output:")


def read(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    with opened(path) as stream:
        thread = _Thread(reading)
        for line in records(stream, reading):
            yield from thread.events(line)


def read_document(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    """Read the format of early 2025: `{"session": {…}, "items": […]}`."""
    with opened(path) as stream:
        thread = _Thread(reading)
        for name, value in members(stream, reading, {"session", "items", ""}):
            if name == "session":
                thread.begin(mapping(value))
            else:
                yield from thread.events(mapping(value))


class _Thread:
    def __init__(self, reading: TranscriptReading) -> None:
        self.reading = reading
        self.session = ""
        self.agent = ""
        self.cwd = ""
        self.branch = ""

    def events(self, line: Mapping[str, Any]) -> Iterator[Event]:
        kind = string(line.get("type"))
        payload = mapping(line.get("payload"))
        place = self._place(line.get("timestamp"))
        if kind == "response_item":
            yield from self._item(payload, place)
        elif kind == "event_msg":
            yield from self._message_event(payload, place)
        elif kind == "session_meta":
            self.begin(payload)
        elif kind == "turn_context":
            self.cwd = string(payload.get("cwd")) or self.cwd
            self.reading.ignore(kind)
        elif kind == "compacted":
            yield from self.reading.message(place, ASSISTANT, string(payload.get("message")))
        elif kind in ENVELOPES:
            self.reading.ignore(kind)
        elif kind in ITEMS:
            yield from self._item(line, place)
        elif "record_type" in line:
            self.reading.ignore("state")
        elif not kind and "id" in line and "timestamp" in line:
            self.begin(line)
        else:
            self.reading.skip(f"unknown kind {kind[:40]!r}")

    def begin(self, meta: Mapping[str, Any]) -> None:
        """Take over the metadata of the session. A fork repeats that of its parents; the first is its own."""
        self.reading.ignore("session_meta")
        if self.session:
            return
        thread = identifier(meta.get("id"))
        self.session = identifier(meta.get("session_id")) or thread
        self.cwd = string(meta.get("cwd"))
        self.branch = string(mapping(meta.get("git")).get("branch"))
        source = meta.get("source")
        if isinstance(source, dict) and "subagent" in source:
            self.session = self.session if self.session != thread else _parent(meta) or thread
            self.agent = thread

    def _item(self, item: Mapping[str, Any], place: EventOrigin) -> Iterator[Event]:
        kind = string(item.get("type"))
        call = identifier(item.get("call_id")) or identifier(item.get("id"))
        if kind == "message":
            yield from self._message(string(item.get("role")), plain(item.get("content")), place)
        elif kind == "function_call":
            yield self.reading.tool_call(
                place, string(item.get("name")), arguments(item.get("arguments")), call
            )
        elif kind == "custom_tool_call":
            yield self.reading.tool_call(place, string(item.get("name")), _words(item.get("input")), call)
        elif kind == "local_shell_call":
            yield self.reading.tool_call(place, "local_shell", mapping(item.get("action")), call)
        elif kind == "web_search_call":
            yield self.reading.tool_call(place, "web_search", mapping(item.get("action")), call)
        elif kind in ("tool_search_call", "mcp_tool_call"):
            name = string(item.get("name")) or kind.removesuffix("_call")
            yield self.reading.tool_call(place, name, arguments(item.get("arguments")), call)
        elif kind.endswith("_output"):
            text, failed = _answer(item.get("output", item.get("tools")))
            yield self.reading.tool_result(place, text, call, failed)
        elif kind in ITEMS:
            self.reading.ignore(kind)
        else:
            self.reading.skip(f"unknown item {kind[:40]!r}")

    def _message(self, role: str, text: str, place: EventOrigin) -> Iterator[Event]:
        author = ASSISTANT if role == "assistant" else USER
        if self.reading.is_echo(f"item {author}", text):
            return
        self.reading.expect(f"event {author}", text)
        injected = role not in (USER, ASSISTANT) or (author == USER and bool(self.agent))
        yield from self.reading.message(place, author, text, injected=injected)

    def _message_event(self, payload: Mapping[str, Any], place: EventOrigin) -> Iterator[Event]:
        """Yield a message. Older versions write each twice, as an item and as an event, in either order."""
        kind = string(payload.get("type"))
        author = {"user_message": USER, "agent_message": ASSISTANT}.get(kind)
        text = string(payload.get("message"))
        if author is None or not text:
            self.reading.ignore(f"event {kind}".strip())
        elif not self.reading.is_echo(f"event {author}", text):
            self.reading.expect(f"item {author}", text)
            yield from self.reading.message(place, author, text, injected=author == USER and bool(self.agent))

    def _place(self, at: Any) -> EventOrigin:
        return EventOrigin(self.session, moment(at), self.cwd, self.branch, self.agent)


def _words(given: Any) -> Mapping[str, Any]:
    """Return the input of a custom tool, which is text even if it looks like JSON."""
    return {"input": given} if isinstance(given, str) else arguments(given)


def _answer(output: Any) -> tuple[str, bool | None]:
    """Return what a tool answered, unwrapped as each version needs, and whether it failed."""
    failed: bool | None = None
    if isinstance(output, str) and output.startswith("{"):
        wrapped = arguments(output)
        if isinstance(wrapped.get("output"), str) and "metadata" in wrapped:
            output = wrapped
    if isinstance(output, dict):
        code = mapping(output.get("metadata")).get("exit_code", output.get("exit_code"))
        success = output.get("success")
        if isinstance(code, int):
            failed = code != 0
        elif isinstance(success, bool):
            failed = not success
        output = output.get("output", output.get("content", output.get("stdout", "")))
    text = plain(output)
    exit_code = _EXIT.match(text)
    if failed is None and exit_code:
        failed = exit_code[1] != "0"
    return text, failed


def _parent(meta: Mapping[str, Any]) -> str:
    spawned = mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))
    return identifier(meta.get("parent_thread_id")) or identifier(spawned.get("parent_thread_id"))


def _is_record(record: Mapping[str, Any]) -> bool:
    kind = string(record.get("type"))
    return bool(
        (kind in ENVELOPES and "payload" in record)
        or {"session", "items"} <= record.keys()
        or (kind in ITEMS and (kind != "message" or _is_message(record)))
        or "record_type" in record
        or (not kind and {"id", "timestamp", "instructions"} <= record.keys())
    )


def _is_message(message: Mapping[str, Any]) -> bool:
    """Anthropic's API calls its messages so too, but names their blocks otherwise."""
    return any(
        mapping(block).get("type") in ("input_text", "output_text") for block in items(message.get("content"))
    )


def _is_member(name: str, value: Mapping[str, Any], seen: Set[str]) -> bool:
    return name == "items" and "session" in seen


def _folders(environment: Mapping[str, str], platform: str) -> Mapping[str, str]:
    return {"config": environment.get("CODEX_HOME") or "~/.codex"}


def _hook_entry(hook: Hook, command: HookCommand) -> dict[str, Any]:
    handler = {"type": "command", "command": command.line, "timeout": hook.seconds}
    return grouped_entry(hook, handler)


def _refuse(reason: str) -> dict[str, Any]:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}


def _event_key(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def _trust_key(path: str, event: str, group: int, handler: int) -> str:
    return f"{path}:{_event_key(event)}:{group}:{handler}"


def _trust_digest(event: str, entry: Mapping[str, Any]) -> str:
    """Return the digest under which Codex (0.166) trusts a hook: of what it runs and when, however it is written."""
    (handler,) = entry["hooks"]
    known = {
        "event_name": _event_key(event),
        "hooks": [{"async": False, **{name: handler[name] for name in ("command", "timeout", "type")}}],
        **({"matcher": entry["matcher"]} if entry.get("matcher") else {}),
    }
    text = json.dumps(known, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


# What decides which store is opened. Codex passes no other variables of the user's on to an MCP server.
_VARIABLES = (
    "RECOLLECT_HOME",
    "RECOLLECT_KEY",
    "RECOLLECT_KEY_FILE",
    "RECOLLECT_EMBEDDER_KEY",
    "RECOLLECT_SIDECAR_KEY",
)


def _server_entry(words: Sequence[str]) -> dict[str, Any]:
    return {**stdio_server(words), "env_vars": list(_VARIABLES)}


CODEX = Host(
    name="codex",
    title="Codex CLI",
    program="codex",
    folder="{config}",
    folders=_folders,
    user_files=HostFiles(
        hooks="{config}/hooks.json",
        mcp="{config}/config.toml",
        commands="{config}/skills",
        skill="~/.agents/skills/long-term-memory",
    ),
    project_files=HostFiles(
        hooks=".codex/hooks.json", mcp=".codex/config.toml", skill=".agents/skills/long-term-memory"
    ),
    after_install="New sessions use memory. Codex runs the hooks once you have trusted them: it asks at its next start.",
    hooks=(
        Hook(
            "SessionStart",
            HookKind.SESSION_START,
            HookReply.HOOK_OUTPUT,
            "adds the briefing",
            matcher="startup|resume|clear|compact",
        ),
        Hook(
            "UserPromptSubmit",
            HookKind.PROMPT,
            HookReply.HOOK_OUTPUT,
            "adds memories that match the prompt",
            seconds=3,
        ),
        Hook(
            "PreToolUse",
            HookKind.BEFORE_TOOL,
            HookReply.HOOK_OUTPUT,
            "holds back what a rule of yours forbids; adds a warning, if one applies",
            seconds=3,
            matcher="Bash|apply_patch",
        ),
        Hook(
            "PostToolUse",
            HookKind.AFTER_TOOL,
            HookReply.HOOK_OUTPUT,
            "records the event, adds memories about a file that was read or changed, or a known fix",
        ),
        Hook("PostToolUseFailure", HookKind.TOOL_FAILED, HookReply.HOOK_OUTPUT),
        Hook("PreCompact", HookKind.COMPACTION, summary="records the event"),
        Hook("PostCompact", HookKind.COMPACTION),
        Hook("SubagentStop", HookKind.TURN_END, summary="learns from the session in the background"),
        Hook(
            "Stop",
            HookKind.TURN_END,
            HookReply.DECISION,
            "learns from the session in the background; asks once to record what was learnt",
        ),
        Hook("SessionEnd", HookKind.SESSION_END, summary="closes the session", seconds=1),
        Hook("notify", HookKind.TURN_END),  # how older versions say that a turn is over
    ),
    hook_entry=_hook_entry,
    hook_trust=HookTrust(
        "{config}/config.toml",
        ("hooks", "state"),
        _trust_key,
        _trust_digest,
        "Start `codex` and choose *Trust all*, or review them there with `/hooks`.",
    ),
    payload_fields={
        "session": ("thread-id", "thread_id"),
        "call": ("call_id",),
        "answer": ("last-assistant-message",),
    },
    quits_silently=True,  # in a terminal: the app-server keeps the thread
    # It knows no "ask": it would run the tool and call the hook failed.
    hold_tool=ToolHold(_refuse, asks_user=False),
    continue_turn=block_stop,
    message_user=show_message,
    context_limit=8_000,  # about 2,500 tokens, beyond which the host puts it into a file
    servers_key="mcp_servers",
    reads_structured_answers=True,
    server_entry=_server_entry,
    commands=SlashCommands("skill", "/SKILL.md", ""),  # it has no slash commands of the user's any more
    briefing_format="plain",
    transcript=TranscriptFormat("codex", read, read_document, _is_record, _is_member),
    session_files=SessionFiles(
        "{config}",
        tuple(
            f"{folder}/**/rollout-*.{ending}"
            for folder in ("sessions", "archived_sessions")
            for ending in ("jsonl", "jsonl.zst", "json")
        ),
        of_session=("sessions/*/*/*/rollout-*{session}*", "archived_sessions/rollout-*{session}*"),
    ),
)
