"""Windsurf: its hooks cannot add to a prompt, so memory comes by a rules file and by the MCP tools."""

from typing import Any

from recollect.work.hosts.host import Hook, HookCommand, HookKind, Host, HostFiles, SlashCommands


def _hook_entry(hook: Hook, command: HookCommand) -> dict[str, Any]:
    return {"command": command.line, "show_output": False}


WINDSURF = Host(
    name="windsurf",
    title="Windsurf",
    program="windsurf",
    folder="~/.codeium/windsurf",
    user_files=HostFiles(
        hooks="~/.codeium/windsurf/hooks.json",
        mcp="~/.codeium/windsurf/mcp_config.json",
        commands="~/.codeium/windsurf/global_workflows",
        skill="~/.codeium/windsurf/skills/long-term-memory",
        rules="~/.codeium/windsurf/memories/global_rules.md",
    ),
    project_files=HostFiles(
        hooks=".windsurf/hooks.json",
        commands=".windsurf/workflows",
        skill=".windsurf/skills/long-term-memory",
        rules=".windsurf/rules/recollect.md",
        rules_header="---\ntrigger: always_on\n---\n",
    ),
    hooks=(
        Hook("pre_user_prompt", HookKind.PROMPT, summary="records the event"),
        Hook("post_write_code", HookKind.AFTER_TOOL, summary="records the event", tool="edit_file"),
        Hook("post_run_command", HookKind.AFTER_TOOL, summary="records the event", tool="run_terminal_cmd"),
        Hook("post_mcp_tool_use", HookKind.AFTER_TOOL, summary="records the event"),
        Hook(
            "post_cascade_response",
            HookKind.TURN_END,
            summary="learns from the session in the background, updates the rules file",
        ),
    ),
    hook_entry=_hook_entry,
    payload_fields={
        "event": ("agent_action_name",),
        "session": ("trajectory_id",),
        "folder": ("tool_info.cwd",),
        "prompt": ("tool_info.user_prompt",),
        "tool": ("tool_info.mcp_tool_name",),
        "input": ("tool_info.mcp_tool_arguments",),
        "output": ("tool_info.mcp_result",),
        "call": ("execution_id",),
        "answer": ("tool_info.response",),
    },
    input_names={"command_line": "command"},
    servers_key="mcpServers",
    commands=SlashCommands(arguments=""),
)
