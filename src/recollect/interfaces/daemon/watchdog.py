"""Work for one project that does not end: it is abandoned after a deadline, and holds up no other project.

A `WatchedPool` runs jobs in threads, each for a project. `Watchdog.abandon_late`, which the server calls every second,
gives up jobs that are past their deadline: whoever waits for one gets `Abandoned`, another thread takes its place, and
until it ends (Python cannot end a thread) its project gets no further work. Its events wait in the spool meanwhile.

Native code may stop all threads. `Watchdog.alive` sets an alarm outside of Python that ends the process if the server
does not set it again in time. Each job is noted in a file first, so the next daemon knows whose work it was, and leaves
that project alone for an hour.
"""

import faulthandler
import json
import logging
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from recollect.interfaces.daemon_client.stuck import note_stuck

logger = logging.getLogger(__name__)

WORK = "daemon.work"  # what each thread of the daemon does
HANG = "daemon.hang"  # where the threads stood when the process ended itself
HANG_SECONDS = 60.0  # that the server may be stopped by native code
PAUSE = 3600.0  # seconds that a project is left alone after it has stopped the whole process
SLOT = 1024  # bytes for each thread in the file WORK

Result = TypeVar("Result")


class Abandoned(TimeoutError):
    """The work took too long, its project has work that did, or the daemon stops."""


@dataclass(slots=True, eq=False)
class _Job:
    project: str  # its folder; "" = none
    work: str  # what it does, for people
    seconds: float
    run: Callable[[], Any]
    future: "Future[Any]" = field(default_factory=Future)
    key: str = ""  # the project that it was submitted for
    begun: float = 0.0
    is_late: bool = False
    is_replaced: bool = False  # another thread has taken the place of its thread


