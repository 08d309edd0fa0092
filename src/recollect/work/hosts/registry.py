"""The hosts by name. A new host is a file of its own and a line here."""

import re

from recollect.errors import UnknownName
from recollect.work.hosts.claude_code import CLAUDE_CODE
from recollect.work.hosts.codex import CODEX
from recollect.work.hosts.cursor import CURSOR
from recollect.work.hosts.gemini import GEMINI
from recollect.work.hosts.host import Host
from recollect.work.hosts.opencode import OPENCODE
from recollect.work.hosts.vscode import VSCODE
from recollect.work.hosts.windsurf import WINDSURF

HOSTS: dict[str, Host] = {
    host.name: host
    for host in (
        CLAUDE_CODE,
        CODEX,
        GEMINI,
        OPENCODE,
        CURSOR,
        VSCODE,
        WINDSURF,
    )
}

# Whom a briefing can be written for: the hosts, and programs that want JSON.
BRIEFING_FORMATS: dict[str, str] = {name: host.briefing_format for name, host in HOSTS.items()} | {
    "json": "json"
}


def host_named(name: str) -> Host:
    """Return the host of that name. Raise `UnknownName` if there is none."""
    if name not in HOSTS:
        raise UnknownName("host", name, list(HOSTS))
    return HOSTS[name]


def briefing_format(host: str) -> str:
    """Return the name of the format that a briefing for `host` takes. Raise `UnknownName` for an unknown host."""
    name = host.strip().lower()
    if name not in BRIEFING_FORMATS:
        raise UnknownName("host", host, list(BRIEFING_FORMATS))
    return BRIEFING_FORMATS[name]


def host_of_client(client: str) -> str:
    """Return our name for the MCP client that calls itself so; `mcp` for one without a name."""
    slug = re.sub(r"[^a-z0-9]+", "-", client.lower()).strip("-")[:40]
    for host in HOSTS.values():
        if slug.startswith((host.name, *host.client_names)):
            return host.name
    return slug or "mcp"
