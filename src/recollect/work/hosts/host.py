"""What there is to know about a coding agent: the classes that each host's file fills in.

All of it is data and pure functions. Installing is the work of `interfaces.install`, answering hooks that of
`interfaces.daemon`; both ask the host's row instead of its name.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from recollect.frozen import frozen
from recollect.work.transcripts.reading import TranscriptFormat

CONTEXT_LIMIT = 10_000  # characters: the cap of Claude Code


class HookKind(StrEnum):
    """What an event of a host means to Recollect."""

    SESSION_START = "start"  # or a session goes on after a compaction: time for the briefing
    PROMPT = "prompt"
    BEFORE_TOOL = "before"
    AFTER_TOOL = "after"
    TOOL_FAILED = "failed"
    AGENT_MESSAGE = "said"
    COMPACTION = "compacting"  # the agent forgets what it was shown
    TURN_END = "turn"  # the agent or a sub-agent has finished
    SESSION_END = "end"
    STATUS_LINE = "status"  # the host draws its status line: nothing happened


class HookReply(StrEnum):
    """How what a hook prints reaches the model."""

    NONE = "silent"  # it does not
    HOOK_OUTPUT = "claude"  # {"hookSpecificOutput": {"hookEventName": …, "additionalContext": …}}
    CONTEXT_FIELD = "cursor"  # {"additional_context": …}
    TEXT = "text"  # as plain text, for a plugin of ours
    DECISION = "decision"  # only what the host is to do; a text waits for the next hook that can show it


@frozen
class Hook:
    """An event of a host, and what Recollect does when the host runs `recollect hook HOST EVENT` for it."""

    # The host's own name. One that spells SessionStart in any case, with or without `_`, gets the longer deadline of `hooks.program`.
    event: str
    kind: HookKind
    reply: HookReply = HookReply.NONE
    summary: str = ""  # what happens then, as the host's page says; empty = understood, but not installed
    seconds: int = 5  # the host waits at most that long
    matcher: str = ""  # tools or causes that the host calls the hook for; empty = all
    background: bool = False  # the host does not wait for the hook
    tool: str = ""  # the tool that the event is about, where only the event's name says so

    @property
    def is_installed(self) -> bool:
        return bool(self.summary)

    @property
    def injects(self) -> bool:
        """Whether the text that the hook prints reaches the model."""
        return self.reply not in (HookReply.NONE, HookReply.DECISION) and not self.background


@frozen
class HookCommand:
    """The command that a host runs for an event."""

    words: tuple[str, ...]
    line: str  # for the platform's shell; it does nothing if the program is gone


@frozen
class ToolHold:
    """How a hook keeps a tool from running that a rule of the user's forbids."""

    answer: Callable[[str], dict[str, Any]]  # what the hook prints, from the reason
    asks_user: bool  # the host asks the user; else it refuses the call, and the agent learns why


@frozen
class HookTrust:
    """How a host keeps which hooks the user has trusted: by a key and a digest, in a TOML file."""

    file: str
    keys: tuple[str, ...]  # of the table in that file
    key: Callable[
        [str, str, int, int], str
    ]  # of a hook: from its file, its event, and its place in the lists
    digest: Callable[[str, Mapping[str, Any]], str]  # of an entry with one handler, from its event and itself
    hint: str  # what the user does to trust them


@frozen
class HostFiles:
    """Where a host's files are; empty = it has none. `~` and {folders} are filled in on the user's machine."""

    hooks: str = ""
    mcp: str = ""
    commands: str = ""  # a folder
    skill: str = ""  # a folder
    rules: str = ""
    plugin: str = ""
    mcp_instead: str = ""  # used if it exists and `mcp` does not
    rules_header: str = ""  # what a new rules file begins with


@frozen
class ToolPermissions:
    """How a host is told that agents may use tools of ours without asking; the host's other settings stay."""

    user: str  # the file
    project: str
    keys: tuple[str, ...] = ()  # of the list in a JSON file that has one name per tool
    name: str = ""  # of a tool in that list, from {tool}
    content: Callable[[Sequence[str]], str] | None = None  # or of a file of our own, from the tools


@frozen
class StatusLine:
    """How a host is told to run a command for its status line, in the file of its hooks."""

    event: str  # of `recollect hook HOST EVENT`
    key: str
    entry: Callable[[HookCommand], dict[str, Any]]


@frozen
class SlashCommands:
    """How a host's slash commands are written."""

    format: str = "markdown"  # markdown, plain, toml or skill
    suffix: str = ".md"
    arguments: str = "$ARGUMENTS"  # what the host replaces by what the user typed; empty = nothing
    front_matter: bool = False  # whether the host reads more of it than the description
    renamed: Mapping[str, str] = field(default_factory=dict)  # commands whose names the host itself uses
    clash_with_prompts: bool = False  # the host shows prompts of an MCP server as commands of the same name


@frozen
class SessionFiles:
    """Where a host keeps the transcripts of its sessions."""

    folder: str
    patterns: tuple[str, ...]  # of all files
    of_session: tuple[str, ...] = ()  # the same for one session: {session} is its id, {short} its beginning


# Where hooks of most hosts have a value, likeliest first; a dot leads into an object. A host adds its own names.
COMMON_FIELDS: Mapping[str, tuple[str, ...]] = {
    "event": ("hook_event_name",),
    "session": ("session_id",),
    "folder": ("cwd",),
    "prompt": ("prompt",),
    "tool": ("tool_name",),
    "input": ("tool_input",),
    "output": ("tool_response", "tool_output"),
    "error": ("error", "error_message", "tool_response.error"),
    "exit": ("exit_code", "tool_response.exit_code", "tool_response.exitCode"),  # of a command
    "call": ("tool_use_id",),
    "answer": ("last_assistant_message",),
    "agent": ("agent_id",),
}


