"""The edits that an installation consists of, one per file: each can be applied, removed and recognised.

All are functions from text to text; `None` stands for a file that does not exist.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from recollect.errors import Refused
from recollect.interfaces.install import templates, toml
from recollect.interfaces.install.entries import SERVER, hook_entries, is_ours, program_of, server_entry
from recollect.interfaces.install.machine import Machine
from recollect.text import block, jsonc
from recollect.work.hosts.host import Host, HostFiles


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


@dataclass(frozen=True, slots=True)
class JsonEdit:
    """Hooks and an MCP server in a JSON file of the user's."""

    path: Path
    hooks: tuple[tuple[str, dict[str, Any]], ...] = ()  # event, entry
    servers: str = ""  # the key of the MCP servers
    server: dict[str, Any] | None = None
    constants: tuple[tuple[str, Any], ...] = ()  # keys that the file must have

    def is_applied(self, text: str) -> bool:
        data = jsonc.load(text)
        ours = [(event, entry) for event, entry in _hooks_in(data) if is_ours(entry)]
        server = _server_in(data, self.servers)
        return sorted(ours, key=repr) == sorted(self.hooks, key=repr) and (
            self.server is None or _contains(server, self.server)
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
        _check_others_unchanged(text or "", new, self.servers)
        return new

    def remove(self, text: str, original: str | None) -> str | None:
        new = text
        while (path := _first_of_ours(jsonc.load(new), self.servers)) is not None:
            new = jsonc.take(new, path)
        if new == text:
            return text
        new = _prune(new, original, self.servers)
        _check_others_unchanged(text, new, self.servers)
        data = jsonc.load(new)
        if original is None and data in ({}, dict(self.constants)) and not _has_comments(new):
            return None
        return new

    def programs(self, text: str) -> list[str]:
        data = jsonc.load(text)
        entries = [*(entry for _, entry in _hooks_in(data)), _server_in(data, self.servers)]
        return [program_of(entry) for entry in entries if is_ours(entry)]


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


def _first_of_ours(data: Any, servers: str) -> tuple[str | int, ...] | None:
    if is_ours(_server_in(data, servers)):
        return (servers, SERVER)
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


def _prune(text: str, original: str | None, servers: str) -> str:
    """Return the text without the containers that are empty now and were not there before us."""
    before = _load_or_nothing(original)
    events = _at(jsonc.load(text), ("hooks",))
    inner = [("hooks", event) for event in events] if isinstance(events, dict) else []
    for path in (*inner, ("hooks",), (servers,)):
        if _at(jsonc.load(text), path) in ({}, []) and _at(before, path) is None:
            text = jsonc.take(text, path)
    return text


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


def _check_others_unchanged(before: str, after: str, servers: str) -> None:
    """Raise `ValueError` if an edit of ours changed what others wrote: a bug of ours stops before anything is written."""
    if _others(jsonc.load(before), servers) != _others(jsonc.load(after), servers):
        raise ValueError("it cannot be changed without touching other settings")


def _others(data: Any, servers: str) -> Any:
    """Return the data without what is ours and without what is empty."""
    if not isinstance(data, dict):
        return data
    other_keys = {key: value for key, value in data.items() if key not in ("hooks", servers, "version")}
    hooks = data.get("hooks")
    other_hooks = [(event, _other_handlers(entry)) for event, entry in _hooks_in(data) if not is_ours(entry)]
    odd = (
        hooks if not isinstance(hooks, dict) else {k: v for k, v in hooks.items() if not isinstance(v, list)}
    )
    others = data.get(servers)
    if isinstance(others, dict):
        others = {name: entry for name, entry in others.items() if name != SERVER or not is_ours(entry)}
    return other_keys, other_hooks, odd or None, others or None


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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


class LeftAlone(Refused):
    """A file is left as it is; the other files can still be changed."""


def edits_for(
    host: Host, scope: str, root: Path, machine: Machine, *, covered: bool = False
) -> list[FileEdit]:
    """Return all edits of `host` for the user or for the project at `root`; for `covered` see `Host.files`."""
    files = host.files(scope, covered=covered)

    def at(template: str) -> Path:
        return machine.path(host, template, root)

    edits = _configuration(host, files, at, machine)
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


def _configuration(
    host: Host, files: HostFiles, at: Callable[[str], Path], machine: Machine
) -> list[FileEdit]:
    server = server_entry(host, machine)
    hooks = hook_entries(host, machine) if files.hooks else ()
    if files.hooks and files.hooks == files.mcp:
        return [JsonEdit(at(files.hooks), hooks, host.servers_key, server)]
    edits: list[FileEdit] = []
    if files.hooks:
        edits.append(JsonEdit(at(files.hooks), hooks, constants=tuple(host.hook_file_keys.items())))
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
