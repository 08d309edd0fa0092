"""What the daemon must know about a process that it works for: its folder, its settings, its terminal.

The MCP relay and the command line import this before anything else, so it imports almost nothing.
"""

import os
from collections.abc import Mapping

TYPE_CHECKING = False  # importing typing for it would take as long as the rest
if TYPE_CHECKING:
    from recollect.config import Settings

PREFIX = "RECOLLECT_"
# Variables that hold no setting of the daemon's work: the home is the one that was called.
_NOT_PASSED = ("RECOLLECT_HOME", "RECOLLECT_HOOK_DEADLINE")
_KEYS = ("KEY", "KEY_FILE", "PASSPHRASE", "EMBEDDER_KEY", "SIDECAR_KEY")
# Settings that the daemon takes from each client, and which it uses itself for nothing else.
_OWN_SETTINGS = ("project", "mcp_tools")


class Caller:
    """A client process: where it runs, with which variables, and what else its request needs."""

    def __init__(self, folder: str, variables: Mapping[str, str], **details: str) -> None:
        self.folder = folder
        self.variables = variables  # those of `PREFIX`, and others that a request names
        self.details = details

    def pack(self) -> bytes:
        """Return the caller as bytes for `unpack`."""
        pairs = [("folder", self.folder)]
        pairs += [(f"-{name}", value) for name, value in self.details.items()]
        pairs += [(f"+{name}", value) for name, value in self.variables.items()]
        return "\0".join(f"{name}={value}" for name, value in pairs).encode("utf-8", "surrogateescape")


def unpack(data: bytes) -> Caller:
    """Return the caller that `Caller.pack` wrote. Raise `ValueError` for anything else."""
    pairs = [part.partition("=") for part in data.decode("utf-8", "surrogateescape").split("\0")]
    fields = {name: value for name, _, value in pairs}
    if "folder" not in fields:
        raise ValueError("no caller")
    variables = {name[1:]: value for name, value in fields.items() if name.startswith("+")}
    return Caller(
        fields["folder"],
        variables,
        **{name[1:]: value for name, value in fields.items() if name.startswith("-")},
    )


def own_variables(*others: str) -> dict[str, str]:
    """Return the variables of this process that hold settings, and `others`."""
    return {
        name: value
        for name, value in os.environ.items()
        if (name.startswith(PREFIX) and name not in _NOT_PASSED) or name in others
    }


def own_folder() -> str:
    """Return the current folder; empty if it no longer exists."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


def can_serve(ours: "Settings", caller: Caller, own: Mapping[str, str], *, exactly: bool) -> bool:
    """Whether a daemon with the settings `ours` and the variables `own` does what the caller itself would do.

    Without `exactly`, variables that the caller does not have are the daemon's: some hosts start MCP servers with few
    variables.
    """
    from dataclasses import replace

    from recollect.config import load_settings
    from recollect.errors import RecollectError

    given = _of_settings(caller.variables)
    if not exactly:
        given = {**_of_settings(own), **given}
    if any(given.get(PREFIX + key) != own.get(PREFIX + key) for key in _KEYS):
        return False
    try:
        theirs = load_settings(ours.home, given)
    except RecollectError:
        return False  # whoever has the variable reports it
    return replace(theirs, **{name: getattr(ours, name) for name in _OWN_SETTINGS}) == ours


def _of_settings(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(PREFIX) and name not in _NOT_PASSED
    }