def grouped_entry(hook: Hook, handler: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with a matcher and a list of handlers, as Claude Code and those that follow it have them."""
    return ({"matcher": hook.matcher} if hook.matcher else {}) | {"hooks": [handler]}


def stdio_server(words: Sequence[str]) -> dict[str, Any]:
    """Return the commonest entry for an MCP server."""
    return {"command": words[0], "args": list(words[1:])}


def typed_stdio_server(words: Sequence[str]) -> dict[str, Any]:
    """Return the same entry with the transport named."""
    return {"type": "stdio", **stdio_server(words)}


def ask_permission(reason: str) -> dict[str, Any]:
    """Return the output of a hook that makes Claude Code, and hosts that follow it, ask the user."""
    decision = {"permissionDecision": "ask", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}


def block_stop(request: str) -> dict[str, Any]:
    """Return the output of a hook that lets the agent of Claude Code, and hosts that follow it, go on with a request."""
    return {"decision": "block", "reason": request}


def show_message(message: str) -> dict[str, Any]:
    """Return the output of a hook that makes Claude Code, and hosts that follow it, show the user a message."""
    return {"systemMessage": message}


def no_folders(environment: Mapping[str, str], platform: str) -> Mapping[str, str]:
    """Return no named folders: the host's paths need none."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """Everything that Recollect knows about a coding agent."""

    name: str
    title: str
    program: str  # what to look for on the path
    folder: str  # there where the host was ever used
    folders: Callable[[Mapping[str, str], str], Mapping[str, str]] = (
        no_folders  # by name, for the paths below
    )
    user_files: HostFiles
    project_files: HostFiles
    after_install: str = "New sessions use memory."  # what to know once it is installed

    hooks: tuple[Hook, ...]
    hook_entry: Callable[[Hook, HookCommand], dict[str, Any]] | None = None  # None = a plugin calls us
    hook_trust: HookTrust | None = None  # None = the host runs every hook that is configured
    bundle_folder: str = ""  # where the host keeps our extension, if somebody installed that as well
    bundle_keys: str = ""  # of the plugins in the hooks file, by name, where it keeps ours
    hook_file_keys: Mapping[str, Any] = field(default_factory=dict)  # that the hooks file must have
    payload_fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # besides COMMON_FIELDS
    clean_prompt: Callable[[str], str] = str  # removes what the host puts around what the user typed
    input_names: Mapping[str, str] = field(default_factory=dict)  # of a tool's input, and the common name
    reports_failures: bool = False  # a tool that is not reported as failed has worked
    exit_line: re.Pattern[str] | None = None  # the line of a command's output that the host adds for its code
    context_limit: int = CONTEXT_LIMIT  # characters of ours that the host shows its model at once
    # In the transcript, a line that a compaction leaves there, for a host that sends no event that tells it reliably.
    compaction_line: re.Pattern[bytes] | None = None
    # The user can quit without an event while the process that runs the hooks goes on, with their session in it.
    quits_silently: bool = False
    hold_tool: ToolHold | None = None  # None = the host runs every tool
    # What the hook of a turn's end prints to let the agent go on with a request; None = the host ends the turn.
    continue_turn: Callable[[str], dict[str, Any]] | None = None
    # Makes what a hook prints to replace a tool's output, from the output and a function that shortens a text.
    replace_output: Callable[[Any, Callable[[Any], Any]], dict[str, Any]] | None = None

    servers_key: str  # of the MCP servers in their file
    server_entry: Callable[[Sequence[str]], dict[str, Any]] = stdio_server
    reads_structured_answers: bool = False  # instead of the text, if a tool's answer has both
    client_names: tuple[str, ...] = ()  # how its MCP client's name begins, besides `name`
    tool_permissions: ToolPermissions | None = None  # None = it asks nobody for tools that only read
    # What the hook of a session's start prints to show the user a message; None = the host shows none.
    message_user: Callable[[str], dict[str, Any]] | None = None
    status_line: StatusLine | None = None  # None = the host has none that a command can write

    commands: SlashCommands = field(default_factory=SlashCommands)
    plugin_template: str = ""  # below `interfaces/install/files`
    briefing_format: str = "markdown"  # xml, plain, markdown: see `memory.briefing.render`

    transcript: TranscriptFormat | None = None
    session_files: SessionFiles | None = None

    def files(self, scope: str, *, covered: bool = False) -> HostFiles:
        """Return the files for the scope `user` or `project`.

        With `covered` the host is installed for the user too, and a project gets only what a user cannot have: hosts
        run the hooks of both, and each event would be recorded twice.
        """
        if scope == "user":
            return self.user_files
        if not covered:
            return self.project_files
        own = {
            part.name: getattr(self.project_files, part.name)
            for part in fields(HostFiles)
            if part.name.startswith("rules") or not getattr(self.user_files, part.name)
        }
        return HostFiles(**own)

    def hook(self, event: str) -> Hook | None:
        """Return the hook for an event; None for an event that means nothing to us."""
        return next((hook for hook in self.hooks if hook.event == event), None)

    def exit_code(self, output: str) -> int | None:
        """Return the code that a command ended with, from the line that the host adds; None if there is none."""
        found = self.exit_line.search(output) if self.exit_line else None
        return int(found[1]) if found else None

    def field_names(self, name: str) -> tuple[str, ...]:
        """Return where this host may put a value in what it sends, likeliest first."""
        return (*COMMON_FIELDS[name], *self.payload_fields.get(name, ()))
