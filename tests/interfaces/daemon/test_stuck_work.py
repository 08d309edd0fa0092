"""A real daemon with work that never ends: other projects go on, doctor names it, stopping works, nothing is lost."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import apsw
import pytest
from tests import child

from recollect.interfaces.daemon_client import control as client
from recollect.interfaces.daemon_client.protocol import LOCK
from recollect.store.sqlite.connection import connect

SECONDS = 60  # for what takes a second on a free machine
STOP_SECONDS = 5  # that `daemon stop` may take

# A daemon whose recording of events never ends in projects called "stuck": in Python, or in native code that
# keeps all other threads from running.
DAEMON = """
import re, sys, threading
from recollect.interfaces.daemon import watchdog
from recollect.interfaces.daemon.__main__ import main
from recollect.work.sessions.sessions import Sessions

home, how = sys.argv[1:]
if how == "starting":
    from recollect.interfaces.daemon import server
    server.serve = lambda *arguments: threading.Event().wait()
job = watchdog._Job
watchdog._Job = lambda project, work, seconds, run, **more: job(
    project, work, 0.5 if project.endswith("stuck") else seconds, run, **more
)
watchdog.HANG_SECONDS = 2.0
start = Sessions.start

def never_ends(self, *arguments, **options):
    if self.context.folder and self.context.folder.folder.name == "stuck":
        if how == "native":
            re.match("(a+)+$", "a" * 60 + "b")
        threading.Event().wait()
    return start(self, *arguments, **options)

Sessions.start = never_ends
main([home])
"""


@pytest.fixture
def place(home, monkeypatch):
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    monkeypatch.setenv("RECOLLECT_HOME", str(home))
    yield home
    client.stop(home)


@pytest.fixture
def folders(tmp_path):
    made = {name: tmp_path / name for name in ("stuck", "other")}
    for folder in made.values():
        folder.mkdir()
    return made


@pytest.fixture
def daemon(place):
    """Start a daemon in which work gets stuck, and return when it answers."""
    started = []

    def start(how):
        started.append(child.start(DAEMON, place, how))
        until(lambda: client.is_running(place) if how == "starting" else client.status(place))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def tell(folder, number):
    """A hook about a command that was run."""
    body = {
        "session_id": f"s-{folder.name}",
        "cwd": str(folder),
        "tool_name": "Bash",
        "tool_input": {"command": f"echo {number}"},
        "tool_response": {"stdout": str(number), "stderr": ""},
    }
    words = [sys.executable, "-m", "recollect", "hook", "claude-code", "PostToolUse"]
    done = subprocess.run(words, input=json.dumps(body).encode(), capture_output=True, timeout=SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def until(condition, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come to that"
        os.sched_yield()
    return found


@contextmanager
def in_time(seconds):
    """Assert that the block takes at most so long, without what a busy machine keeps processes waiting for a core."""
    is_over, late = threading.Event(), [0.0]

    def measure():
        while not is_over.is_set():
            begun = time.monotonic()
            is_over.wait(0.05)
            late[0] += max(time.monotonic() - begun - 0.05, 0.0)

    watch = threading.Thread(target=measure)
    watch.start()
    begun = time.monotonic()
    try:
        yield
    finally:
        took = time.monotonic() - begun
        is_over.set()
        watch.join()
    assert took - late[0] < seconds


def commands(home, folder):
    """What is stored of the project's session, in order."""
    if not (home / "recollect.db").exists():
        return []
    database = connect(home / "recollect.db", None)
    try:
        query = "SELECT event FROM session_events WHERE session = ? ORDER BY position"
        events = [json.loads(row[0]) for row in database.execute(query, (f"s-{folder.name}",))]
    except apsw.Error:  # not made yet, or busy
        return []
    finally:
        database.close()
    return [event["input"]["command"] for event in events if "input" in event]


def test_a_stuck_project_is_named_and_holds_up_no_other(daemon, place, folders):
    daemon("python")

    tell(folders["stuck"], 1)
    stuck = until(lambda: (client.status(place) or {}).get("stuck"))
    for number in (1, 2, 3):
        tell(folders["other"], number)

    assert until(lambda: len(commands(place, folders["other"])) == 3)
    assert stuck[0]["project"] == str(folders["stuck"])
    words = [sys.executable, "-m", "recollect", "doctor"]
    told = f"{folders['stuck']} ({stuck[0]['work']})"  # recorded at once, or from the spool if the hook did not wait

    def doctor():
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, cwd=folders["other"])
        return " ".join(done.stdout.split())

    printed = until(
        lambda: said if "does not end" in (said := doctor()) else ""
    )  # a busy daemon may not answer
    assert f"work for a project does not end: {told}" in printed
    assert f"Work for {folders['stuck']} took too long and was abandoned ({stuck[0]['work']})" in printed


def test_a_daemon_with_stuck_work_stops_and_its_event_is_recorded_later(daemon, place, folders):
    daemon("python")
    tell(folders["stuck"], 1)
    until(lambda: (client.status(place) or {}).get("stuck"))

    with in_time(STOP_SECONDS):
        assert client.stop(place)
    os.utime(place / LOCK, (0, 0))  # a hook starts no daemon within two seconds of the last start

    tell(folders["stuck"], 2)  # starts a daemon in which nothing is stuck
    assert until(lambda: commands(place, folders["stuck"]) == ["echo 1", "echo 2"])


def test_a_daemon_that_native_code_has_stopped_is_stopped_all_the_same(daemon, place, folders):
    daemon("native")
    tell(folders["other"], 1)
    until(lambda: commands(place, folders["other"]))
    tell(folders["stuck"], 1)
    until(lambda: client.status(place) is None)

    with in_time(STOP_SECONDS):
        client.stop(place)
    os.utime(place / LOCK, (0, 0))

    assert not client.is_running(place)
    assert commands(place, folders["other"]) == ["echo 1"]
    tell(folders["other"], 2)
    assert until(lambda: commands(place, folders["other"]) == ["echo 1", "echo 2"])


def test_a_daemon_that_native_code_has_stopped_ends_itself_and_the_next_one_leaves_the_project_alone(
    daemon, place, folders
):
    daemon("native")
    tell(folders["stuck"], 1)

    until(lambda: not client.is_running(place))
    os.utime(place / LOCK, (0, 0))
    tell(folders["other"], 1)

    assert until(lambda: commands(place, folders["other"])) == ["echo 1"]


@pytest.mark.parametrize("state", ["idle", "starting", "suspended"])
def test_a_daemon_in_any_state_is_stopped_in_time(daemon, place, state):
    process = daemon(state)
    if state == "suspended":
        os.kill(process.pid, signal.SIGSTOP)

    with in_time(STOP_SECONDS):
        assert client.stop(place)

    assert process.wait(SECONDS) == (0 if state == "idle" else -signal.SIGKILL)


def test_stopping_waits_for_an_answer_no_longer_than_it_may_take(place, monkeypatch):
    """However slow each step is: the sum of all waits is known before any of them begins."""
    waits = []
    clock = iter(range(1000))
    monkeypatch.setattr(client, "is_running", lambda home: len(waits) < 4)
    monkeypatch.setattr(client.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(client.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(
        client.protocol, "ask", lambda home, want, fields, body, seconds: waits.append(seconds)
    )

    assert client.stop(place)

    assert waits == [2.0, 2.0, pytest.approx(1.2), pytest.approx(0.2)]
    assert client.PATIENCE < STOP_SECONDS - 0.5
