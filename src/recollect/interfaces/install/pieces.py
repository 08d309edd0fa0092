"""What an installation consists of: a piece for each file, which can be put in, taken out, and recognised.

All of it is from text to text; `None` is a file that is not there.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from recollect.errors import Refused
from recollect.interfaces.install import templates, toml
from recollect.interfaces.install.entries import SERVER, hook_entry, is_ours, program_of, server_entry
from recollect.interfaces.install.table import Files, Host, Machine
from recollect.text import block, jsonc


class Piece(Protocol):
    """Raises `ValueError` for a text it cannot read, `Refused` for one it must not change."""

    @property
    def path(self) -> Path: ...

    def is_in(self, text: str) -> bool:
        """Whether it is there, just as it would be put in now."""

    def put(self, text: str | None) -> str: ...

    def take(self, text: str, original: str | None) -> str | None:
        """Exactly what we put in goes, and what only we needed; the rest stays as it is."""

    def programs(self, text: str) -> list[str]:
        """Those it starts, as it stands there."""


@dataclass(frozen=True, slots=True)
class JsonPiece:
    """Hooks and a server in a file that is the user's."""

    path: Path
    hooks: tuple[tuple[str, dict[str, Any]], ...] = ()  # event, entry
    servers: str = ""  # the key of the servers
    server: dict[str, Any] | None = None
    constants: tuple[tuple[str, Any], ...] = ()  # that the file must have

    def is_in(self, text: str) -> bool:
        data = jsonc.load(text)
        found = [(event, entry) for event, entry in _hooks_in(data) if is_ours(entry)]
        server = _server_in(data, self.servers)
        return sorted(found, key=repr) == sorted(self.hooks, key=repr) and (
            self.server is None or _says(server, self.server)
        )

    def put(self, text: str | None) -> str:
        new = text or ""
        for key, value in self.constants:
            if _at(jsonc.load(new), (key,)) is None:
                new = jsonc.put(new, (key,), value)
        for event, entry in self.hooks:
            new = jsonc.append(new, ("hooks", event), entry)
        if self.server is not None:
            if _server_in(jsonc.load(new), self.servers) is not None:
                raise Refused(
                    f"{self.path} has an MCP server named {SERVER} that is not ours.",
                    "Rename it or take it out, then try again.",
                )
            new = jsonc.put(new, (self.servers, SERVER), self.server)
        _check_same(text or "", new, self.servers)
        return new

    def take(self, text: str, original: str | None) -> str | None:
        new = text
        while (path := _first_of_ours(jsonc.load(new), self.servers)) is not None:
            new = jsonc.take(new, path)
        if new == text:
            return text
        new = _prune(new, original, self.servers)
        _check_same(text, new, self.servers)
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
    """Without the containers that are empty now and were not there before us."""
    before = _load_or_nothing(original)
    events = _at(jsonc.load(text), ("hooks",))
    inner = [("hooks", event) for event in events] if isinstance(events, dict) else []
    for path in (*inner, ("hooks",), (servers,)):
        if _at(jsonc.load(text), path) in ({}, []) and _at(before, path) is None:
            text = jsonc.take(text, path)
    return text


def _at(data: Any, path: tuple[str, ...]) -> Any:
    """None where nothing is."""
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _load_or_nothing(text: str | None) -> Any:
    try:
        return jsonc.load(text or "")
    except ValueError:
        return {}


def _check_same(before: str, after: str, servers: str) -> None:
    """What is not ours must say the same; our own mistake would stop here, before anything is written."""
    if _others(jsonc.load(before), servers) != _others(jsonc.load(after), servers):
        raise ValueError("it could not be changed without touching what others wrote")


def _others(data: Any, servers: str) -> Any:
    """What is there without what is ours, and without what is empty."""
    if not isinstance(data, dict):
        return data
    rest = {key: value for key, value in data.items() if key not in ("hooks", servers, "version")}
    hooks = data.get("hooks")
    kept = [(event, _other_handlers(entry)) for event, entry in _hooks_in(data) if not is_ours(entry)]
    odd = (
        hooks if not isinstance(hooks, dict) else {k: v for k, v in hooks.items() if not isinstance(v, list)}
    )
    found = data.get(servers)
    if isinstance(found, dict):
        found = {name: each for name, each in found.items() if name != SERVER or not is_ours(each)}
    return rest, kept, odd or None, found or None


def _other_handlers(entry: Any) -> Any:
    handlers = entry.get("hooks") if isinstance(entry, dict) else None
    if not isinstance(handlers, list):
        return entry
    return entry | {"hooks": [handler for handler in handlers if not is_ours(handler)]}


