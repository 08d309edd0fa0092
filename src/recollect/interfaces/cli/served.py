"""Run a command in the daemon, for a process that waits for its output (`forward`)."""

import contextlib
import logging
import threading
from dataclasses import dataclass, field, replace
from io import BufferedWriter, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext
from recollect.interfaces.cli.forward import SEPARATOR, is_repeatable, pack_output
from recollect.interfaces.cli.main import run_command
from recollect.interfaces.daemon_client.caller import Caller

if TYPE_CHECKING:
    from recollect.config import Settings
    from recollect.engine import Engine
    from recollect.interfaces.engine_pool import EnginePool

logger = logging.getLogger(__name__)

ACTOR = "user"  # who types a command
WAIT_SECONDS = 1.0  # for the command before


class CommandRunner:
    """Runs commands one at a time: while one runs, what this process prints belongs to it."""

    def __init__(self, settings: "Settings", engines: "EnginePool") -> None:
        self._settings = settings
        self._engines = engines
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def turn(self) -> "Any":
        """Wait for the command before this one; yield False if it takes too long."""
        is_free = self._lock.acquire(timeout=WAIT_SECONDS)
        try:
            yield is_free
        finally:
            if is_free:
                self._lock.release()

    def run(self, caller: Caller) -> bytes | None:
        """Return the exit code and the output; None if the caller must run the command itself. Call it in a `turn`."""
        arguments = caller.details.get("arguments", "").split(SEPARATOR)
        if not is_repeatable(arguments):
            return None
        out, err = (
            ClientStream(number, caller.details.get("terminals", "00")[number - 1] == "1")
            for number in (1, 2)
        )
        err.parts = out.parts
        context = ServedContext(
            settings_of_daemon=self._settings,
            engines=self._engines,
            folder=Path(caller.folder),
            project_setting=caller.variables.get("RECOLLECT_PROJECT") or self._settings.project,
        )
        columns = output.terminal_columns.set(int(caller.details.get("columns", "80")))
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = run_command(arguments, context, bool(caller.variables.get("NO_COLOR")))
                out.flush()
                err.flush()
            return pack_output(code, out.parts)
        except (click.ClickException, click.Abort):
            return None  # wrong usage: the help is as wide as the caller's terminal
        except Exception:  # our mistake: the caller shows it, with its traceback
            logger.exception("a command failed")
            return None
        finally:
            output.terminal_columns.reset(columns)


@dataclass(slots=True)
class ServedContext(CliContext):
    """The context of a command that runs in the daemon, with an engine of the daemon's."""

    settings_of_daemon: "Settings" = field(kw_only=True)
    engines: "EnginePool" = field(kw_only=True)
    project_setting: str = field(kw_only=True)
    _borrowed: contextlib.ExitStack = field(default_factory=contextlib.ExitStack, init=False)

    @property
    def settings(self) -> "Settings":
        return replace(self.settings_of_daemon, project=self.project_setting)

    @property
    def engine(self) -> "Engine":
        if self._engine is None:
            place = Path(self.project or self.project_setting or ".").expanduser()
            self._engine = self._borrowed.enter_context(self.engines.use(self.current_folder / place, ACTOR))
        return self._engine

    def close_engine(self) -> None:
        """Give the engine back; what it noted about this command is written now, as when an engine is closed."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.schedule.process_use()
        self._borrowed.close()


class ClientStream(TextIOWrapper):
    """A stream of the client's: it writes when a real one would, and drops what other threads print."""

    def __init__(self, number: int, is_terminal: bool) -> None:
        self.parts: list[tuple[int, bytes]] = []
        self._is_terminal = is_terminal
        self._thread = threading.get_ident()
        super().__init__(
            BufferedWriter(_Parts(self, number)),
            encoding="utf-8",
            errors="backslashreplace",
            newline="\n",
            line_buffering=is_terminal or number == 2,
        )

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str, /) -> int:
        return super().write(text) if threading.get_ident() == self._thread else len(text)


class _Parts(RawIOBase):
    """Notes what is written, and to which stream."""

    def __init__(self, stream: ClientStream, number: int) -> None:
        self._stream = stream
        self._number = number

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._stream.parts.append((self._number, bytes(data)))
        return len(data)
