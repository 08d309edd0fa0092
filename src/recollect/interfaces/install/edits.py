"""The edits that an installation consists of, one per file: each can be applied, removed and recognised.

All are functions from text to text; `None` stands for a file that does not exist.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from recollect.errors import Refused
from recollect.frozen import frozen
from recollect.interfaces.install import templates, toml
from recollect.interfaces.install.entries import (
    READ_TOOLS,
    SERVER,
    hook_entries,
    is_ours,
    program_of,
    server_entry,
    status_line_entry,
)
from recollect.interfaces.install.machine import Machine
from recollect.text import block, jsonc
from recollect.work.hosts.host import Host, HostFiles, ToolPermissions


class FileEdit(Protocol):
    """Our part of one file. Methods raise `ValueError` for a text they cannot read, `Refused` for one not to change."""

    @property
    def path(self) -> Path: ...

    def is_applied(self, text: str) -> bool:
        """Return whether the text has the edit, exactly as `apply` would make it now."""

    def apply(self, text: str | None) -> str:
        """Return the text with the edit."""

    def remove(self, text: str, original: str | None) -> str | None:
        """Return the text without the edit and what only it needed; all else stays. None = the file goes."""

    def programs(self, text: str) -> list[str]:
        """Return the programs that our entries in the text start."""

    def variables(self, text: str) -> dict[str, str]:
        """Return the variables that the text sets for our MCP server."""


@frozen
class AllowedNames:
    """Names of tools in a list of a JSON file, which the host's agents may use without asking."""

    keys: tuple[str, ...]  # of the list
    known: tuple[str, ...]  # that may be ours
    wanted: tuple[str, ...]  # that are to be there

    def present(self, data: Any) -> list[str]:
        listed = _at(data, self.keys)
        return [name for name in self.known if isinstance(listed, list) and name in listed]


@frozen
class StatusLineEntry:
    """Our status line at a key of a JSON file; one of the user's own stays."""

    key: str
    entry: dict[str, Any]
    is_wanted: bool

    def is_right(self, data: Any) -> bool:
        current = _at(data, (self.key,))
        if is_ours(current):
            return self.is_wanted and _contains(current, self.entry)
        return not self.is_wanted or current is not None


