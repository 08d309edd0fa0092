"""The Claude Code plugin and the Gemini extension below `files/`, made from the hosts' rows.

`python -m recollect.interfaces.install.bundles` writes them again. They expect `recollect` on the path.
"""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from recollect.interfaces.install import templates
from recollect.interfaces.install.entries import SERVER, hook_entries, server_entry
from recollect.interfaces.install.machine import Machine
from recollect.work.hosts.host import Host
from recollect.work.hosts.registry import HOSTS

_ABOUT = "Long-term memory for coding agents: local, offline, explained."
_ANYWHERE = Machine(Path("/"), ("recollect",), {}, "linux")
FOLDER = Path(__file__).parent / "files"


def bundles() -> dict[str, str]:
    """Return the texts by their paths below `files/`."""
    claude, gemini = HOSTS["claude-code"], HOSTS["gemini"]
    known = {"name": "recollect", "version": version("recollect"), "description": _ABOUT}
    plugin = {**known, "author": {"name": "The Recollect authors"}, "license": "Apache-2.0"}
    servers = {"mcpServers": {SERVER: server_entry(claude, _ANYWHERE)}}
    extension = {**known, "mcpServers": {SERVER: server_entry(gemini, _ANYWHERE)}}
    skill = "skills/long-term-memory/SKILL.md"
    return {
        "claude-code/.claude-plugin/plugin.json": _json(plugin),
        "claude-code/.mcp.json": _json(servers),
        "claude-code/hooks/hooks.json": _json({"description": _ABOUT, "hooks": _hooks(claude)}),
        "gemini/gemini-extension.json": _json(extension),
        "gemini/hooks/hooks.json": _json({"hooks": _hooks(gemini)}),
        f"gemini/{skill}": (FOLDER / "claude-code" / skill).read_text(encoding="utf-8"),
        **{
            f"gemini/commands/{name}.toml": templates.command_text(gemini, name)
            for name in templates.COMMANDS
        },
    }


def _hooks(host: Host) -> dict[str, list[dict[str, Any]]]:
    return {event: [entry] for event, entry in hook_entries(host, _ANYWHERE)}


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, text in bundles().items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(text, encoding="utf-8")
