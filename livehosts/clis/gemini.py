"""Gemini CLI: generateContent, `gemini -p`."""

import json
from collections.abc import Mapping, Sequence

from livehosts.host_cli import HostCli, Workplace
from livehosts.model_request import ModelRequest
from livehosts.reply import ModelReply
from livehosts.script import Action, CallTool, ReadFile, RunShell, Say, WriteFile

COMMON = ("--approval-mode", "yolo", "--skip-trust", "-m", "gemini-2.5-pro")


def _prepare(place: Workplace) -> None:
    folder = place.home / ".gemini"
    folder.mkdir()
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "ui": {"theme": "Default", "hideTips": True, "showHomeDirectoryWarning": False},
    }
    (folder / "settings.json").write_text(json.dumps(settings, indent=2))
    (folder / "trustedFolders.json").write_text(json.dumps({str(place.project): "TRUST_FOLDER"}))


def _environment(place: Workplace) -> Mapping[str, str]:
    return {"GOOGLE_GEMINI_BASE_URL": place.model_url, "GEMINI_API_KEY": "scripted", "NO_BROWSER": "1"}


def _headless(prompt: str) -> Sequence[str]:
    return (*COMMON, "-p", prompt)


def _resumed(prompt: str) -> Sequence[str]:
    return (*COMMON, "--resume", "latest", "-p", prompt)


def _calls(action: Action, request: ModelRequest) -> ModelReply:
    match action:
        case RunShell(command):
            return ModelReply(tool="run_shell_command", arguments={"command": command})
        case ReadFile(path):
            return ModelReply(tool="read_file", arguments={"file_path": path})
        case WriteFile(path, text):
            return ModelReply(tool="write_file", arguments={"file_path": path, "content": text})
        case CallTool(name, arguments):
            return ModelReply(tool=request.tool_named(name) or name, arguments=arguments)
        case Say(text):
            return ModelReply(text)


GEMINI = HostCli(
    name="gemini",
    title="Gemini CLI",
    package="@google/gemini-cli",
    version="0.61.0",
    program="gemini",
    prepare=_prepare,
    environment=_environment,
    headless=_headless,
    resumed=_resumed,
    interactive=COMMON,
    calls=_calls,
    compact="/compress",
    ready="Type your message",
    quit_keys=(("/quit",), ("Enter",)),
    warnings=(
        r"(?i)hook[^\n]*(error|failed)",
        r"(?i)mcp[^\n]*(failed|error)",
        r"(?i)conflict",
        r"(?i)invalid",
    ),
)