@frozen
class JsonEdit:
    """Hooks, an MCP server, names of allowed tools and a status line in a JSON file of the user's."""

    path: Path
    hooks: tuple[tuple[str, dict[str, Any]], ...] = ()  # event, entry
    servers: str = ""  # the key of the MCP servers
    server: dict[str, Any] | None = None
    constants: tuple[tuple[str, Any], ...] = ()  # keys that the file must have
    allowed: AllowedNames | None = None
    status_line: StatusLineEntry | None = None

    def is_applied(self, text: str) -> bool:
        data = jsonc.load(text)
        ours = [(event, entry) for event, entry in _hooks_in(data) if is_ours(entry)]
        server = _server_in(data, self.servers)
        return (
            sorted(ours, key=repr) == sorted(self.hooks, key=repr)
            and (self.server is None or _contains(server, self.server))
            and (self.allowed is None or set(self.allowed.present(data)) == set(self.allowed.wanted))
            and (self.status_line is None or self.status_line.is_right(data))
        )

    def apply(self, text: str | None) -> str:
        new = text or ""
        for key, value in self.constants:
            if _at(jsonc.load(new), (key,)) is None:
                new = jsonc.put(new, (key,), value)
        for event, entry in self.hooks:
            new = jsonc.append(new, ("hooks", event), entry)
        if self.server is not None:
            if _server_in(jsonc.load(new), self.servers) is not None:
                raise _other_server(self.path)
            new = jsonc.put(new, (self.servers, SERVER), self.server)
        if self.allowed is not None:
            there = self.allowed.present(jsonc.load(new))
            for name in self.allowed.wanted:
                if name not in there:
                    new = jsonc.append(new, self.allowed.keys, name)
        line = self.status_line
        if line is not None and line.is_wanted and _at(jsonc.load(new), (line.key,)) is None:
            new = jsonc.put(new, (line.key,), line.entry)
        self._check_others_unchanged(text or "", new)
        return new

    def remove(self, text: str, original: str | None) -> str | None:
        new = text
        while (path := _first_of_ours(jsonc.load(new), self.servers, self._status_key)) is not None:
            new = jsonc.take(new, path)
        new = self._without_names(new, _load_or_nothing(original))
        if new == text:
            return text
        new = self._prune(new, original)
        self._check_others_unchanged(text, new)
        data = jsonc.load(new)
        if original is None and data in ({}, dict(self.constants)) and not _has_comments(new):
            return None
        return new

    def programs(self, text: str) -> list[str]:
        data = jsonc.load(text)
        entries = [*(entry for _, entry in _hooks_in(data)), _server_in(data, self.servers)]
        entries.append(_at(data, (self._status_key,)))
        return [program_of(entry) for entry in entries if is_ours(entry)]

    def variables(self, text: str) -> dict[str, str]:
        return _variables(_server_in(jsonc.load(text), self.servers))

    def our_hooks(self, text: str) -> list[tuple[str, int, int, dict[str, Any]]]:
        """Return each hook of ours: its event, its place in the two lists, and an entry with it alone."""
        hooks = _at(jsonc.load(text), ("hooks",))
        return [
            (event, place, index, {**entry, "hooks": [handler]})
            for event, entries in (hooks.items() if isinstance(hooks, dict) else ())
            for place, entry in enumerate(entries if isinstance(entries, list) else ())
            for index, handler in enumerate(_handlers_of(entry))
            if is_ours(handler)
        ]

    @property
    def _status_key(self) -> str:
        return self.status_line.key if self.status_line else ""

    def _without_names(self, text: str, before: Any) -> str:
        """Return the text without the names that were not there before us."""
        if self.allowed is None:
            return text
        for name in set(self.allowed.present(jsonc.load(text))) - set(self.allowed.present(before)):
            text = jsonc.take(
                text, (*self.allowed.keys, _at(jsonc.load(text), self.allowed.keys).index(name))
            )
        return text

    def _prune(self, text: str, original: str | None) -> str:
        """Return the text without the containers that are empty now and were not there before us."""
        before = _load_or_nothing(original)
        events = _at(jsonc.load(text), ("hooks",))
        inner = [("hooks", event) for event in events] if isinstance(events, dict) else []
        keys = self.allowed.keys if self.allowed else ()
        lists = [keys[:length] for length in range(len(keys), 0, -1)]
        for path in (*inner, ("hooks",), (self.servers,), *lists):
            if _at(jsonc.load(text), path) in ({}, []) and _at(before, path) is None:
                text = jsonc.take(text, path)
        return text

    def _check_others_unchanged(self, before: str, after: str) -> None:
        """Raise `ValueError` if an edit of ours changed what others wrote: a bug of ours stops before anything is written."""
        if self._others(jsonc.load(before)) != self._others(jsonc.load(after)):
            raise ValueError("it cannot be changed without touching other settings")

    def _others(self, data: Any) -> Any:
        """Return the data without what is ours and without what is empty."""
        if not isinstance(data, dict):
            return data
        names = self.allowed
        own = ("hooks", self.servers, "version")
        other_keys = {
            key: _without_values(value, names.keys[1:], names.known)
            if names and key == names.keys[0]
            else value
            for key, value in data.items()
            if key not in own and not (key == self._status_key and is_ours(value))
        }
        hooks = data.get("hooks")
        other_hooks = [
            (event, _other_handlers(entry)) for event, entry in _hooks_in(data) if not is_ours(entry)
        ]
        odd = (
            hooks
            if not isinstance(hooks, dict)
            else {k: v for k, v in hooks.items() if not isinstance(v, list)}
        )
        others = data.get(self.servers)
        if isinstance(others, dict):
            others = {name: entry for name, entry in others.items() if name != SERVER or not is_ours(entry)}
        return (
            {key: value for key, value in other_keys.items() if value},
            other_hooks,
            odd or None,
            others or None,
        )


def _without_values(data: Any, keys: tuple[str, ...], values: tuple[str, ...]) -> Any:
    """Return the data without `values` in the list at `keys`, and without that list if it is empty then."""
    if keys and isinstance(data, dict):
        inner = {
            key: _without_values(value, keys[1:], values) if key == keys[0] else value
            for key, value in data.items()
        }
        return {key: value for key, value in inner.items() if key != keys[0] or value}
    return [item for item in data if item not in values] if isinstance(data, list) else data


def _handlers_of(entry: Any) -> list[Any]:
    handlers = entry.get("hooks") if isinstance(entry, dict) else None
    return handlers if isinstance(handlers, list) else []


def _variables(server: dict[str, Any] | None) -> dict[str, str]:
    given = (server or {}).get("env", (server or {}).get("environment"))
    return {str(name): str(value) for name, value in given.items()} if isinstance(given, dict) else {}


def _hooks_in(data: Any) -> list[tuple[str, Any]]:
    hooks = _at(data, ("hooks",))
    if not isinstance(hooks, dict):
        return []
    return [
        (event, entry) for event, entries in hooks.items() if isinstance(entries, list) for entry in entries
    ]


def _server_in(data: Any, key: str) -> dict[str, Any] | None:
    found = _at(data, (key, SERVER))
    return found if isinstance(found, dict) else None


