"""Codex: OpenAI Responses, `codex exec`."""

from collections.abc import Mapping, Sequence

from livehosts.host_cli import HostCli, Workplace
from livehosts.model_request import ModelRequest
from livehosts.reply import ModelReply
from livehosts.script import Action, CallTool, ReadFile, RunShell, Say, WriteFile

# Hooks run once their user has trusted them, in a dialog of the terminal interface. Headless runs pass the flag instead.
TRUSTED = ("--dangerously-bypass-hook-trust",)


def _prepare(place: Workplace) -> None:
    folder = place.home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(
        f"""model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.scripted]
name = "A scripted model"
base_url = "{place.model_url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"

[projects."{place.project}"]
trust_level = "trusted"
"""
    )


def _environment(place: Workplace) -> Mapping[str, str]:
    return {"SCRIPTED_API_KEY": "scripted"}


def _headless(prompt: str) -> Sequence[str]:
    return ("exec", *TRUSTED, prompt)


def _resumed(prompt: str) -> Sequence[str]:
    return ("exec", *TRUSTED, "resume", "--last", prompt)


def _calls(action: Action, request: ModelRequest) -> ModelReply:
    match action:
        case RunShell(command):
            return _shell(command, request)
        case ReadFile(path):
            return _shell(f"cat {path}", request)
        case WriteFile(path, text):
            return _shell(f"cat > {path} <<'END'\n{text.rstrip()}\nEND", request)
        case CallTool(name, arguments):
            if not request.tool_named(name) and request.tool_named("tool_search"):
                return ModelReply(tool="tool_search", arguments={"query": f"recollect {name}"})
            return ModelReply(tool=request.tool_named(name) or name, arguments=arguments)
        case Say(text):
            return ModelReply(text)


def _shell(command: str, request: ModelRequest) -> ModelReply:
    name = request.tool_named("shell_command", "exec_command", "shell")
    if name == "exec_command":
        return ModelReply(tool=name, arguments={"cmd": command})
    if name == "shell":
        return ModelReply(tool=name, arguments={"command": ["bash", "-lc", command]})
    return ModelReply(tool=name or "shell_command", arguments={"command": command})


CODEX = HostCli(
    name="codex",
    title="Codex",
    package="@openai/codex",
    version="0.166.0",
    program="codex",
    prepare=_prepare,
    environment=_environment,
    headless=_headless,
    resumed=_resumed,
    calls=_calls,
    ready="Ask Codex to do anything",
    dialogs={
        "Hooks need review": ("2", "Enter"),
        "t trust all": ("t", "Escape"),  # the list behind the first, which opens if its keys come too early
        "Use existing model": ("2", "Enter"),
    },
    slash="$",  # its commands are skills
    quit_keys=(("/quit",), ("Enter",)),
    limits={
        "session-ended-tui": "In a terminal, Codex sends no SessionEnd when its user quits, and its app-server goes on; the "
        "session is closed before the next briefing.",
    },
    warnings=(
        r"(?i)hook[^\n]*(error|failed)",
        r"(?i)mcp[^\n]*(failed|error)",
        r"(?i)\bwarning: (?!`--dangerously)",
    ),
)
