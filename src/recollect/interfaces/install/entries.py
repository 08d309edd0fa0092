"""What we write into a host's configuration, and how we know it again among what others wrote there."""

import re
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recollect.interfaces.install.table import Hook, Host, Machine

SERVER = "recollect"  # our name among the MCP servers
_OURS = re.compile(r"""(?:^|[\s/\\"'])recollect(?:\.exe)?["']?\s+(hook|mcp)\b""")


def hook_entry(host: Host, hook: Hook, machine: Machine) -> dict[str, Any]:
    """One element of the host's array for this event."""
    return _SHAPES[host.hook_shape](hook, (*machine.program, "hook", host.name, hook.event), machine)


def server_entry(host: Host, machine: Machine) -> dict[str, Any]:
    program, *rest = machine.program
    if host.server_shape == "list":
        return {"type": "local", "command": [program, *rest, "mcp"], "enabled": True}
    kind = {"type": "stdio"} if host.server_shape == "typed" else {}
    return {**kind, "command": program, "args": [*rest, "mcp"]}


def command_line(words: Sequence[str], platform: str) -> str:
    """As the shell of that platform takes it."""
    return subprocess.list2cmdline(words) if platform == "win32" else shlex.join(words)


def is_ours(value: object) -> bool:
    """Whether it runs `recollect hook` or `recollect mcp`: a handler, a server, or a group with nothing else in it."""
    if not isinstance(value, Mapping):
        return False
    handlers = value.get("hooks")
    if isinstance(handlers, list):
        return bool(handlers) and all(map(is_ours, handlers))
    return bool(_OURS.search(_words(value)))


def program_of(value: Any) -> str:
    """The program that an entry of ours starts."""
    handlers = value.get("hooks")
    if isinstance(handlers, list):
        return program_of(handlers[0])
    command = value["command"]
    if isinstance(command, list):
        return str(command[0])
    if "args" in value:
        return str(command)
    return shlex.split(command.replace("\\", "\\\\"))[0]


def _words(value: Mapping[str, Any]) -> str:
    command, arguments = value.get("command"), value.get("args")
    parts = [*(command if isinstance(command, list) else [command])]
    parts += arguments if isinstance(arguments, list) else []
    return " ".join(part for part in parts if isinstance(part, str))


def _with_args(hook: Hook, words: Sequence[str], machine: Machine) -> dict[str, Any]:
    handler = {"type": "command", "command": words[0], "args": list(words[1:]), "timeout": hook.seconds}
    waits = not hook.background or (hook.replaces and machine.shortens)
    return _group(hook, handler | ({} if waits else {"async": True}))


def _grouped(hook: Hook, words: Sequence[str], machine: Machine) -> dict[str, Any]:
    line = command_line(words, machine.platform)
    return _group(hook, {"type": "command", "command": line, "timeout": hook.seconds})


def _in_milliseconds(hook: Hook, words: Sequence[str], machine: Machine) -> dict[str, Any]:
    line = command_line(words, machine.platform)
    handler = {"name": "recollect", "type": "command", "command": line, "timeout": hook.seconds * 1000}
    return _group(hook, handler)


def _group(hook: Hook, handler: dict[str, Any]) -> dict[str, Any]:
    return ({"matcher": hook.matcher} if hook.matcher else {}) | {"hooks": [handler]}


def _flat(hook: Hook, words: Sequence[str], machine: Machine) -> dict[str, Any]:
    entry: dict[str, Any] = {"command": command_line(words, machine.platform), "timeout": hook.seconds}
    return entry | ({"matcher": hook.matcher} if hook.matcher else {})


def _typed(hook: Hook, words: Sequence[str], machine: Machine) -> dict[str, Any]:
    return {"type": "command", "command": command_line(words, machine.platform), "timeout": hook.seconds}


def _silent(hook: Hook, words: Sequence[str], machine: Machine) -> dict[str, Any]:
    return {"command": command_line(words, machine.platform), "show_output": False}


_SHAPES: dict[str, Callable[[Hook, Sequence[str], Machine], dict[str, Any]]] = {
    "args": _with_args,
    "grouped": _grouped,
    "milliseconds": _in_milliseconds,
    "flat": _flat,
    "typed": _typed,
    "silent": _silent,
}