def _first_of_ours(data: Any, servers: str, status_key: str) -> tuple[str | int, ...] | None:
    if is_ours(_server_in(data, servers)):
        return (servers, SERVER)
    if is_ours(_at(data, (status_key,))):
        return (status_key,)
    hooks = _at(data, ("hooks",))
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for index, entry in enumerate(entries) if isinstance(entries, list) else ():
            if is_ours(entry):
                return ("hooks", event, index)
            handlers = entry.get("hooks") if isinstance(entry, dict) else None
            for place, handler in enumerate(handlers) if isinstance(handlers, list) else ():
                if is_ours(handler):
                    return ("hooks", event, index, "hooks", place)
    return None


def _at(data: Any, path: tuple[str, ...]) -> Any:
    """Return the value at `path`; None if there is none."""
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _load_or_nothing(text: str | None) -> Any:
    try:
        return jsonc.load(text or "")
    except ValueError:
        return {}


def _other_handlers(entry: Any) -> Any:
    handlers = entry.get("hooks") if isinstance(entry, dict) else None
    if not isinstance(handlers, list):
        return entry
    return entry | {"hooks": [handler for handler in handlers if not is_ours(handler)]}


def _contains(entry: dict[str, Any] | None, wanted: dict[str, Any]) -> bool:
    """Return whether the entry has all of `wanted`. A host adds what the user allowed: that is theirs, and stays."""
    return entry is not None and wanted.items() <= entry.items()


def _has_comments(text: str) -> bool:
    return bool(re.search(r"//|/\*", text))


@frozen
class TomlEdit:
    """Our MCP server in a TOML file."""

    path: Path
    server: dict[str, Any]

    def is_applied(self, text: str) -> bool:
        return _contains(toml.server(text), self.server)

    def apply(self, text: str | None) -> str:
        if toml.server(text or "") is not None:
            raise _other_server(self.path)
        return toml.put(text or "", self.server)

    def remove(self, text: str, original: str | None) -> str | None:
        if not is_ours(toml.server(text)):
            return text
        new = toml.take(text)
        return None if original is None and not new.strip("\ufeff \t\r\n") else new

    def programs(self, text: str) -> list[str]:
        server = toml.server(text)
        return [program_of(server)] if server is not None and is_ours(server) else []

    def variables(self, text: str) -> dict[str, str]:
        return _variables(toml.server(text))


@frozen
class BlockEdit:
    """Our part of a rules file, between two markers."""

    path: Path
    header: str  # what a new file begins with
    body: str

    def is_applied(self, text: str) -> bool:
        """Return whether our part begins as it should; a briefing may follow, which hooks renew."""
        ours = block.body(text)
        return ours is not None and ours.startswith(self.body)

    def apply(self, text: str | None) -> str:
        return block.put(self.header if text is None else text, self.body)

    def remove(self, text: str, original: str | None) -> str | None:
        remaining = block.take(text)
        return None if original is None and remaining.strip() in ("", self.header.strip()) else remaining

    def programs(self, text: str) -> list[str]:
        return []

    def variables(self, text: str) -> dict[str, str]:
        return {}


@frozen
class OwnFile:
    """A file that is all ours. A file of that name that someone else wrote is left alone."""

    path: Path
    content: str

    def is_applied(self, text: str) -> bool:
        return text == self.content

    def apply(self, text: str | None) -> str:
        if text is not None and templates.MARK not in text:
            raise LeftAlone(f"{self.path} was not written by Recollect: left as it is.")
        return self.content

    def remove(self, text: str, original: str | None) -> str | None:
        if text == self.content:
            return None
        if templates.MARK in text:
            raise LeftAlone(f"{self.path} was changed after it was installed: left as it is.")
        return text

    def programs(self, text: str) -> list[str]:
        return []

    def variables(self, text: str) -> dict[str, str]:
        return {}


class LeftAlone(Refused):
    """A file is left as it is; the other files can still be changed."""


def edits_for(
    host: Host, scope: str, root: Path, machine: Machine, *, covered: bool = False
) -> list[FileEdit]:
    """Return all edits of `host` for the user or for the project at `root`; for `covered` see `Host.files`."""
    files = host.files(scope, covered=covered)

    def at(template: str) -> Path:
        return machine.path(host, template, root)

    edits = _configuration(host, files, at, machine, _permissions(host, scope, at, machine))
    if (own := _permissions_file(host, scope, at, machine)) is not None:
        edits.append(own)
    if files.rules:
        edits.append(BlockEdit(at(files.rules), files.rules_header, templates.rules(machine)))
    if files.plugin:
        edits.append(OwnFile(at(files.plugin), templates.plugin(host, machine)))
    if files.skill:
        edits.append(OwnFile(at(files.skill) / "SKILL.md", templates.skill(machine)))
    if files.commands:
        folder = at(files.commands)
        edits += [OwnFile(folder / name, text) for name, text in templates.commands(host, machine)]
    return edits


