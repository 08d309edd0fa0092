"""What the tools of hosts do, and where their inputs have a command, a path or a text.

Events keep the hosts' own tool names; other code asks here what a tool does. To add a tool, add its name.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from recollect.work.transcripts.event import Event

RUN = "run"
EDIT = "edit"
WRITE = "write"
READ = "read"
SEARCH = "search"
WEB = "web"
OTHER = "other"

# Claude Code, Codex, Gemini CLI, OpenCode, Cursor, VS Code, OpenHands, SWE-agent, aider.
_TOOLS = {
    RUN: """
        Bash PowerShell shell shell_command local_shell container.exec exec_command run_shell_command Shell
        run_terminal_cmd run_terminal_command run_in_terminal bash run run_ipython execute_bash execute_ipython_cell
        /run /test /git
    """,
    EDIT: """
        Edit MultiEdit NotebookEdit apply_patch replace StrReplace edit_file search_replace edit patch
        multiedit insert replace_string_in_file insert_edit_into_file
    """,
    WRITE: "Write write_file write create create_file",
    READ: "Read NotebookRead read_file read_many_files view_image read open ReadFile",
    SEARCH: """
        Glob Grep LS grep_files list_dir list_directory glob search_file_content grep_search grep list
        codebase_search file_search find_file search_dir search_file
    """,
    WEB: "WebFetch WebSearch web_search web_fetch google_web_search webfetch websearch browse browser fetch /web",
}
FAMILIES = {tool: family for family, tools in _TOOLS.items() for tool in tools.split()}

# These tools do several things: the input's `command` says which.
_EDITORS = {"str_replace_editor", "str_replace_based_edit_tool", "edit_anthropic"}
_EDITOR_COMMANDS = {"view": READ, "create": WRITE, "str_replace": EDIT, "insert": EDIT, "undo_edit": EDIT}

# Names in the input, likeliest first.
_COMMAND = ("command", "cmd", "code")
_PATH = ("file_path", "path", "filePath", "notebook_path", "target_file", "filename", "dir_path")
_TEXT = ("new_string", "new_str", "newString", "content", "file_text", "new_source", "code_edit", "text")
_PATCH = ("input", "patch", "patchText", "command")  # the last one in the hooks of Codex

# As hosts name the tools of our MCP server: mcp__recollect__x, mcp__plugin_recollect_recollect__x, mcp_recollect_x, recollect_x.
_OURS = re.compile(r"(?:mcp_+)?(?:plugin_recollect_)?recollect(?:_+|[.:/-])\w+")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*\S)[ \t\r]*$", re.MULTILINE)
_SHELLS = {"bash", "sh", "zsh", "dash", "fish", "cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh"}


def family_of(event: Event) -> str:
    """Return `run`, `edit`, `write`, `read`, `search`, `web` or `other`; for a result, by its tool's name alone."""
    if event.tool in _EDITORS:
        return _EDITOR_COMMANDS.get(str(event.input.get("command")), OTHER)
    family = FAMILIES.get(event.tool, OTHER)
    return EDIT if family == RUN and _patch_of(event) is not None else family


def is_ours(event: Event) -> bool:
    """Return whether it is a tool of Recollect itself."""
    return _OURS.fullmatch(event.tool) is not None


def command_of(event: Event) -> str | None:
    """Return the command line that a call ran, without the shell around it; None for other tools."""
    if FAMILIES.get(event.tool) != RUN:
        return None
    for key in _COMMAND:
        given = event.input.get(key)
        if isinstance(given, str):
            return given
        if isinstance(given, list) and given and all(isinstance(word, str) for word in given):
            return _command_line(given)
    return None


def path_of(event: Event) -> str | None:
    """Return the file that a call is about, the first of several; None if there is none."""
    return next(iter(paths_of(event)), None)


def paths_of(event: Event) -> tuple[str, ...]:
    """Return every file or searched folder that a call is about, as the host names it. A patch names its files itself."""
    patch = _patch_of(event)
    if patch is not None:
        return tuple(dict.fromkeys(_PATCHED.findall(patch)))
    if family_of(event) not in (EDIT, WRITE, READ, SEARCH):
        return ()
    path = _first(event, _PATH)
    return (path,) if path else ()


def text_of(event: Event) -> str | None:
    """Return what a call wrote into a file: the new text, or the patch; None for other tools."""
    patch = _patch_of(event)
    if patch is not None:
        return patch
    return _first(event, _TEXT) if family_of(event) in (EDIT, WRITE) else None


def _patch_of(event: Event) -> str | None:
    if event.tool in ("apply_patch", "patch"):
        return _first(event, _PATCH)
    # Codex before 2026 sent its patches through the shell.
    command = command_of(event)
    if command is not None and command.startswith("apply_patch") and "*** Begin Patch" in command:
        return command
    return None


def _first(event: Event, keys: Iterable[str]) -> str | None:
    return next((given for key in keys if isinstance(given := event.input.get(key), str)), None)


def _command_line(words: list[str]) -> str:
    shell = words[0].replace("\\", "/").rpartition("/")[2].lower()
    if len(words) == 3 and shell in _SHELLS and words[1].startswith(("-", "/")):
        return words[2]
    if words[0] == "apply_patch":
        return "\n".join(words)
    return shlex.join(words)
