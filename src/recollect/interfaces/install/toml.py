"""Codex's `config.toml`: one table of ours at the end of it, and nothing else touched."""

import json
import re
import tomllib
from typing import Any

from recollect.interfaces.install.entries import SERVER
from recollect.text.jsonc import newline_of

_HEADER = re.compile(r"^[ \t]*\[")
_OURS = re.compile(rf"""^[ \t]*\[\s*["']?mcp_servers["']?\s*\.\s*["']?{SERVER}["']?\s*(?:\]|\.)""")


def load(text: str) -> dict[str, Any]:
    """Raises `ValueError`, with the line."""
    return tomllib.loads(text.removeprefix("\ufeff"))


def server(text: str) -> dict[str, Any] | None:
    """Our entry as it stands there."""
    servers = load(text).get("mcp_servers")
    found = servers.get(SERVER) if isinstance(servers, dict) else None
    return found if isinstance(found, dict) else None


def put(text: str, entry: dict[str, Any]) -> str:
    """Add our server. Raises `ValueError` if the text is no TOML, or has its servers in a place that cannot be added to."""
    before = load(text)
    newline = newline_of(text)
    # A JSON string is a TOML string, but for a character or two that no path has.
    rows = [
        f"[mcp_servers.{SERVER}]",
        *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()),
    ]
    lead = "" if not text.strip("\ufeff") else newline if text.endswith("\n") else newline * 2
    new = text + lead + newline.join(rows) + newline
    after = load(new)
    if _without(after) != _without(before) or server(new) != entry:
        raise ValueError("its mcp_servers cannot be added to")
    return new


def take(text: str) -> str:
    """Without our table and those below it. Comments that lead to the next table stay with it."""
    before = load(text)
    kept: list[str] = []
    ours: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            if inside:
                kept += _lead_of_next(ours)
            ours, inside = [], bool(_OURS.match(line))
            if inside and kept and not kept[-1].strip():
                kept.pop()
        (ours if inside else kept).append(line)
    if inside:
        kept += _lead_of_next(ours)
    new = "".join(kept)
    if _without(load(new)) != _without(before) or server(new) is not None:
        raise ValueError(f"mcp_servers.{SERVER} is not written as a table of its own")
    return new


def _lead_of_next(lines: list[str]) -> list[str]:
    start = len(lines)
    while start and (not lines[start - 1].strip() or lines[start - 1].lstrip().startswith("#")):
        start -= 1
    return lines[start:]


def _without(data: dict[str, Any]) -> dict[str, Any]:
    servers = data.get("mcp_servers")
    if not isinstance(servers, dict):
        return data
    rest = {name: each for name, each in servers.items() if name != SERVER}
    return {key: value for key, value in data.items() if key != "mcp_servers"} | (
        {"mcp_servers": rest} if rest else {}
    )
