"""The entries that we write into a host's configuration, and how we recognise them among those of others."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

from recollect.interfaces.install.machine import Machine
from recollect.work.hosts.host import Hook, HookCommand, Host

SERVER = "recollect"  # our name among the MCP servers
# The MCP tools that change nothing, which a user may allow agents to use without being asked.
READ_TOOLS = ("search_memory", "code_graph", "module_map", "work_history", "session_search", "read_source")
_OURS = re.compile(r"""(?:^|[\s/\\"'])recollect(?:-hook["']?\s|(?:\.exe)?["']?\s+(?:hook|mcp)\b)""")


def hook_entries(host: Host, machine: Machine) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return each installed event with its entry; none for a host that is called by a plugin."""
    if host.hook_entry is None:
        return ()
    return tuple((hook.event, hook_entry(host, hook, machine)) for hook in host.hooks if hook.is_installed)


def hook_entry(host: Host, hook: Hook, machine: Machine) -> dict[str, Any]:
    """Return one element of the host's list for an event."""
    words = machine.hook_words(host, hook.event)
    assert host.hook_entry is not None
    return host.hook_entry(hook, HookCommand(words, machine.hook_line(words)))


def status_line_entry(host: Host, machine: Machine) -> dict[str, Any]:
    """Return the host's entry for our status line."""
    assert host.status_line is not None
    words = machine.hook_words(host, host.status_line.event)
    return host.status_line.entry(HookCommand(words, machine.hook_line(words)))


def server_entry(host: Host, machine: Machine) -> dict[str, Any]:
    """Return the host's entry for our MCP server."""
    return host.server_entry((*machine.program, "mcp"))


def is_ours(value: object) -> bool:
    """Return whether an entry runs `recollect hook` or `recollect mcp`: a handler, a server, or a group of such only."""
    if not isinstance(value, Mapping):
        return False
    handlers = value.get("hooks")
    if isinstance(handlers, list):
        return bool(handlers) and all(map(is_ours, handlers))
    return bool(_OURS.search(_words(value)))


def program_of(value: Any) -> str:
    """Return the program that an entry of ours starts."""
    handlers = value.get("hooks")
    if isinstance(handlers, list):
        return program_of(handlers[0])
    command = value["command"]
    if isinstance(command, list):
        return str(command[0])
    if "args" in value:
        return str(command)
    _, _, run = command.rpartition("|| exec ")
    return shlex.split(run.replace("\\", "\\\\"))[0]


def _words(value: Mapping[str, Any]) -> str:
    command, arguments = value.get("command"), value.get("args")
    parts = [*(command if isinstance(command, list) else [command])]
    parts += arguments if isinstance(arguments, list) else []
    return " ".join(part for part in parts if isinstance(part, str))
