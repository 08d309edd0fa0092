"""Claude Code: its transcripts, then what else we know about it (`CLAUDE_CODE`).

A transcript is `~/.claude/projects/<folder>/<session>.jsonl`, one JSON object per line. It is read in the order of the
file: a rewound branch happened too. The format is undocumented and changes, so no field is trusted to be there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
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
    StatusLine,
    ToolHold,
    ToolPermissions,
    ask_permission,
    grouped_entry,
    show_message,
    typed_stdio_server,
)
from recollect.work.transcripts.document import members
from recollect.work.transcripts.event import ASSISTANT, USER, Event
from recollect.work.transcripts.fields import mapping, moment, plain, string
from recollect.work.transcripts.lines import opened, records
from recollect.work.transcripts.messages import content_events
from recollect.work.transcripts.reading import EventOrigin, TranscriptFormat, TranscriptReading

# Lines that the host writes for itself.
BOOKKEEPING = set(
    """
    progress file-history-snapshot summary last-prompt ai-title custom-title agent-name agent-color agent-setting
    permission-mode pr-link tag mode worktree-state content-replacement attribution-snapshot speculation-accept
    started result marble-origami-commit marble-origami-snapshot task-summary bridge-session
    """.split()
)
_COMMAND = re.compile(r"<command-name>((?:(?!<command-name>).)*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>((?:(?!<command-args>).)*?)</command-args>", re.DOTALL)
_TYPED = re.compile(r"\s*<bash-input>(.*?)</bash-input>\s*", re.DOTALL)
# How the host marks a call that the user refused, and where the user's words begin, if there are any. A tool can print the text
# of the answer, but not these marks.
_REJECTED = "User rejected tool use"
_DENIED_BY_USER = "user-rejected"  # since 2.1.198, where the answer is repeated with the user's words
_REASON = re.compile(r"the user said:|the following reason for the rejection:")
_NOTE = "\n\nNote: The user's next message"  # of the host to its model, after the user's words
_PRINTED = re.compile(r"<bash-std(?:out|err)>((?:(?!<bash-std).)*?)</bash-std(?:out|err)>", re.DOTALL)


def read(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    with opened(path) as stream:
        session = _ClaudeSession(reading)
        for line in records(stream, reading):
            yield from session.events(line)


def read_document(path: Path, reading: TranscriptReading) -> Iterator[Event]:
    """Read the same lines from one JSON list."""
    with opened(path) as stream:
        session = _ClaudeSession(reading)
        for _, line in members(stream, reading, {""}):
            yield from session.events(mapping(line))


class _ClaudeSession:
    def __init__(self, reading: TranscriptReading) -> None:
        self.reading = reading
        self.session = ""
        self.seen: set[int] = set()  # a resumed session may repeat its lines; a hash is enough to know one
        self.sidechains: dict[str, str] = {}  # line of a sub-agent → the line it began with
        self.typed = ""  # id of the command that the person ran, until its output comes

    def events(self, line: Mapping[str, Any]) -> Iterator[Event]:
        kind = string(line.get("type"))
        uuid = string(line.get("uuid"))
        if uuid and kind in (USER, ASSISTANT):
            key = hash((uuid, repr(line.get("message"))))
            if key in self.seen:
                self.reading.ignore("repeated")
                return
            self.seen.add(key)
        if kind in (USER, ASSISTANT):
            yield from self._message(line)
        elif kind == "queue-operation":
            yield from self._queued(line)
        elif kind == "attachment":
            yield from self._attached(line)
        elif kind == "system":
            yield from self._system(line)
        elif kind in BOOKKEEPING:
            self.reading.ignore(kind)
        else:
            self.reading.skip(f"unknown kind {kind[:40]!r}")

    def _message(self, line: Mapping[str, Any]) -> Iterator[Event]:
        message = mapping(line.get("message"))
        if "content" not in message:
            self.reading.skip("a message without content")
            return
        place = self._place(line)
        content = message["content"]
        if line["type"] == ASSISTANT:
            made_up = bool(line.get("isApiErrorMessage")) or message.get("model") == "<synthetic>"
            yield from content_events(content, ASSISTANT, place, self.reading, injected=made_up)
            return
        words = _only_text(content)
        if words is not None and line.get("isCompactSummary"):
            yield from self.reading.message(place, ASSISTANT, words)  # the model wrote it for itself
            return
        injected = bool(line.get("isMeta") or place.agent)
        if words is not None and not injected:
            yield from self._words(words, place)
            return
        for event in content_events(
            content, USER, place, self.reading, injected=injected, spare=_result(line.get("toolUseResult"))
        ):
            # The host reports a failure, and says nothing about a success.
            yield replace(event, failed=bool(event.failed)) if event.is_answer else event
            if event.is_answer and _is_refused(line) and not place.agent:
                yield from self.reading.message(place, USER, _words_of_refusal(event.text))

    def _words(self, text: str, place: EventOrigin) -> Iterator[Event]:
        """Yield what the person typed, without the tags that the host puts around it."""
        wrapped = text.lstrip().startswith(("<command-name>", "<command-message>"))
        if typed := _TYPED.fullmatch(text):
            self.typed = f"typed-{self.reading.line}"
            yield self.reading.tool_call(place, "Bash", {"command": typed[1]}, self.typed, author=USER)
        elif self.typed and text.startswith(("<bash-stdout>", "<bash-stderr>")):
            printed = "\n".join(filter(None, _PRINTED.findall(text)))
            yield self.reading.tool_result(place, printed, self.typed, None)
            self.typed = ""
        else:
            if wrapped and (command := _COMMAND.search(text)):
                given = _ARGUMENTS.search(text)
                text = f"/{command[1].strip().removeprefix('/')} {given[1].strip() if given else ''}".strip()
            if not self.reading.is_echo(USER, text):
                yield from self.reading.message(place, USER, text)

    def _queued(self, line: Mapping[str, Any]) -> Iterator[Event]:
        """Yield a prompt typed while the agent was busy. Some versions write it nowhere else, some again when it is used."""
        text = string(line.get("content"))
        if line.get("operation") != "enqueue" or not text:
            self.reading.ignore("queue-operation")
        else:
            self.reading.expect(USER, text)
            yield from self.reading.message(self._place(line), USER, text)

    def _attached(self, line: Mapping[str, Any]) -> Iterator[Event]:
        attachment = mapping(line.get("attachment"))
        kind = string(attachment.get("type"))
        if kind == "queued_command":
            text = plain(attachment.get("prompt"))
            if not self.reading.is_echo(USER, text):
                yield from self.reading.message(self._place(line), USER, text)
        elif kind == "hook_additional_context":
            text = plain(attachment.get("content"))
            yield from self.reading.message(self._place(line), USER, text, injected=True)
        else:
            self.reading.ignore(f"attachment {kind}".strip())

    def _system(self, line: Mapping[str, Any]) -> Iterator[Event]:
        text = string(line.get("content"))
        if line.get("subtype") == "local_command" and text:
            yield from self._words(text, self._place(line))
        else:
            self.reading.ignore(f"system {string(line.get('subtype'))}".strip())

    def _place(self, line: Mapping[str, Any]) -> EventOrigin:
        self.session = string(line.get("sessionId")) or self.session
        return EventOrigin(
            session=self.session,
            at=moment(line.get("timestamp")),
            cwd=string(line.get("cwd")),
            branch=string(line.get("gitBranch")),
            agent=self._agent(line),
        )

    def _agent(self, line: Mapping[str, Any]) -> str:
        """Return the sub-agent's id. Older versions only link its lines; then the first line's id is used."""
        if not line.get("isSidechain"):
            return ""
        if agent := string(line.get("agentId")):
            return agent
        uuid, parent = string(line.get("uuid")), string(line.get("parentUuid"))
        agent = self.sidechains.get(parent) or uuid or "sidechain"
        if uuid:
            self.sidechains[uuid] = agent
        return agent


def _only_text(content: Any) -> str | None:
    """Return the text of content that is nothing else; otherwise None."""
    if isinstance(content, list) and len(content) == 1:
        content = content[0]
    if isinstance(content, dict) and content.get("type") == "text":
        content = content.get("text")
    return content if isinstance(content, str) else None


def _result(result: Any) -> str:
    if isinstance(result, dict):
        printed = (string(result.get(key)) for key in ("stdout", "stderr"))
        return "\n".join(filter(None, printed))
    return string(result)


_KINDS = {"user", "assistant", "system", "queue-operation", "attachment"} | BOOKKEEPING


def _is_record(record: Mapping[str, Any]) -> bool:
    return string(record.get("type")) in _KINDS and bool(
        record.keys() & {"uuid", "sessionId", "leafUuid", "messageId"}
    )


# The tools that change something: what a warning can still prevent.
_CHANGING_TOOLS = "Bash|PowerShell|Edit|Write|NotebookEdit"


def _folders(environment: Mapping[str, str], platform: str) -> Mapping[str, str]:
    config = environment.get("CLAUDE_CONFIG_DIR")
    return {
        "config": config or "~/.claude",
        "state": f"{config}/.claude.json" if config else "~/.claude.json",
    }


def _hook_entry(hook: Hook, command: HookCommand) -> dict[str, Any]:
    handler: dict[str, Any] = {"type": "command", "command": command.line, "timeout": hook.seconds}
    if hook.background:
        handler["async"] = True
    return grouped_entry(hook, handler)


def _replace_output(response: Any, shorten: Callable[[Any], Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": shorten(response)}}


def _continue_turn(request: str) -> dict[str, Any]:
    """Return the output of the hook of a turn's end that lets the agent go on. `decision: block` would be shown as an error."""
    return {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": request}}


CLAUDE_CODE = Host(
    name="claude-code",
    title="Claude Code",
    program="claude",
    folder="{config}",
    folders=_folders,
    user_files=HostFiles(
        hooks="{config}/settings.json",
        mcp="{state}",
        commands="{config}/commands",
        skill="{config}/skills/long-term-memory",
    ),
    project_files=HostFiles(
        hooks=".claude/settings.local.json",
        mcp=".mcp.json",
        commands=".claude/commands",
        skill=".claude/skills/long-term-memory",
    ),
    after_install="New sessions use memory. In a folder that you have not trusted in Claude Code yet, hooks do not run.",
    hooks=(
        Hook(
            "SessionStart",
            HookKind.SESSION_START,
            HookReply.HOOK_OUTPUT,
            "adds the briefing",
            matcher="startup|resume|clear|compact|fork",
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
            "asks you first if a rule of yours forbids it; adds a warning, if one applies",
            seconds=3,
            matcher=_CHANGING_TOOLS,
        ),
        Hook(
            "PostToolUse",
            HookKind.AFTER_TOOL,
            HookReply.HOOK_OUTPUT,
            "records the event, adds memories about a file that was read or changed",
            matcher="*",
        ),
        Hook(
            "PostToolUseFailure",
            HookKind.TOOL_FAILED,
            HookReply.HOOK_OUTPUT,
            "records the event, adds a known fix",
            matcher="*",
        ),
        Hook("PreCompact", HookKind.COMPACTION, summary="records the event", matcher="manual|auto"),
        Hook("PostCompact", HookKind.COMPACTION),
        Hook(
            "SubagentStop",
            HookKind.TURN_END,
            summary="learns from the session in the background",
            seconds=30,
            matcher="*",
            background=True,
        ),
        # The host waits for it: `claude -p` ends hooks that it does not wait for, and then no session ends.
        Hook(
            "Stop",
            HookKind.TURN_END,
            HookReply.DECISION,
            "learns from the session in the background; asks once to record what was learnt",
        ),
        Hook("SessionEnd", HookKind.SESSION_END, summary="closes the session", seconds=2),
        Hook("StatusLine", HookKind.STATUS_LINE, HookReply.TEXT),
    ),
    hook_entry=_hook_entry,
    bundle_keys="enabledPlugins",
    reports_failures=True,
    hold_tool=ToolHold(ask_permission, asks_user=True),
    continue_turn=_continue_turn,
    message_user=show_message,
    replace_output=_replace_output,
    servers_key="mcpServers",
    reads_structured_answers=True,
    server_entry=typed_stdio_server,
    tool_permissions=ToolPermissions(
        user="{config}/settings.json",
        project=".claude/settings.local.json",
        keys=("permissions", "allow"),
        name="mcp__recollect__{tool}",
    ),
    status_line=StatusLine(
        "StatusLine", "statusLine", lambda command: {"type": "command", "command": command.line}
    ),
    commands=SlashCommands(front_matter=True, renamed={"memory": "recollect"}),
    briefing_format="xml",
    transcript=TranscriptFormat("claude-code", read, read_document, _is_record),
    # The files of sub-agents are found too: their events name the session they belong to.
    session_files=SessionFiles(
        "{config}",
        ("projects/*/*.jsonl", "projects/*/*/subagents/*.jsonl"),
        of_session=("projects/*/{session}.jsonl",),
    ),
)


def _is_refused(line: Mapping[str, Any]) -> bool:
    return line.get("toolUseResult") == _REJECTED or line.get("toolDenialKind") == _DENIED_BY_USER


def _words_of_refusal(answer: str) -> str:
    """Return what the user said when they refused a call, without what the host adds; "" if they said nothing."""
    reason = _REASON.search(answer)
    return answer[reason.end() :].partition(_NOTE)[0].strip() if reason else ""
