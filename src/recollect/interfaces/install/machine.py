"""The user's machine as an installation sees it: home folder, environment, and the program that hosts run."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from recollect.frozen import frozen
from recollect.work.hosts.host import Host

LONGEST_INTERPRETER = 120  # bytes that every system takes after `#!`


@frozen
class Machine:
    """Where a user's files are, and which program hosts are to run."""

    user: Path  # their home folder
    program: tuple[str, ...]  # words; the first is an absolute path
    environment: Mapping[str, str]
    platform: str = sys.platform
    hook_program: tuple[str, ...] = ()  # a lighter one for hooks; empty = `program hook`
    allows_tools: bool | None = (
        None  # agents may use tools that only read without asking; None = as it is now
    )

    status_line: bool | None = None  # hosts show ours if the user has none; None = as it is now

    def path(self, host: Host, template: str, root: Path) -> Path:
        """Return the path that `template` means for `host`: below the user's home, or below `root` if it is relative."""
        path = Path(template.format_map(host.folders(self.environment, self.platform)))
        if path.parts[:1] == ("~",):
            path = self.user.joinpath(*path.parts[1:])
        return path if path.is_absolute() else root / path

    @property
    def hook_start(self) -> tuple[str, ...]:
        """How the program for hooks is started, before the names of host and event."""
        return self.hook_program or (*self.program, "hook")

    def hook_words(self, host: Host, event: str) -> tuple[str, ...]:
        """Return what a host runs at an event."""
        return (*self.hook_start, host.name, event)

    def hook_line(self, words: Sequence[str]) -> str:
        """Return `words` as a command line that does nothing if the program is gone: hosts show errors of hooks."""
        line = self.command_line(words)
        if self.platform == "win32" or not Path(words[0]).is_absolute():
            return line
        return f"[ ! -x {shlex.quote(words[0])} ] || exec {line}"

    def command_line(self, words: Sequence[str]) -> str:
        """Return `words` as the shell of this platform takes them."""
        return subprocess.list2cmdline(words) if self.platform == "win32" else shlex.join(words)


def this_machine() -> Machine:
    """Return the machine we run on."""
    from recollect.config import expand_home

    return Machine(expand_home("~"), running_program(), os.environ, hook_program=running_hook_program())


def running_program() -> tuple[str, ...]:
    """Return how to start this Recollect from anywhere: the script beside the interpreter, else the interpreter."""
    beside = Path(sys.executable).absolute().with_name("recollect.exe" if os.name == "nt" else "recollect")
    return (str(beside),) if beside.is_file() else (sys.executable, "-P", "-m", "recollect")


def running_hook_program() -> tuple[str, ...]:
    """Return the script for hooks beside the interpreter; nothing if it is not there, or may not start.

    Installers write the interpreter into its first line as it is: with a space or too long, a system cannot start it.
    """
    beside = Path(sys.executable).absolute().with_name("recollect-hook")
    starts = " " not in sys.executable and len(os.fsencode(sys.executable)) <= LONGEST_INTERPRETER
    return (str(beside),) if os.name != "nt" and starts and os.access(beside, os.X_OK) else ()
