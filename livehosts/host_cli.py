"""What the tests know about the CLI of a host: how to install it, to point it at our model, and to run a session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from livehosts.model_request import ModelRequest
from livehosts.reply import ModelReply
from livehosts.script import Action


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a host runs in one check: the folders of its user, and the model that it asks."""

    home: Path
    project: Path
    model_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCli:
    """The CLI of a host, at the version that the tests are written for."""

    name: str  # as `recollect install` takes it
    title: str
    package: str  # on npm
    version: str
    program: str  # in node_modules/.bin
    setup: str = ""  # the script, below the package's folder, that npm would run after installing
    primed: Sequence[str] = ()  # what it downloads into the home of its user at the first start
    database: str = ""  # with its sessions, below the home of its user
    prepare: Callable[[Workplace], None]  # writes the host's own settings, as its user would have them
    environment: Callable[[Workplace], Mapping[str, str]]
    headless: Callable[[str], Sequence[str]]  # the arguments for a session with one prompt
    resumed: Callable[[str], Sequence[str]]  # the same, for another prompt in the last session
    interactive: Sequence[str] = ()  # the arguments for a session in a terminal
    calls: Callable[[Action, ModelRequest], ModelReply]
    ready: str  # what the screen shows once it takes a prompt
    dialogs: Mapping[str, Sequence[str]] = field(default_factory=dict)  # text on the screen → keys to send
    quit_keys: Sequence[Sequence[str]] = ()  # key presses that end a session, one after the other
    submit_keys: Sequence[str] = ("Enter",)
    completing_key: str = ""  # completes the name of a command, where a space does not
    slash: str = "/"  # before the name of a command of ours
    compact: str = "/compact"  # the command of the host's that compacts the chat
    has_status_line: bool = False  # that `recollect install` can fill
    warnings: Sequence[str] = ()  # regular expressions of complaints about hooks, servers or settings
    limits: Mapping[str, str] = field(default_factory=dict)  # check → why the host cannot do it
