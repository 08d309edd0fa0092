"""Two ways to call `recollect`: `run` in this process, for what a command says, and `recollect` in a new one, for what a shell sees."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recollect.__main__ import main
from recollect.interfaces.daemon_client.control import stop


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A new user's home, and a project folder to stand in."""
    for name in [name for name in os.environ if name.startswith("RECOLLECT_") or name == "NO_COLOR"]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    monkeypatch.setenv("RECOLLECT_HOME", str(home))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield home
    stop(home)  # the daemon that a command may have started


@pytest.fixture
def nice(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """By how much commands lowered the priority: that of this process stays, for all later tests."""
    steps: list[int] = []
    monkeypatch.setattr(os, "nice", lambda step: steps.append(step) or 0)
    return steps


@pytest.fixture
def run(home: Path, nice: list[int]) -> Command:
    def run(*arguments: str, stdin: bytes | str = b"") -> Result:
        with CliRunner().isolation(input=stdin) as (out, err, _):
            code = main(list(arguments))
            return Result(code, out.getvalue().decode(), err.getvalue().decode())

    return run


@pytest.fixture
def recollect(home: Path) -> Command:
    def recollect(*arguments: str | bytes, stdin: bytes = b"", **variables: str) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "recollect", *arguments],
            input=stdin,
            capture_output=True,
            env={**os.environ, **variables},
            timeout=60,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    return recollect


@pytest.fixture
def remember(run: Command) -> Callable[..., str]:
    """Keep a statement; its id."""

    def remember(text: str, *options: str) -> str:
        result = run("remember", text, *options, "--json")
        assert result.code == 0, result
        return str(result.json["id"])

    return remember
