"""Claude Code: Anthropic Messages, `claude -p`."""

import json
from collections.abc import Mapping, Sequence

from livehosts.host_cli import HostCli, Workplace
from livehosts.model_request import ModelRequest
from livehosts.reply import ModelReply
from livehosts.script import Action, CallTool, ReadFile, RunShell, Say, WriteFile

KEY = "sk-ant-scripted-00000000000000000000"
ALLOWED = ("--allowedTools", "Bash Edit Read Write")


def _prepare(place: Workplace) -> None:
    settings = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": "99.0.0",
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {
            str(place.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        },
    }
    (place.home / ".claude.json").write_text(json.dumps(settings, indent=2) + "\n")
    (place.home / ".claude").mkdir()
    (place.home / ".claude" / "settings.json").write_text(
        '{\n  "permissions": {"allow": ["Bash(ls:*)"]}\n}\n'
    )


def _environment(place: Workplace) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": place.model_url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "IS_SANDBOX": "1",
    }


def _headless(prompt: str) -> Sequence[str]:
    return ("-p", prompt, *ALLOWED)


def _resumed(prompt: str) -> Sequence[str]:
    return ("--continue", "-p", prompt, *ALLOWED)


def _calls(action: Action, request: ModelRequest) -> ModelReply:
    match action:
        case RunShell(command):
            return ModelReply(tool="Bash", arguments={"command": command, "description": "Run a command"})
        case ReadFile(path):
            return ModelReply(tool="Read", arguments={"file_path": path})
        case WriteFile(path, text):
            return ModelReply(tool="Write", arguments={"file_path": path, "content": text})
        case CallTool(name, arguments):
            return ModelReply(tool=f"mcp__recollect__{name}", arguments=arguments)
        case Say(text):
            return ModelReply(text)


CLAUDE_CODE = HostCli(
    name="claude-code",
    title="Claude Code",
    package="@anthropic-ai/claude-code",
    version="2.1.197",
    program="claude",
    setup="install.cjs",
    prepare=_prepare,
    environment=_environment,
    headless=_headless,
    resumed=_resumed,
    interactive=ALLOWED,
    calls=_calls,
    ready="← for agents",
    has_status_line=True,
    quit_keys=(("/exit",), ("Enter",)),
    warnings=(
        r"(?i)hook[^\n]*error",
        r"(?i)hook[^\n]*failed",
        r"(?i)mcp server[^\n]*failed",
        r"(?i)invalid settings",
    ),
)
