"""A terminal under tmux: what is typed into it, and what it shows."""

import os
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

WIDTH, HEIGHT = 180, 60


class Terminal:
    """A program in a terminal of its own. It ends with the `with` block."""

    def __init__(
        self, words: Sequence[str], folder: Path, environment: Mapping[str, str], files: Path
    ) -> None:
        self._words, self._folder, self._environment = words, folder, environment
        # A name for each: a server that is told to leave takes a moment, in which it would take the next session along.
        self._socket = files / f"tmux-{time.monotonic_ns():x}"

    def __enter__(self) -> Self:
        command = shlex.join(["env", "-i", *(f"{k}={v}" for k, v in self._environment.items()), *self._words])
        size = ["-x", str(WIDTH), "-y", str(HEIGHT)]
        self._tmux("new-session", "-d", "-s", "host", *size, "-c", str(self._folder), command)
        self._tmux("set-option", "-t", "host", "remain-on-exit", "on")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tmux("kill-server")

    @property
    def screen(self) -> str:
        """What the terminal shows, and what has scrolled out of it."""
        return self._tmux("capture-pane", "-p", "-S", "-2000", "-t", "host")

    @property
    def has_exited(self) -> bool:
        return self._tmux("display-message", "-p", "-t", "host", "#{pane_dead}").strip() != "0"

    def type(self, text: str) -> None:
        """Type a text, without a key press after it."""
        self._tmux("send-keys", "-t", "host", "-l", text)

    def press(self, *keys: str) -> None:
        """Press keys by the names that tmux gives them, such as Enter or C-c."""
        self._tmux("send-keys", "-t", "host", *keys)

    def wait_for(self, text: str, seconds: float = 60.0) -> bool:
        """Wait until the screen shows `text`; return whether it did in time."""
        return self._wait(lambda: text in self.screen, seconds)

    def wait_for_exit(self, seconds: float = 30.0) -> bool:
        return self._wait(lambda: self.has_exited, seconds)

    def _wait(self, holds: object, seconds: float) -> bool:
        assert callable(holds)
        until = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > until:
                return False
            time.sleep(0.2)
        return True

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self._socket), "-f", os.devnull, *words], capture_output=True, text=True
        )
        return done.stdout
