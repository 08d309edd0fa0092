"""OpenCode: chat completions, `opencode run`."""

import json
from collections.abc import Mapping, Sequence

from livehosts.host_cli import HostCli, Workplace
from livehosts.model_request import ModelRequest
from livehosts.reply import ModelReply
from livehosts.script import Action, CallTool, ReadFile, RunShell, Say, WriteFile


def _prepare(place: Workplace) -> None:
    folder = place.home / ".config" / "opencode"
    folder.mkdir(parents=True)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "A scripted model",
        "options": {"baseURL": f"{place.model_url}/v1", "apiKey": "scripted"},
        "models": {"scripted": {"name": "Scripted", "limit": {"context": 200000, "output": 8000}}},
    }
    settings = {
        "$schema": "https://opencode.ai/config.json",
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"scripted": provider},
    }
    (folder / "opencode.json").write_text(json.dumps(settings, indent=2) + "\n")


def _environment(place: Workplace) -> Mapping[str, str]:
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }


def _headless(prompt: str) -> Sequence[str]:
    return ("run", prompt)


def _resumed(prompt: str) -> Sequence[str]:
    return ("run", "--continue", prompt)


def _calls(action: Action, request: ModelRequest) -> ModelReply:
    match action:
        case RunShell(command):
            return ModelReply(tool="bash", arguments={"command": command, "description": "Run a command"})
        case ReadFile(path):
            return ModelReply(tool="read", arguments={"filePath": path})
        case WriteFile(path, text):
            return ModelReply(tool="write", arguments={"filePath": path, "content": text})
        case CallTool(name, arguments):
            return ModelReply(tool=request.tool_named(name) or name, arguments=arguments)
        case Say(text):
            return ModelReply(text)


OPENCODE = HostCli(
    name="opencode",
    title="OpenCode",
    package="opencode-ai",
    version="1.18.33",
    program="opencode",
    setup="postinstall.mjs",
    primed=tuple(
        f".config/opencode/{name}"
        for name in ("node_modules", "package.json", "package-lock.json", ".gitignore")
    ),
    database=".local/share/opencode/opencode.db",
    prepare=_prepare,
    environment=_environment,
    headless=_headless,
    resumed=_resumed,
    calls=_calls,
    ready="Ask anything",
    completing_key="Tab",
    quit_keys=(("/exit",), ("Enter",)),
    limits={
        "session-ended": "OpenCode sends no event when its user quits; the session is closed before the next briefing.",
        "glance": "OpenCode shows its user nothing that a plugin returns.",
        "nudge": "`opencode run` exits at the end of the turn; asked in a terminal only.",
    },
    warnings=(r"(?i)plugin[^\n]*(error|failed)", r"(?i)mcp[^\n]*(failed|error)"),
)
