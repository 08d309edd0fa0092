"""Where the sidecar sends texts, and whether the user has agreed to that."""

import ipaddress
from urllib.parse import urlsplit

from recollect.config import Settings
from recollect.context.store import Store

WHAT_GOES = (
    "the last request of a conversation with what surrounds it, memories that may fit it, statements to compare,"
    " and digests of sessions; secrets are taken out first"
)


def place(settings: Settings) -> str:
    """A server's address or a command, as it may be written down; "" where texts go nowhere."""
    if settings.sidecar == "command":
        from recollect.text.redact import redact  # its rules cost 30 ms

        return redact(settings.sidecar_command)[0]
    return settings.sidecar_url if settings.sidecar == "http" else ""


def agreement(settings: Settings) -> str:
    """What is agreed to, as it is recorded: a server that only embeds gets less, so that is another matter."""
    return f"sidecar {place(settings)}"


def may_send(settings: Settings, store: Store) -> bool:
    """On this machine, or with the user's word. Where a command sends texts, nobody knows."""
    if settings.sidecar == "http" and is_here(settings.sidecar_url):
        return True
    return agreement(settings) in (store.setting(None, "agreed") or [])


def is_here(url: str) -> bool:
    """Whether it is this machine's own."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
