"""The hook program as hosts start it: a process for every event."""

import json
import os
import subprocess
import sys

import pytest

from recollect.interfaces.daemon_client.start import take_lock

PROGRAM = [sys.executable, "-m", "recollect", "hook"]


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory):
    """A folder for bytecode, as an installed package has it: compiling takes longer than a hook."""
    return str(tmp_path_factory.mktemp("bytecode"))


@pytest.fixture
def hook(home, folder, bytecode):
    """Runs the program; what it printed. Fails unless it exits 0 and says nothing on standard error."""

    def call(event="UserPromptSubmit", body=None, host="claude-code", **options):
        if body is None:
            body = json.dumps({"session_id": "s1", "cwd": str(folder), "prompt": "hello there"}).encode()
        # What it starts behind our back may come up when the test is over, and must not stay.
        quiet = {
            "RECOLLECT_EMBEDDER": "none",
            "RECOLLECT_DAEMON_IDLE": "3",
            "RECOLLECT_FIRST_PROMPT_SECONDS": "0",
            "RECOLLECT_HOOK_DEADLINE": "10",  # on a busy machine a daemon that answers is late otherwise
        }
        environment = {
            **os.environ,
            **quiet,
            "PYTHONPYCACHEPREFIX": bytecode,
            **options.pop("environment", {}),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [*PROGRAM, host, event], input=body, capture_output=True, env=environment, timeout=60, **options
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    return call


@pytest.fixture
def no_daemon(home):
    """None can start: someone holds its lock."""
    file = take_lock(str(home))
    yield
    os.close(file)
