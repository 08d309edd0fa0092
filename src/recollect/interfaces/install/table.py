"""The coding agents that can have memory: where their files are, what they call their events.

Data only, and cheap to import.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from recollect.errors import UnknownName

# Tools that change something: what a warning can still prevent.
_CLAUDE_ACTS = "Bash|PowerShell|Edit|Write|NotebookEdit"


@dataclass(frozen=True, slots=True)
class Hook:
    """An event for which the host runs `recollect hook HOST EVENT`."""

    event: str
    happens: str  # what is done then, for people
    seconds: int = 5  # the host waits at most that long
    matcher: str = ""  # empty = always
    background: bool = False  # the host need not wait at all
    injects: bool = False  # what is printed reaches the model
    replaces: bool = False  # so does a shorter output, in the place of the tool's own, if the host waits


@dataclass(frozen=True, slots=True)
class Files:
    """Where they are; empty = this host has none here. `~` and {names} are filled in by `places`."""

    hooks: str = ""
    mcp: str = ""
    commands: str = ""  # a folder
    skill: str = ""  # a folder
    rules: str = ""
    plugin: str = ""


@dataclass(frozen=True, slots=True)
class Host:
    name: str
    title: str
    program: str  # what to look for on the path
    sign: str  # the folder it has where it was ever used
    user: Files
    project: Files
    hooks: tuple[Hook, ...]
    hook_shape: str  # how an entry is written: see `entries`; none = a plugin calls us
    servers: str  # the key of its MCP servers
    server_shape: str = "plain"  # plain, typed, list
    command_shape: str = "markdown"  # markdown, plain, toml, prompt
    arguments: str = "$ARGUMENTS"  # what it puts in place of what the user typed
    renamed: tuple[tuple[str, str], ...] = ()  # commands whose names the host has taken
    after: str = "New sessions have it."  # what to know once it is installed

    def files(self, scope: str, *, covered: bool = False) -> Files:
        """`covered`: it is installed for the user, so that in a project only what a user cannot have is missing.

        Hosts add up the hooks of both: each event would be noted twice.
        """
        if scope == "user":
            return self.user
        if not covered:
            return self.project
        every = {part.name: getattr(self.project, part.name) for part in fields(Files)}
        own = {
            name: place for name, place in every.items() if name == "rules" or not getattr(self.user, name)
        }
        return Files(**own)


HOSTS = {
    host.name: host
    for host in (
        Host(
            "claude-code",
            "Claude Code",
            "claude",
            "{claude}",
            Files(
                "{claude}/settings.json",
                "{claude_json}",
                "{claude}/commands",
                "{claude}/skills/recollect",
            ),
            Files(
                ".claude/settings.local.json",
                ".mcp.json",
                ".claude/commands",
                ".claude/skills/recollect",
            ),
            (
                Hook(
                    "SessionStart", "the briefing", matcher="startup|resume|clear|compact|fork", injects=True
                ),
                Hook("UserPromptSubmit", "what bears on the prompt", 3, injects=True),
                Hook("PreToolUse", "a warning, if one fits", 3, matcher=_CLAUDE_ACTS, injects=True),
                Hook("PostToolUse", "noted", 30, matcher="*", background=True, replaces=True),
                Hook("PostToolUseFailure", "noted; a known fix", matcher="*", injects=True),
                Hook("PreCompact", "noted", matcher="manual|auto"),
                Hook("SubagentStop", "learnt from, in the background", 30, matcher="*", background=True),
                Hook("Stop", "learnt from, in the background", 30, background=True),
                Hook("SessionEnd", "the session is closed", 2),
            ),
            hook_shape="args",
            servers="mcpServers",
            server_shape="typed",
            renamed=(("memory", "recollect"),),
            after="New sessions have it. In a folder that Claude Code does not trust yet, hooks wait until it does.",
        ),
        Host(
            "codex",
            "Codex CLI",
            "codex",
            "{codex}",
            Files(
                "{codex}/hooks.json",
                "{codex}/config.toml",
                "{codex}/prompts",
                "~/.agents/skills/recollect",
            ),
            Files(".codex/hooks.json", ".codex/config.toml", "", ".agents/skills/recollect"),
            (
                Hook("SessionStart", "the briefing", matcher="startup|resume|clear|compact", injects=True),
                Hook("UserPromptSubmit", "what bears on the prompt", 3, injects=True),
                Hook("PreToolUse", "a warning, if one fits", 3, matcher="Bash|apply_patch", injects=True),
                Hook("PostToolUse", "noted; after a failure a known fix", injects=True),
                Hook("PreCompact", "noted"),
                Hook("SubagentStop", "learnt from, in the background"),
                Hook("Stop", "learnt from, in the background"),
                Hook("SessionEnd", "the session is closed", 1),
            ),
            hook_shape="grouped",
            servers="mcp_servers",
            after="New sessions have it. Codex runs the hooks once you have trusted them: it asks at its next start.",
        ),
        Host(
            "gemini",
            "Gemini CLI",
            "gemini",
            "~/.gemini",
            Files(
                "~/.gemini/settings.json",
                "~/.gemini/settings.json",
                "~/.gemini/commands",
                "~/.gemini/skills/recollect",
            ),
            Files(
                ".gemini/settings.json",
                ".gemini/settings.json",
                ".gemini/commands",
                ".gemini/skills/recollect",
            ),
            (
                Hook("SessionStart", "the briefing", injects=True),
                Hook("BeforeAgent", "what bears on the prompt", 3, injects=True),
                Hook("AfterTool", "noted; after a failure a known fix", injects=True),
                Hook("AfterAgent", "learnt from, in the background"),
                Hook("PreCompress", "noted"),
                Hook("SessionEnd", "the session is closed", 2),
            ),
            hook_shape="milliseconds",
            servers="mcpServers",
            command_shape="toml",
            arguments="{{args}}",
            renamed=(("memory", "recollect"),),
        ),
        Host(
            "opencode",
            "OpenCode",
            "opencode",
            "{opencode}",
            Files(
                "",
                "{opencode}/opencode.json",
                "{opencode}/commands",
                "{opencode}/skills/recollect",
                plugin="{opencode}/plugins/recollect.js",
            ),
            Files(
                "",
                "opencode.json",
                ".opencode/commands",
                ".opencode/skills/recollect",
                plugin=".opencode/plugins/recollect.js",
            ),
            (
                Hook("session.created", "the briefing, with the first request", injects=True),
                Hook("chat.message", "what bears on the prompt", injects=True),
                Hook("tool.execute.before", "a warning, if one fits, with the output", injects=True),
                Hook("tool.execute.after", "noted; after a failure a known fix", injects=True),
                Hook("experimental.session.compacting", "the briefing, into what is kept", injects=True),
                Hook("session.idle", "learnt from, in the background"),
                Hook("session.deleted", "the session is closed"),
            ),
            hook_shape="none",
            servers="mcp",
            server_shape="list",
        ),
        Host(
            "cursor",
            "Cursor",
            "cursor",
            "~/.cursor",
            Files(
                "~/.cursor/hooks.json",
                "~/.cursor/mcp.json",
                "~/.cursor/commands",
                "~/.cursor/skills/recollect",
            ),
            Files(
                ".cursor/hooks.json",
                ".cursor/mcp.json",
                ".cursor/commands",
                ".cursor/skills/recollect",
                ".cursor/rules/recollect.mdc",
            ),
            (
                Hook("sessionStart", "the briefing, also into the rules file", injects=True),
                Hook("beforeSubmitPrompt", "noted", 3),
                Hook("postToolUse", "noted; after a failure a known fix", injects=True),
                Hook("postToolUseFailure", "noted"),
                Hook("afterAgentResponse", "noted"),
                Hook("preCompact", "noted"),
                Hook("subagentStop", "learnt from, in the background"),
                Hook("stop", "learnt from, in the background"),
                Hook("sessionEnd", "the session is closed", 2),
            ),
            hook_shape="flat",
            servers="mcpServers",
            command_shape="plain",
            arguments="",
        ),
        Host(
            "vscode",
            "VS Code",
            "code",
            "{vscode}",
            Files(
                "",
                "{vscode}/User/mcp.json",
                "{vscode}/User/prompts",
                "~/.copilot/skills/recollect",
                "{vscode}/User/prompts/recollect.instructions.md",
            ),
            Files(
                ".github/hooks/recollect.json",
                ".vscode/mcp.json",
                ".github/prompts",
                ".github/skills/recollect",
                ".github/copilot-instructions.md",
            ),
            (
                Hook("SessionStart", "the briefing", injects=True),
                Hook("UserPromptSubmit", "what bears on the prompt", 3, injects=True),
                Hook("PreToolUse", "a warning, if one fits", 3, injects=True),
                Hook("PostToolUse", "noted; after a failure a known fix", injects=True),
                Hook("PreCompact", "noted"),
                Hook("SubagentStop", "learnt from, in the background"),
                Hook("Stop", "learnt from, in the background"),
            ),
            hook_shape="typed",
            servers="servers",
            server_shape="typed",
            command_shape="prompt",
            arguments="${input:text}",
        ),
        Host(
            "windsurf",
            "Windsurf",
            "windsurf",
            "~/.codeium/windsurf",
            Files(
                "~/.codeium/windsurf/hooks.json",
                "~/.codeium/windsurf/mcp_config.json",
                "~/.codeium/windsurf/global_workflows",
                "~/.codeium/windsurf/skills/recollect",
                "~/.codeium/windsurf/memories/global_rules.md",
            ),
            Files(
                ".windsurf/hooks.json",
                "",
                ".windsurf/workflows",
                ".windsurf/skills/recollect",
                ".windsurf/rules/recollect.md",
            ),
            (
                Hook("pre_user_prompt", "noted"),
                Hook("post_write_code", "noted"),
                Hook("post_run_command", "noted"),
                Hook("post_mcp_tool_use", "noted"),
                Hook("post_cascade_response", "learnt from, in the background; the rules file is renewed"),
            ),
            hook_shape="silent",
            servers="mcpServers",
            arguments="",
        ),
    )
}


def host_named(name: str) -> Host:
    """Raises `UnknownName`."""
    if name not in HOSTS:
        raise UnknownName("host", name, list(HOSTS))
    return HOSTS[name]


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a user's files are, and which program hosts are to run."""

    user: Path  # their home folder
    program: tuple[str, ...]  # words; the first is an absolute path
    environment: Mapping[str, str]
    platform: str = sys.platform
    shortens: bool = False  # outputs of tools: hosts must wait for what replaces them

    def place(self, template: str, root: Path) -> Path:
        """`template` filled in: from the user's home, or below `root` if it is relative."""
        path = Path(template.format_map(self._folders()))
        if path.parts[:1] == ("~",):
            path = self.user.joinpath(*path.parts[1:])
        return path if path.is_absolute() else root / path

    def _folders(self) -> dict[str, str]:
        variables = self.environment
        claude = variables.get("CLAUDE_CONFIG_DIR")
        shared = variables.get("XDG_CONFIG_HOME") or "~/.config"
        code = {
            "darwin": "~/Library/Application Support/Code",
            "win32": f"{variables.get('APPDATA') or '~/AppData/Roaming'}/Code",
        }
        return {
            "claude": claude or "~/.claude",
            "claude_json": f"{claude}/.claude.json" if claude else "~/.claude.json",
            "codex": variables.get("CODEX_HOME") or "~/.codex",
            "opencode": f"{shared}/opencode",
            "vscode": code.get(self.platform, f"{shared}/Code"),
        }


def this_machine() -> Machine:
    from recollect.config import expand_home, load_settings  # slow, and the table is asked for often

    shortens = load_settings().prune_output > 0  # as the hooks will find it, whatever home we were given
    return Machine(expand_home("~"), running_program(), os.environ, shortens=shortens)


def running_program() -> tuple[str, ...]:
    """How to start this very Recollect from anywhere: the script beside the interpreter, else the interpreter."""
    beside = Path(sys.executable).absolute().with_name("recollect.exe" if os.name == "nt" else "recollect")
    return (str(beside),) if beside.is_file() else (sys.executable, "-P", "-m", "recollect")