def permissions_path(host: Host, scope: str, root: Path, machine: Machine) -> Path | None:
    """Return the file in which `host` is told which tools agents may use without asking; None if it asks nobody."""
    if host.tool_permissions is None:
        return None
    return machine.path(host, getattr(host.tool_permissions, scope), root)


def allows_tools(host: Host, scope: str, root: Path, machine: Machine) -> bool:
    """Return whether agents may use our tools that only read without asking, as the host's file says now."""
    if (path := permissions_path(host, scope, root, machine)) is None:
        return True
    assert host.tool_permissions is not None
    return _allowed_now(host.tool_permissions, path) == READ_TOOLS


def _allowed_now(permissions: ToolPermissions, path: Path) -> tuple[str, ...]:
    """Return the tools that the host's file allows."""
    try:
        text = path.read_text(encoding="utf-8")
        if permissions.content is not None:
            return READ_TOOLS if templates.MARK in text else ()
        listed = _at(jsonc.load(text), permissions.keys)
    except (OSError, ValueError):
        return ()
    names = listed if isinstance(listed, list) else []
    return tuple(tool for tool in READ_TOOLS if permissions.name.format(tool=tool) in names)


def _wanted_tools(permissions: ToolPermissions, path: Path, machine: Machine) -> tuple[str, ...]:
    if machine.allows_tools is None:
        return _allowed_now(permissions, path)
    return READ_TOOLS if machine.allows_tools else ()


def _permissions(
    host: Host, scope: str, at: Callable[[str], Path], machine: Machine
) -> tuple[Path, AllowedNames] | None:
    """Return the list of allowed tools, for a host that has one in a JSON file, and where it is."""
    permissions = host.tool_permissions
    if permissions is None or not permissions.keys:
        return None
    path = at(getattr(permissions, scope))
    known, wanted = (
        tuple(permissions.name.format(tool=tool) for tool in tools)
        for tools in (READ_TOOLS, _wanted_tools(permissions, path, machine))
    )
    return path, AllowedNames(permissions.keys, known, wanted)


def _permissions_file(host: Host, scope: str, at: Callable[[str], Path], machine: Machine) -> FileEdit | None:
    """Return the file of our own that allows tools, for a host that takes one, if tools are to be allowed."""
    permissions = host.tool_permissions
    if permissions is None or permissions.content is None:
        return None
    path = at(getattr(permissions, scope))
    tools = _wanted_tools(permissions, path, machine)
    mark = f"# {templates.MARK}; `recollect uninstall {host.name}` removes it.\n"
    return OwnFile(path, mark + permissions.content(tools)) if tools else None


def status_line_now(host: Host, scope: str, root: Path, machine: Machine) -> str:
    """Return whose status line the host shows, as its file says now: "ours", "other", or empty if it shows none."""
    if host.status_line is None:
        return ""
    return _status_line_in(machine.path(host, host.files(scope).hooks, root), host.status_line.key)


def _status_line_in(path: Path, key: str) -> str:
    try:
        current = _at(jsonc.load(path.read_text(encoding="utf-8")), (key,))
    except (OSError, ValueError):
        return ""
    return "ours" if is_ours(current) else "other" if current is not None else ""


def _status_line(host: Host, path: Path, machine: Machine) -> StatusLineEntry | None:
    if host.status_line is None:
        return None
    is_wanted = machine.status_line
    if is_wanted is None:
        is_wanted = _status_line_in(path, host.status_line.key) == "ours"
    return StatusLineEntry(host.status_line.key, status_line_entry(host, machine), is_wanted)


def _configuration(
    host: Host,
    files: HostFiles,
    at: Callable[[str], Path],
    machine: Machine,
    permissions: tuple[Path, AllowedNames] | None,
) -> list[FileEdit]:
    server = server_entry(host, machine)
    hooks = hook_entries(host, machine) if files.hooks else ()
    if files.hooks and files.hooks == files.mcp:
        return [JsonEdit(at(files.hooks), hooks, host.servers_key, server)]
    edits: list[FileEdit] = []
    if files.hooks:
        path = at(files.hooks)
        allowed = permissions[1] if permissions and permissions[0] == path else None
        constants = tuple(host.hook_file_keys.items())
        line = _status_line(host, path, machine)
        edits.append(JsonEdit(path, hooks, constants=constants, allowed=allowed, status_line=line))
    if files.mcp.endswith(".toml"):
        edits.append(TomlEdit(at(files.mcp), server))
    elif files.mcp:
        path = at(files.mcp)
        if files.mcp_instead and at(files.mcp_instead).exists() and not path.exists():
            path = at(files.mcp_instead)
        edits.append(JsonEdit(path, servers=host.servers_key, server=server))
    return edits


def _other_server(path: Path) -> Refused:
    return Refused(
        f"{path} has an MCP server named {SERVER} that Recollect did not write.",
        "Rename or remove it, then try again.",
    )
