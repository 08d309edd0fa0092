"""Real processes: daemons that are killed, stopped, started twice; nothing is lost, nothing counts twice, one remains."""

import json
import os
import signal
import subprocess
import sys
import time

import apsw
import pytest

from recollect.interfaces.daemon_client import control
from recollect.interfaces.daemon_client.start import start
from recollect.store.sqlite.connection import connect


@pytest.fixture
def place(home, folder, monkeypatch):
    """A home in which daemons may come and go; none is left behind."""
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    yield home
    control.stop(home)


@pytest.fixture
def tell(place, folder):
    """A hook about a command that was run."""

    def call(number):
        body = {
            "session_id": "s1",
            "cwd": str(folder),
            "tool_name": "Bash",
            "tool_input": {"command": f"echo {number}"},
            "tool_response": {"stdout": str(number), "stderr": ""},
        }
        words = [sys.executable, "-m", "recollect", "hook", "claude-code", "PostToolUse"]
        done = subprocess.run(words, input=json.dumps(body).encode(), capture_output=True, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    return call


def until(condition, seconds=60):
    """Wait for something that another process does."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come to that"
        os.sched_yield()
    return found


def commands(home):
    """What is stored of the session, in order; nothing while there is no store."""
    if not (home / "recollect.db").exists():
        return []
    database = connect(home / "recollect.db", None)
    try:
        rows = database.execute("SELECT event FROM session_events WHERE session = 's1' ORDER BY position")
        found = [json.loads(row[0]) for row in rows]
    except apsw.Error:  # not made yet, or busy
        return []
    finally:
        database.close()
    return [event["input"]["command"] for event in found if "input" in event]


def test_a_hook_starts_a_daemon_that_takes_in_its_event(place, tell):
    tell(1)

    said = until(lambda: control.status(place))
    assert until(lambda: commands(place)) == ["echo 1"]
    assert control.stop(place)
    assert not _alive(said["pid"])


def test_of_two_daemons_started_at_once_one_remains(place):
    words = [sys.executable, "-m", "recollect.interfaces.daemon", str(place)]
    both = [subprocess.Popen(words, stdin=subprocess.DEVNULL) for _ in range(2)]

    said = until(lambda: control.status(place))
    until(lambda: any(each.poll() is not None for each in both))

    (left,) = [each for each in both if each.poll() is None]
    assert left.pid == said["pid"]
    control.stop(place)
    assert [each.wait(60) for each in both] == [0, 0]


def test_a_daemon_is_not_started_where_there_is_one_or_one_has_just_failed(place):
    assert start(str(place))
    assert not start(str(place))
    said = until(lambda: control.status(place))
    os.kill(said["pid"], signal.SIGKILL)
    until(lambda: not control.is_running(place))

    assert start(str(place), pause=0.0)
    assert until(lambda: control.status(place))["pid"] != said["pid"]


def test_killed_again_and_again_it_loses_nothing(place, tell):
    for number in range(12):
        if number % 4 == 1:
            os.kill(control.ensure(place)["pid"], signal.SIGKILL)
        tell(number)

    until(lambda: control.ensure(place))
    found = until(lambda: len(commands(place)) >= 12 and commands(place))
    assert sorted(found) == sorted(f"echo {number}" for number in range(12))


def test_a_daemon_that_was_stopped_for_a_while_stores_it_once(place, tell):
    said = control.ensure(place)
    os.kill(said["pid"], signal.SIGSTOP)
    try:
        tell(1)
        until(lambda: list((place / "spool" / "hooks").glob("*.jsonl")))
    finally:
        os.kill(said["pid"], signal.SIGCONT)
    tell(2)

    found = until(lambda: len(commands(place)) >= 2 and commands(place))
    assert sorted(found) == ["echo 1", "echo 2"]
    assert control.status(place)["pid"] == said["pid"]


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
        return file.read().rpartition(")")[2].split()[0] != "Z"


def test_a_home_that_is_replaced_ends_its_daemon_and_keeps_the_new_one(place, tell):
    tell(1)
    old = until(lambda: control.status(place))
    until(lambda: commands(place) == ["echo 1"])
    place.rename(place.parent / "moved")
    place.mkdir(mode=0o700)

    tell(2)  # starts a daemon in the new home
    new = until(lambda: control.status(place))
    until(lambda: not control.is_running(place.parent / "moved"))

    assert new["pid"] != old["pid"]
    assert control.status(place)["pid"] == new["pid"]
    assert until(lambda: commands(place)) == ["echo 2"]
    backups = [
        file for file in (place / "backups").glob("**/*") if file.is_file()
    ]  # of the new one, if there are any
    assert not any(b"echo 1" in file.read_bytes() for file in backups)
    assert commands(place.parent / "moved") == ["echo 1"]
