"""Our table in a `config.toml`: appended at the end and removed again, with every other byte left as it is.

`tomlkit` (0.15) cannot do this: it takes a comment above the next table for the end of ours, and removes both.
"""

import json
import re
import tomllib
from typing import Any

from recollect.interfaces.install.entries import SERVER
from recollect.text.jsonc import newline_of

_HEADER = re.compile(r"^[ \t]*\[")
_OURS = re.compile(rf"""^[ \t]*\[\s*["']?mcp_servers["']?\s*\.\s*["']?{SERVER}["']?\s*(?:\]|\.)""")


def load(text: str) -> dict[str, Any]:
    """Return the data. Raise `ValueError` with the line if the text is not TOML."""
    return tomllib.loads(text.removeprefix("\ufeff"))


def server(text: str) -> dict[str, Any] | None:
    """Return our entry; None if there is none."""
    servers = load(text).get("mcp_servers")
    entry = servers.get(SERVER) if isinstance(servers, dict) else None
    return entry if isinstance(entry, dict) else None


def put(text: str, entry: dict[str, Any]) -> str:
    """Return the text with our server. Raise `ValueError` if it is not TOML, or its servers cannot be added to."""
    before = load(text)
    newline = newline_of(text)
    # A JSON string is a TOML string, except for a few characters that no path has.
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
    """Return the text without our table and its sub-tables. Comments above the next table stay with it."""
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
    others = {name: entry for name, entry in servers.items() if name != SERVER}
    return {key: value for key, value in data.items() if key != "mcp_servers"} | (
        {"mcp_servers": others} if others else {}
    )
