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
)


def _hook_entry(hook: Hook, command: HookCommand) -> dict[str, Any]:
    entry: dict[str, Any] = {"command": command.line, "timeout": hook.seconds}
    return entry | ({"matcher": hook.matcher} if hook.matcher else {})


CURSOR = Host(
    name="cursor",
    title="Cursor",
    program="cursor",
    folder="~/.cursor",
    user_files=HostFiles(
        hooks="~/.cursor/hooks.json",
        mcp="~/.cursor/mcp.json",
        commands="~/.cursor/commands",
        skill="~/.cursor/skills/recollect",
    ),
    project_files=HostFiles(
        hooks=".cursor/hooks.json",
        mcp=".cursor/mcp.json",
        commands=".cursor/commands",
        skill=".cursor/skills/recollect",
        rules=".cursor/rules/recollect.mdc",
        rules_header="---\ndescription: Long-term memory of this project\nalwaysApply: true\n---\n",
    ),
    hooks=(
        Hook(
            "sessionStart",
            HookKind.SESSION_START,
            HookReply.CONTEXT_FIELD,
            "the briefing, also into the rules file",
        ),
        Hook("beforeSubmitPrompt", HookKind.PROMPT, summary="recorded", seconds=3),
        Hook("preToolUse", HookKind.BEFORE_TOOL),
        Hook(
            "postToolUse",
            HookKind.AFTER_TOOL,
            HookReply.CONTEXT_FIELD,
            "recorded; after a failure, a known fix",
        ),
        Hook("postToolUseFailure", HookKind.TOOL_FAILED, summary="recorded"),
        Hook("afterAgentResponse", HookKind.AGENT_MESSAGE, summary="recorded"),
        Hook("preCompact", HookKind.COMPACTION, summary="recorded"),
        Hook("subagentStop", HookKind.TURN_END, summary="learned from in the background"),
        Hook("stop", HookKind.TURN_END, summary="learned from in the background"),
        Hook("sessionEnd", HookKind.SESSION_END, summary="the session is closed", seconds=2),
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
    servers_key="mcpServers",
    commands=SlashCommands(format="plain", arguments=""),
    session_files=SessionFiles("~/.cursor", ("projects/*/agent-transcripts/**/*.jsonl",)),
)
