"""VS Code: hooks in a project only, prompt files instead of slash commands."""

from collections.abc import Mapping
from typing import Any

from recollect.work.hosts.host import (
    Hook,
    HookCommand,
    HookKind,
    HookReply,
    Host,
    HostFiles,
    SlashCommands,
    ToolHold,
    ask_permission,
    typed_stdio_server,
)


def _folders(environment: Mapping[str, str], platform: str) -> Mapping[str, str]:
    shared = environment.get("XDG_CONFIG_HOME") or "~/.config"
    folders = {
        "darwin": "~/Library/Application Support/Code",
        "win32": f"{environment.get('APPDATA') or '~/AppData/Roaming'}/Code",
    }
    return {"config": folders.get(platform, f"{shared}/Code")}


def _hook_entry(hook: Hook, command: HookCommand) -> dict[str, Any]:
    return {"type": "command", "command": command.line, "timeout": hook.seconds}


VSCODE = Host(
    name="vscode",
    title="VS Code",
    program="code",
    folder="{config}",
    folders=_folders,
    user_files=HostFiles(
        mcp="{config}/User/mcp.json",
        commands="{config}/User/prompts",
        skill="~/.copilot/skills/long-term-memory",
        rules="{config}/User/prompts/recollect.instructions.md",
        rules_header='---\napplyTo: "**"\n---\n',
    ),
    project_files=HostFiles(
        hooks=".github/hooks/recollect.json",
        mcp=".vscode/mcp.json",
        commands=".github/prompts",
        skill=".github/skills/long-term-memory",
        rules=".github/copilot-instructions.md",
    ),
    hooks=(
        Hook("SessionStart", HookKind.SESSION_START, HookReply.HOOK_OUTPUT, "adds the briefing"),
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
        Hook("Stop", HookKind.TURN_END, summary="learns from the session in the background"),
        Hook("SessionEnd", HookKind.SESSION_END),
    ),
    hook_entry=_hook_entry,
    payload_fields={"session": ("sessionId",), "call": ("call_id",)},
    hold_tool=ToolHold(ask_permission, asks_user=True),
    servers_key="servers",
    server_entry=typed_stdio_server,
    client_names=("visual-studio-code",),
    commands=SlashCommands(suffix=".prompt.md", arguments="${input:text}"),
)