class Watchdog:
    """Knows the running jobs of all pools. `now` is a clock in seconds; `home` is where its notes are, None = nowhere."""

    def __init__(self, home: Path | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._home = home
        self._now = now
        self._lock = threading.Lock()
        self._running: dict[_Job, int] = {}  # with the number of its thread
        self._pools: list[WatchedPool] = []
        self._paused: dict[str, float] = {}  # projects that are left alone, and until when
        self._file = -1
        if home is not None:
            self._read_last_hang(home)
            self._file = os.open(home / WORK, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)

    def pool(
        self, name: str, threads: int, seconds: float, *, per_project: int | None = None
    ) -> "WatchedPool":
        """Return a pool whose jobs have `seconds`; at most `per_project` jobs of a project run at once."""
        pool = WatchedPool(self, name, threads, seconds, per_project or threads)
        self._pools.append(pool)
        return pool

    def is_stuck(self, project: str) -> bool:
        """Return whether the project is left alone because its work does not end."""
        if not project:
            return False
        with self._lock:
            late = any(job.is_late and job.project == project for job in self._running)
            return late or self._paused.get(project, 0.0) > self._now()

    def note(self, project: str, work: str) -> None:
        """Say what the current job does now; its deadline begins anew. Raise `Abandoned` for a project that is stuck."""
        if self.is_stuck(project):
            raise Abandoned(f"Work for {project} was abandoned")
        job = getattr(_current, "job", None)
        if job is not None:
            with self._lock:
                job.project, job.work, job.begun = project, work, self._now()
            self._write(job)

    def abandon_late(self) -> None:
        """Give up the jobs that are past their deadline. Call it every second."""
        now = self._now()
        with self._lock:
            late = [job for job in self._running if not job.is_late and now - job.begun > job.seconds]
            for job in late:
                job.is_late = True
        for job in late:
            logger.error("abandoned", extra={"fields": {"project": job.project, "work": job.work}})
            if not job.future.done():
                with suppress(Exception):  # it has just ended
                    job.future.set_exception(Abandoned(f"{job.work} took more than {job.seconds:.0f} s"))
            self._report(job.project, job.work)
        for pool in self._pools:
            pool.replace_late()

    def alive(self, seconds: float | None = None) -> None:
        """Say that the server runs. If that is not said again in time, the process ends, whatever it is doing."""
        if self._home is not None:
            seconds = HANG_SECONDS if seconds is None else seconds
            faulthandler.dump_traceback_later(seconds, exit=True, file=self._hang_file())

    def close(self) -> None:
        if self._file >= 0:
            faulthandler.cancel_dump_traceback_later()
            os.close(self._file)
            self._file = -1

    def stuck(self) -> list[dict[str, object]]:
        """Return the projects that are left alone now, and the work that does not end."""
        with self._lock:
            now = self._now()
            late = {job.project: job.work for job in self._running if job.is_late}
            paused = {project: "everything" for project, until in self._paused.items() if until > now}
            return [{"project": project, "work": work} for project, work in {**paused, **late}.items()]

    # called by the pools

    def begin(self, job: _Job, thread: int) -> None:
        with self._lock:
            job.begun = self._now()
            self._running[job] = thread
        _current.job = job
        self._write(job)

    def end(self, job: _Job) -> None:
        with self._lock:
            thread = self._running.pop(job)
        _current.job = None
        if job.project and self._file >= 0:
            with suppress(OSError):
                os.pwrite(self._file, b" " * SLOT, thread * SLOT)

    # notes for people, and for the next daemon

    def _write(self, job: _Job) -> None:
        thread = self._running.get(job)
        if job.project and thread is not None and self._file >= 0:
            line = json.dumps([job.project[-700:], job.work, time.time()]).encode()
            with suppress(OSError):  # a full disk: the note is for a rare case
                os.pwrite(self._file, line[:SLOT].ljust(SLOT), thread * SLOT)

    def _hang_file(self) -> int:
        if not hasattr(self, "_hang"):
            assert self._home is not None
            self._hang = os.open(self._home / HANG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        return self._hang

    def _read_last_hang(self, home: Path) -> None:
        """Note the projects that the last daemon worked for when it ended itself."""
        try:
            hang = (home / HANG).stat()
            notes = (home / WORK).read_bytes()
        except OSError:
            return
        if not hang.st_size:  # it ended as it should
            return
        for at in range(0, len(notes), SLOT):
            with suppress(ValueError):
                project, work, begun = json.loads(notes[at : at + SLOT])
                if hang.st_mtime - begun >= 0.9 * HANG_SECONDS:
                    self._paused[project] = self._now() + PAUSE
                    self._report(project, work)

    def _report(self, project: str, work: str) -> None:
        if self._home is None or not project:
            return
        note_stuck(self._home, project, work)


class WatchedPool:
    """Runs jobs in a few threads. No interpreter waits for them at its end, as it does for those of an executor."""

    def __init__(self, watchdog: Watchdog, name: str, threads: int, seconds: float, per_project: int) -> None:
        self._watchdog = watchdog
        self._name = name
        self._threads = threads
        self._seconds = seconds
        self._per_project = per_project
        self._jobs: deque[_Job] = deque()
        self._active: Counter[str] = Counter()  # running jobs, by project
        self._current: set[_Job] = set()
        self._workers = 0  # threads that are not stuck
        self._idle = 0
        self._changed = threading.Condition()
        self._is_closed = False

    def submit(self, project: str, job: Callable[..., Result], *arguments: Any) -> "Future[Result]":
        """Run a job for a project in the background. Raise `Abandoned` when the pool is closed."""
        work = f"{self._name}: {_name_of(job)}"
        made = _Job(project, work, self._seconds, lambda: job(*arguments), key=project)
        with self._changed:
            if self._is_closed:
                raise Abandoned("the daemon stops")
            self._jobs.append(made)
            self._start_if_needed()
            self._changed.notify()
        return made.future

    def settle(self, seconds: float) -> None:
        """Wait until the jobs that were submitted by now are done. Raise `TimeoutError` after `seconds`."""
        with self._changed:
            futures = [job.future for job in [*self._current, *self._jobs]]
        if wait(futures, seconds).not_done:
            raise TimeoutError

    def replace_late(self) -> None:
        """Start threads in place of those whose jobs were abandoned."""
        with self._changed:
            late = [job for job in self._current if job.is_late]
            for job in late:
                job.is_replaced = True
                self._leave(job)
                self._workers -= 1
            self._start_if_needed()
            self._changed.notify_all()

    def shutdown(self, seconds: float, *, cancel_futures: bool = False) -> bool:
        """Take no more jobs, wait for the current ones, and return whether they have ended in time."""
        with self._changed:
            self._is_closed = True
            while cancel_futures and self._jobs:
                job = self._jobs.popleft()
                if job.future.set_running_or_notify_cancel():
                    job.future.set_exception(Abandoned("the daemon stops"))
            self._changed.notify_all()
        try:
            self.settle(seconds)
        except TimeoutError:
            return False
        return True

    def _start_if_needed(self) -> None:
        while len(self._jobs) > self._idle and self._workers < self._threads:
            self._workers += 1
            self._idle += 1  # until it takes its first job
            threading.Thread(target=self._work, name=f"recollect-{self._name}", daemon=True).start()

    def _leave(self, job: _Job) -> None:
        if job in self._current:
            self._current.discard(job)
            self._active[job.key] -= 1

    def _work(self) -> None:
        thread = _numbers.take()
        try:
            job = self._next(is_first=True)
            while job is not None:
                self._run(job, thread)
                if job.is_replaced:
                    return
                job = self._next()
        finally:
            _numbers.give_back(thread)

    def _next(self, is_first: bool = False) -> _Job | None:
        """Return the next job whose project has not too many running; None when the pool is closed."""
        with self._changed:
            if is_first:
                self._idle -= 1
            while True:
                for job in self._jobs:
                    if not job.key or self._active[job.key] < self._per_project:
                        self._jobs.remove(job)
                        self._active[job.key] += 1
                        self._current.add(job)
                        return job
                if self._is_closed:
                    self._workers -= 1
                    return None
                self._idle += 1
                self._changed.wait()
                self._idle -= 1

    def _run(self, job: _Job, thread: int) -> None:
        if job.future.set_running_or_notify_cancel():
            if self._watchdog.is_stuck(job.project):
                job.future.set_exception(Abandoned(f"Work for {job.project} was abandoned"))
            else:
                self._call(job, thread)
        with self._changed:
            self._leave(job)
            self._changed.notify()

    def _call(self, job: _Job, thread: int) -> None:
        self._watchdog.begin(job, thread)
        result: Any = None
        error: BaseException | None = None
        try:
            result = job.run()
        except BaseException as raised:  # whoever waits for the job gets it
            error = raised
        finally:
            self._watchdog.end(job)
        with suppress(Exception):  # the job was abandoned
            if error is not None:
                job.future.set_exception(error)
            else:
                job.future.set_result(result)


class _Numbers:
    """The smallest free numbers, for the threads of all pools."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: set[int] = set()

    def take(self) -> int:
        with self._lock:
            number = next(each for each in range(len(self._taken) + 1) if each not in self._taken)
            self._taken.add(number)
            return number

    def give_back(self, number: int) -> None:
        with self._lock:
            self._taken.discard(number)


_numbers = _Numbers()
_current = threading.local()


def _name_of(job: Callable[..., object]) -> str:
    inner = getattr(job, "func", job)  # of a `partial`
    return str(getattr(inner, "__name__", "work")).strip("_")
