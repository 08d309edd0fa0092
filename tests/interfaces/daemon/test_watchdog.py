"""Work that does not end: it is given up, named, and holds up nobody else."""

import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from recollect.interfaces.daemon.watchdog import HANG, WORK, Abandoned, Watchdog
from recollect.interfaces.daemon_client.stuck import read_stuck

WAIT = 30  # seconds for what takes milliseconds


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def now():
    return Clock()


@pytest.fixture
def stuck():
    """An event that stuck work waits for; it is set at the end of the test."""
    event = threading.Event()
    yield event
    event.set()


def test_a_job_returns_its_result_or_raises_its_error(now):
    pool = Watchdog(now=now).pool("learn", 1, 10)

    assert pool.submit("/a", lambda word: word * 2, "ha").result(WAIT) == "haha"
    with pytest.raises(ZeroDivisionError):
        pool.submit("/a", lambda: 1 / 0).result(WAIT)


def test_jobs_of_one_project_run_one_after_the_other_and_in_order(now):
    pool = Watchdog(now=now).pool("learn", 4, 10, per_project=1)
    seen: list[int] = []
    gate = threading.Event()

    first = pool.submit("/a", gate.wait, WAIT)
    others = [pool.submit("/a", seen.append, number) for number in range(20)]
    gate.set()

    assert first.result(WAIT)
    for job in others:
        job.result(WAIT)
    assert seen == list(range(20))


def test_a_job_past_its_deadline_is_abandoned_and_others_go_on(now, stuck):
    watchdog = Watchdog(now=now)
    pool = watchdog.pool("learn", 1, 10)
    hanging = begin(pool, "/a", stuck)
    waiting = pool.submit("/b", lambda: "done")

    now.seconds += 11
    watchdog.abandon_late()

    with pytest.raises(Abandoned):
        hanging.result(WAIT)
    assert waiting.result(WAIT) == "done"
    assert watchdog.stuck() == [{"project": "/a", "work": "learn: block"}]


def test_a_stuck_project_gets_no_further_work_until_it_ends(now, stuck):
    watchdog = Watchdog(now=now)
    pool = watchdog.pool("learn", 2, 10)
    begin(pool, "/a", stuck)
    now.seconds += 11
    watchdog.abandon_late()

    with pytest.raises(Abandoned):
        pool.submit("/a", lambda: "done").result(WAIT)
    assert pool.submit("/b", lambda: "done").result(WAIT) == "done"
    stuck.set()
    while watchdog.is_stuck("/a"):
        time.sleep(0)

    assert pool.submit("/a", lambda: "done").result(WAIT) == "done"


def test_a_job_that_goes_on_to_another_project_gets_a_new_deadline_and_its_name(now, stuck):
    watchdog = Watchdog(now=now)
    pool = watchdog.pool("learn", 1, 10)
    begun, next_one = threading.Event(), threading.Event()

    def maintain() -> None:
        watchdog.note("/a", "maintain")
        begun.set()
        next_one.wait(WAIT)
        watchdog.note("/b", "maintain")
        begun.set()
        stuck.wait(WAIT)

    pool.submit("", maintain)
    assert begun.wait(WAIT)
    begun.clear()
    now.seconds += 8
    next_one.set()
    assert begun.wait(WAIT)
    now.seconds += 8
    watchdog.abandon_late()
    assert watchdog.stuck() == []
    now.seconds += 3
    watchdog.abandon_late()

    assert watchdog.stuck() == [{"project": "/b", "work": "maintain"}]


def test_many_abandoned_jobs_leave_as_many_threads_as_before(now, stuck):
    watchdog = Watchdog(now=now)
    pool = watchdog.pool("learn", 2, 10)
    for number in range(6):
        begin(pool, f"/stuck-{number}", stuck)
        if number % 2:
            now.seconds += 11
            watchdog.abandon_late()

    results = [pool.submit(f"/{number}", lambda: "done") for number in range(20)]

    assert [each.result(WAIT) for each in results] == ["done"] * 20


def test_shutting_down_does_not_wait_for_stuck_work(now, stuck):
    watchdog = Watchdog(now=now)
    pool = watchdog.pool("learn", 1, 10)
    begin(pool, "/a", stuck)

    assert not pool.shutdown(0.0)
    with pytest.raises(Abandoned):
        pool.submit("/a", lambda: None)


def test_what_waits_when_the_daemon_stops_is_abandoned_so_that_its_event_is_kept(now, stuck):
    pool = Watchdog(now=now).pool("learn", 1, 10)
    begin(pool, "/a", stuck)
    waiting = pool.submit("/b", lambda: "done")

    pool.shutdown(0.0, cancel_futures=True)

    with pytest.raises(Abandoned):
        waiting.result(WAIT)


def test_abandoned_work_is_written_down_for_doctor(now, stuck, tmp_path: Path):
    watchdog = Watchdog(tmp_path, now)
    begin(watchdog.pool("learn", 1, 10), "/a", stuck)
    now.seconds += 11
    watchdog.abandon_late()

    [entry] = read_stuck(tmp_path)
    assert (entry["project"], entry["work"]) == ("/a", "learn: block")
    watchdog.close()


def test_a_project_that_stopped_the_whole_process_is_left_alone_for_an_hour(now, stuck, tmp_path: Path):
    watchdog = Watchdog(tmp_path, now)
    begin(watchdog.pool("learn", 1, 10), "/a", stuck)
    notes = (tmp_path / WORK).read_bytes()
    watchdog.close()
    hang = tmp_path / HANG
    hang.write_text("Timeout!")
    (tmp_path / WORK).write_bytes(notes.replace(str(time.time())[:6].encode(), b"100000"))

    after = Watchdog(tmp_path, now)

    assert after.is_stuck("/a")
    assert not after.is_stuck("/b")
    assert [entry["project"] for entry in read_stuck(tmp_path)] == ["/a"]
    now.seconds += 3601
    assert not after.is_stuck("/a")
    after.close()


def test_damaged_notes_of_another_daemon_are_no_reason_to_fail(now, tmp_path: Path):
    (tmp_path / HANG).write_text("Timeout!")
    (tmp_path / WORK).write_bytes(b"\xff{[\x00" * 700)
    (tmp_path / "daemon.stuck").write_bytes(b'\xff\n{"at": "never"}\n[]\n{')

    watchdog = Watchdog(tmp_path, now)

    assert watchdog.stuck() == []
    assert read_stuck(tmp_path) == []
    watchdog.close()


def begin(pool, project: str, stuck: threading.Event) -> "Future[object]":
    """Submit work that does not end before `stuck` is set, and wait until it runs."""
    running = threading.Event()

    def block() -> None:
        running.set()
        stuck.wait(WAIT)

    future = pool.submit(project, block)
    assert running.wait(WAIT)
    return future
