"""Where the sidecar sends texts, and whether the user agreed to it."""

import ipaddress
from urllib.parse import urlsplit

from recollect.config import Settings
from recollect.context.store import Store

SENT_DATA = (
    "the last request of a conversation with its context, memories that may be relevant to it, statements to compare,"
    " and summaries of sessions; secrets are removed first"
)


def place(settings: Settings) -> str:
    """Return the server's address or the command without secrets; "" if nothing is sent."""
    if settings.sidecar == "command":
        from recollect.text.redact import redact  # its rules cost 30 ms

        return redact(settings.sidecar_command)[0]
    return settings.sidecar_url if settings.sidecar == "http" else ""


def agreement(settings: Settings) -> str:
    """Return the agreement as it is recorded. A server that only embeds gets less and has its own."""
    return f"sidecar {place(settings)}"


def may_send(settings: Settings, store: Store) -> bool:
    """Return whether texts stay on this machine or the user agreed. A command may send them anywhere."""
    if settings.sidecar == "http" and is_loopback(settings.sidecar_url):
        return True
    return agreement(settings) in (store.setting(None, "agreed") or [])


def is_loopback(url: str) -> bool:
    """Return whether `url` is an address of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
