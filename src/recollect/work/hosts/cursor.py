"""Cursor: hooks in a flat list, and a rules file that carries the briefing as well."""

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
)


def _hook_entry(hook: Hook, command: HookCommand) -> dict[str, Any]:
    entry: dict[str, Any] = {"command": command.line, "timeout": hook.seconds}
    return entry | ({"matcher": hook.matcher} if hook.matcher else {})


def _refuse(reason: str) -> dict[str, Any]:
    return {"permission": "deny", "user_message": reason, "agent_message": reason}


CURSOR = Host(
    name="cursor",
    title="Cursor",
    program="cursor",
    folder="~/.cursor",
    user_files=HostFiles(
        hooks="~/.cursor/hooks.json",
        mcp="~/.cursor/mcp.json",
        commands="~/.cursor/commands",
        skill="~/.cursor/skills/long-term-memory",
    ),
    project_files=HostFiles(
        hooks=".cursor/hooks.json",
        mcp=".cursor/mcp.json",
        commands=".cursor/commands",
        skill=".cursor/skills/long-term-memory",
        rules=".cursor/rules/recollect.mdc",
        rules_header="---\ndescription: Long-term memory of this project\nalwaysApply: true\n---\n",
    ),
    hooks=(
        Hook(
            "sessionStart",
            HookKind.SESSION_START,
            HookReply.CONTEXT_FIELD,
            "adds the briefing, also to the rules file",
        ),
        Hook("beforeSubmitPrompt", HookKind.PROMPT, summary="records the event", seconds=3),
        Hook(
            "preToolUse",
            HookKind.BEFORE_TOOL,
            HookReply.DECISION,
            "holds back what a rule of yours forbids",
            seconds=3,
            matcher="Shell|Write|Delete",
        ),
        Hook(
            "postToolUse",
            HookKind.AFTER_TOOL,
            HookReply.CONTEXT_FIELD,
            "records the event; after a failure, adds a known fix",
        ),
        Hook("postToolUseFailure", HookKind.TOOL_FAILED, summary="records the event"),
        Hook("afterAgentResponse", HookKind.AGENT_MESSAGE, summary="records the event"),
        Hook("preCompact", HookKind.COMPACTION, summary="records the event"),
        Hook("subagentStop", HookKind.TURN_END, summary="learns from the session in the background"),
        Hook("stop", HookKind.TURN_END, summary="learns from the session in the background"),
        Hook("sessionEnd", HookKind.SESSION_END, summary="closes the session", seconds=2),
    ),
    hook_entry=_hook_entry,
    hook_file_keys={"version": 1},
    payload_fields={
        "session": ("conversation_id",),
        "folder": ("workspace_roots.0",),
        "output": ("result_json",),
        "call": ("execution_id",),
        "answer": ("text",),
    },
    hold_tool=ToolHold(_refuse, asks_user=False),
    servers_key="mcpServers",
    commands=SlashCommands(format="plain", arguments=""),
    session_files=SessionFiles(
        "~/.cursor",
        ("projects/*/agent-transcripts/**/*.jsonl",),
        of_session=("projects/*/agent-transcripts/{session}/{session}.jsonl",),
    ),
)
