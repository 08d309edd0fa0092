"""The user's own command: JSON in, JSON out, and gone when its time is over."""

import json
import os
import shlex
import sys
from dataclasses import replace

import pytest

from recollect.config import load_settings
from recollect.llm.client import LlmError
from recollect.llm.command import CommandClient
from recollect.llm.consent import agreement, place
from recollect.llm.protocol import StatementRelation
from recollect.llm.questions import relate
from recollect.memory.sidecar import open_sidecar

NEW, OLD = "The API listens on port 9090", "The API listens on port 8080"
LOCAL = StatementRelation.CONTRADICTION

PROSE = """
import json, sys
asked = json.load(sys.stdin)
print("Thinking about", asked["purpose"], "{not json}")
print(json.dumps({"relation": "related"}))
print("Hope this helps!")
"""


@pytest.fixture
def script(tmp_path):
    """A command that runs this Python."""

    def write(text):
        file = tmp_path / "a command.py"
        file.write_text(text)
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(file))}"

    return write


@pytest.fixture
def ask(home, embedder, clock, engine):
    """Asks a command how two statements relate, with the user's consent."""

    def ask(command, seconds=60.0, agree=True):
        settings = replace(
            load_settings(home, {}, sidecar="command", sidecar_command=command), sidecar_seconds=seconds
        )
        if agree:
            engine.preferences.agree(agreement(settings))
        return open_sidecar(settings, engine.store, embedder, clock).relate(NEW, OLD)

    return ask


def outcomes(store, clock):
    calls = store.ledger.since(load_settings().user, clock.now.replace(year=2000))
    return [str(call.outcome) for call in calls]


def test_an_answer_is_found_within_prose(ask, script, store, clock):
    assert ask(script(PROSE)) is StatementRelation.RELATED
    assert outcomes(store, clock) == ["answered"]


def test_it_is_not_run_before_the_user_agrees(ask, script, tmp_path, store, clock):
    mark = tmp_path / "it ran"

    assert ask(script(f"open({str(mark)!r}, 'w')"), agree=False) is LOCAL
    assert not mark.exists()
    assert outcomes(store, clock) == []


def test_one_that_fails_is_stood_in_for(ask, script, store, clock):
    assert ask(script('import sys; print(\'{"relation": "related"}\'); sys.exit(1)')) is LOCAL
    assert outcomes(store, clock) == ["silent"]


def test_one_that_does_not_exist_is_stood_in_for(ask, store, clock):
    assert ask("no-such-command --at all") is LOCAL
    assert outcomes(store, clock) == ["refused"]


def test_one_that_reads_nothing_and_says_nothing_is_stood_in_for(ask, script, store, clock):
    assert ask(script("")) is LOCAL
    assert outcomes(store, clock) == ["malformed", "malformed"]


def test_one_that_hangs_is_killed_with_what_it_started(script, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    child = "import os, sys, threading; os.write(int(sys.argv[1]), b'started'); threading.Event().wait()"
    text = f"""
import os, subprocess, sys
held = os.open({str(pipe)!r}, os.O_WRONLY)
subprocess.run([sys.executable, "-c", {child!r}, str(held)], pass_fds=[held])
"""
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reading, True)

    with pytest.raises(LlmError, match="longer"):
        CommandClient(script(text), os.environ).ask(relate(NEW, OLD).prompt(), 2.0)

    with os.fdopen(reading, "rb") as told:
        assert told.read() == b"started"  # to the end: nobody holds the pipe any more


def test_our_keys_stay_here_and_it_cannot_ask_in_a_circle(script, tmp_path):
    told = tmp_path / "told.json"
    text = f"import json, os; json.dump([dict(os.environ), os.listdir()], open({str(told)!r}, 'w'))"
    environment = {
        **os.environ,
        "RECOLLECT_KEY": "k",
        "RECOLLECT_SIDECAR_KEY": "s",
        "RECOLLECT_HOME": "/somewhere",
        "RECOLLECT_SIDECAR": "command",
    }

    CommandClient(script(text), environment).ask(relate(NEW, OLD).prompt(), 60.0)

    seen, files = json.loads(told.read_text())
    ours = {name: value for name, value in seen.items() if name.startswith("RECOLLECT_")}
    assert ours == {"RECOLLECT_HOME": "/somewhere", "RECOLLECT_SIDECAR": "none"}
    assert files == []


def test_a_key_in_the_command_is_not_written_down(home):
    secret = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"

    settings = load_settings(home, {}, sidecar="command", sidecar_command=f"ask --key {secret}")

    assert place(settings).startswith("ask --key ")
    assert secret not in place(settings) + agreement(settings)
