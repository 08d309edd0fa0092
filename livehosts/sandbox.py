"""A user's machine for one check: a home, a store, a sample project, a host that is connected, and a scripted model."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from livehosts.hook_recorder import recording_program
from livehosts.host_cli import HostCli, Workplace
from livehosts.model_request import ModelRequest
from livehosts.npm import cache_folder, installed, primed_folder
from livehosts.reply import ModelReply
from livehosts.sample_project import COMMANDS, write_project
from livehosts.script import Action, Script
from livehosts.server import ModelServer
from livehosts.terminal import Terminal

PASSED_ON = ("PATH", "LANG", "LC_ALL", "TERM", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")  # variables
SECONDS = 180.0  # that one session may take, on a machine under load
RECOLLECT = Path(sys.executable).with_name("recollect")


@dataclass(frozen=True, slots=True)
class SessionRun:
    """A session that is over: what the host printed, and what its model was sent."""

    output: str
    code: int
    requests: Sequence[ModelRequest]
    seconds: float

    @property
    def turns(self) -> Sequence[ModelRequest]:
        """The requests that are turns of the agent."""
        return [request for request in self.requests if request.is_turn]

    @property
    def first(self) -> ModelRequest:
        """The first turn. Raise `LookupError` with what the host printed if there was none."""
        if not self.turns:
            raise LookupError(f"the model was sent nothing; the host printed: {self.output[-600:]}")
        return self.turns[0]


class Sandbox:
    """One user with one host. Sessions run one after the other; what is learnt stays between them.

    A folder that has a sandbox already is used again, with the same address of the model.
    """

    def __init__(self, cli: HostCli, folder: Path, *, record: bool = False) -> None:
        self.cli = cli
        self.folder = folder
        self.home, self.project, self.store = (folder / name for name in ("home", "shop", "recollect"))
        self.program = RECOLLECT
        self._act: Callable[[], object] | None = None
        port_file, is_new = folder / "port", not self.home.exists()
        port = 0 if is_new else int(port_file.read_text())
        self.server = ModelServer(folder / "requests.jsonl", self._script({}).reply, port)
        port_file.write_text(str(self.server.port))
        self.place = Workplace(self.home, self.project, self.server.url)
        self._host = installed(cli)
        if is_new:
            self._prepare()
        if record:
            self.program = recording_program(folder / "program", folder / "events")

    def _prepare(self) -> None:
        self.home.mkdir(parents=True)
        (self.home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.com\n")
        # A login shell, which Codex runs commands in, sets the path anew.
        (self.home / ".bash_profile").write_text(f'export PATH="{self.folder / "bin"}:$PATH"\n')
        for name, text in COMMANDS.items():
            write_script(self.folder / "bin" / name, text)
        write_project(self.project, self.environment)
        self.cli.prepare(self.place)
        primed = primed_folder(self.cli)
        for name in self.cli.primed if primed.exists() else ():
            copy(primed / name, self.home / name)

    @property
    def environment(self) -> dict[str, str]:
        """What the user's shell exports."""
        kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return kept | {
            "PATH": f"{self.folder / 'bin'}:{kept.get('PATH', '/usr/bin:/bin')}",
            "HOME": str(self.home),
            "USER": "ada",
            "SHELL": "/bin/bash",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "RECOLLECT_HOME": str(self.store),
        }

    @property
    def host_environment(self) -> dict[str, str]:
        return self.environment | dict(self.cli.environment(self.place))

    def install(self, *options: str) -> str:
        """Connect the host as a user would, and agree to what it asks."""
        return self.recollect("install", self.cli.name, "--yes", "--allow-tools", *options)

    def recollect(self, *words: str) -> str:
        """Run a command of Recollect in the project; return what it prints. Raise `RuntimeError` if it fails."""
        done = subprocess.run(
            [str(self.program), *words],
            cwd=self.project,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            raise RuntimeError(f"recollect {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def recollect_json(self, *words: str) -> Any:
        return json.loads(self.recollect(*words, "--json"))

    def stop_daemon(self) -> None:
        """Stop the daemon and wait until it is gone, so that the next session starts cold."""
        self.recollect("daemon", "stop")
        self.wait_for(lambda: not self.daemon_runs(), 20.0)

    def daemon_runs(self) -> bool:
        return bool(self.recollect_json("daemon", "status").get("running"))

    def wait_for(self, holds: Callable[[], bool], seconds: float = 10.0) -> bool:
        """Wait until `holds()`; return whether it came true in time."""
        until = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > until:
                return False
            time.sleep(0.1)
        return True

    def play(self, turns: Mapping[str, Sequence[Action]]) -> None:
        """Let the model act by `turns` from now on: words of a prompt, and its actions then."""
        script = self._script(turns)

        def reply(request: ModelRequest) -> ModelReply:
            act, self._act = self._act, None
            if act is not None:
                act()
            return script.reply(request)

        self.server.play = reply

    def run(self, prompt: str, *actions: Action, resume: bool = False) -> SessionRun:
        """Run a session with one prompt and without a terminal, in which the model takes `actions`."""
        self.play({prompt: actions})
        return self.run_words(self.cli.resumed(prompt) if resume else self.cli.headless(prompt))

    def run_words(self, words: Sequence[str]) -> SessionRun:
        """Run the host with these arguments until it exits."""
        begin, before = time.monotonic(), len(self.server.requests)
        with subprocess.Popen(
            [str(self._host), *words],
            cwd=self.project,
            env=self.host_environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
                output += "\n(the host did not exit in time)"
        requests = self.server.requests[before:]
        return SessionRun(output, process.returncode, requests, time.monotonic() - begin)

    @contextmanager
    def terminal(self) -> Iterator[Terminal]:
        """Start the host in a terminal and close that in the end."""
        with Terminal(
            [str(self._host), *self.cli.interactive], self.project, self.host_environment, self.folder
        ) as terminal:
            yield terminal

    def sessions(self) -> list[dict[str, Any]]:
        """The sessions in the store, newest first."""
        return list(self.recollect_json("session", "list"))

    def memories(self) -> list[dict[str, Any]]:
        """The memories in the store, newest first."""
        return list(self.recollect_json("list")["memories"])

    def write_script(self, name: str, text: str) -> None:
        """Write a program into the project."""
        write_script(self.project / name, text)

    def on_first_request(self, act: Callable[[], object]) -> None:
        """Run `act` when the model is asked for the next time, before it answers."""
        self._act = act

    def close(self) -> None:
        """Stop what still runs: the daemon, and what the host left in the background."""
        with suppress(Exception):
            self.recollect("daemon", "stop")
        self.keep_primed()
        for process in self._processes():
            with suppress(OSError):
                os.kill(process, signal.SIGTERM)

    def keep_primed(self) -> None:
        """Keep what the host downloaded at its first start for the sandboxes to come."""
        primed = primed_folder(self.cli)
        if self.cli.primed and not primed.exists() and (self.home / self.cli.primed[0]).exists():
            for name in self.cli.primed:
                copy(self.home / name, primed / name)

    def _processes(self) -> Iterator[int]:
        """Yield the processes that have this sandbox's home as theirs."""
        mark = f"HOME={self.home}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)

    def _script(self, turns: Mapping[str, Sequence[Action]]) -> Script:
        return Script(turns, self.cli.calls)


def write_script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def copy(path: Path, target: Path) -> None:
    """Copy a file or a folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, target, symlinks=True)
    elif path.exists():
        shutil.copy2(path, target)


@contextmanager
def sandbox(
    cli: HostCli, *, record: bool = False, keep: Callable[[], bool] = lambda: False
) -> Iterator[Sandbox]:
    """Make a sandbox with its model running; remove it in the end, unless `keep()` or an error wants it looked at."""
    runs = cache_folder() / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{cli.name}-", dir=runs))
    box = Sandbox(cli, folder, record=record)
    try:
        with box.server:
            yield box
            if not keep():
                box.close()
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        box.close()