def _says(found: dict[str, Any] | None, wanted: dict[str, Any]) -> bool:
    """Whether it says all of `wanted`. A host adds what the user allowed: that is theirs, and stays."""
    return found is not None and wanted.items() <= found.items()


def _has_comments(text: str) -> bool:
    return bool(re.search(r"//|/\*", text))


@dataclass(frozen=True, slots=True)
class TomlPiece:
    """Our server in Codex's configuration."""

    path: Path
    server: dict[str, Any]

    def is_in(self, text: str) -> bool:
        return _says(toml.server(text), self.server)

    def put(self, text: str | None) -> str:
        found = toml.server(text or "")
        if found is not None:
            raise Refused(
                f"{self.path} has an MCP server named {SERVER} that is not ours.",
                "Rename it or take it out, then try again.",
            )
        return toml.put(text or "", self.server)

    def take(self, text: str, original: str | None) -> str | None:
        if not is_ours(toml.server(text)):
            return text
        new = toml.take(text)
        return None if original is None and not new.strip("\ufeff \t\r\n") else new

    def programs(self, text: str) -> list[str]:
        found = toml.server(text)
        return [program_of(found)] if found is not None and is_ours(found) else []


@dataclass(frozen=True, slots=True)
class BlockPiece:
    """Our part of a rules file."""

    path: Path
    header: str  # what a new file begins with
    body: str

    def is_in(self, text: str) -> bool:
        """A briefing may follow it: hooks renew that."""
        found = block.body(text)
        return found is not None and found.startswith(self.body)

    def put(self, text: str | None) -> str:
        return block.put(self.header if text is None else text, self.body)

    def take(self, text: str, original: str | None) -> str | None:
        rest = block.take(text)
        return None if original is None and rest.strip() in ("", self.header.strip()) else rest

    def programs(self, text: str) -> list[str]:
        return []


@dataclass(frozen=True, slots=True)
class OwnPiece:
    """A file that is all ours; one of that name that someone else wrote is left alone."""

    path: Path
    content: str

    def is_in(self, text: str) -> bool:
        return text == self.content

    def put(self, text: str | None) -> str:
        if text is not None and templates.MARK not in text:
            raise Kept(f"{self.path} is not ours: it stays as it is.")
        return self.content

    def take(self, text: str, original: str | None) -> str | None:
        if text == self.content:
            return None
        if templates.MARK in text:
            raise Kept(f"{self.path} was changed since: it stays as it is.")
        return text

    def programs(self, text: str) -> list[str]:
        return []


class Kept(Refused):
    """A file is left as it is; the rest can go on."""


def pieces(host: Host, scope: str, root: Path, machine: Machine, *, covered: bool = False) -> list[Piece]:
    """All that belongs to `host`, for the user or for the project at `root`; see `Host.files`."""
    files = host.files(scope, covered=covered)

    def at(template: str) -> Path:
        return machine.place(template, root)

    found = _configuration(host, files, at, machine)
    if files.rules:
        header, body = templates.rules(host, scope, machine)
        found.append(BlockPiece(at(files.rules), header, body))
    if files.plugin:
        found.append(OwnPiece(at(files.plugin), templates.plugin(machine)))
    if files.skill:
        found.append(OwnPiece(at(files.skill) / "SKILL.md", templates.skill(machine)))
    if files.commands:
        folder = at(files.commands)
        found += [OwnPiece(folder / name, text) for name, text in templates.commands(host, machine)]
    return found


def _configuration(host: Host, files: Files, at: Callable[[str], Path], machine: Machine) -> list[Piece]:
    server = server_entry(host, machine)
    hooks = tuple((hook.event, hook_entry(host, hook, machine)) for hook in host.hooks) if files.hooks else ()
    constants: tuple[tuple[str, Any], ...] = (("version", 1),) if host.name == "cursor" else ()
    if files.hooks and files.hooks == files.mcp:
        return [JsonPiece(at(files.hooks), hooks, host.servers, server)]
    found: list[Piece] = []
    if files.hooks:
        found.append(JsonPiece(at(files.hooks), hooks, constants=constants))
    if files.mcp.endswith(".toml"):
        found.append(TomlPiece(at(files.mcp), server))
    elif files.mcp:
        path = at(files.mcp)
        commented = path.with_suffix(".jsonc")  # OpenCode reads either
        if host.name == "opencode" and commented.exists() and not path.exists():
            path = commented
        found.append(JsonPiece(path, servers=host.servers, server=server))
    return found
