"""Attacks on `recollect daemon stop`: it takes at most five seconds, whatever the daemon is doing."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.attack.case import CASE_SECONDS, Result, cases, environment, hook_event, place

STOP_SECONDS = 5.0
STATES = ("idle", "stuck", "native", "suspended", "loaded")
HOOKS = 8  # that report at once while a loaded daemon is stopped


def stops(folder: Path, seconds: float) -> Result:
    """A daemon that is idle, has stuck work, is held by native code, is suspended, or is under load; a try is a stop."""
    from recollect.interfaces.daemon_client import control

    result, slowest = Result(), dict.fromkeys(STATES, 0.0)
    for number in cases(seconds, 50, least=len(STATES)):
        state = STATES[number % len(STATES)]
        with place() as (home, project):
            result.tries += 1
            words = [sys.executable, "-m", "bench.attack.children", "daemon", str(home), state]
            daemon = subprocess.Popen(words, env=environment(home), stderr=subprocess.DEVNULL)
            hooks: list[subprocess.Popen[bytes]] = []
            try:
                result.need(
                    _until(lambda home=home: control.status(home) is not None), f"no daemon ({state})"
                )
                hooks = _bring_about(state, daemon.pid, home, project, result)
                with fair_clock() as took:
                    control.stop(home)
                slowest[state] = max(slowest[state], took[0])
                if took[0] > STOP_SECONDS or control.is_running(home):
                    result.add("hung", f"stopping took {took[0]:.1f} s ({state})")
            finally:
                for process in (daemon, *hooks):
                    with suppress(ProcessLookupError):
                        process.kill()
                    process.communicate()
    figures = ", ".join(f"{state} {slowest[state]:.1f}" for state in STATES)
    result.note = f"slowest: {figures} s (at most {STOP_SECONDS:g})"
    return result


def _bring_about(
    state: str, daemon: int, home: Path, project: Path, result: Result
) -> list["subprocess.Popen[bytes]"]:
    """Bring the daemon into the state, and return the hooks that are at work."""
    from recollect.interfaces.daemon_client import control

    if state == "suspended":
        os.kill(daemon, signal.SIGSTOP)
    if state not in ("stuck", "native", "loaded"):
        return []
    hooks = [_hook(home, project, number) for number in range(HOOKS if state == "loaded" else 1)]
    if state == "stuck":
        result.need(_until(lambda: (control.status(home) or {}).get("stuck")), "no work was stuck")
    elif state == "native":
        result.need(_until(lambda: control.status(home) is None), "native code held nothing")
    return hooks


def _hook(home: Path, project: Path, number: int) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-m", "recollect", "hook", "claude-code", "PostToolUse"]
    process = subprocess.Popen(
        words, env=environment(home), cwd=project, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(hook_event(project, f"echo {number}")).encode())
    process.stdin.close()
    process.stdin = None
    return process


def _until(condition: Callable[[], object]) -> bool:
    until = time.monotonic() + CASE_SECONDS
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False


@contextmanager
def fair_clock() -> Iterator[list[float]]:
    """Measure a block in seconds, without those for which a busy machine kept this process waiting for a core."""
    is_over, late, took = threading.Event(), [0.0], [0.0]

    def measure() -> None:
        while not is_over.is_set():
            begun = time.monotonic()
            is_over.wait(0.05)
            late[0] += max(time.monotonic() - begun - 0.05, 0.0)

    watch = threading.Thread(target=measure)
    watch.start()
    begun = time.monotonic()
    try:
        yield took
    finally:
        total = time.monotonic() - begun
        is_over.set()
        watch.join()
        took[0] = max(total - late[0], 0.0)


def serve(home: str, state: str) -> None:
    """Run a daemon whose recording of events never ends: in Python ("stuck"), or in native code ("native")."""
    import re

    from recollect.interfaces.daemon import watchdog
    from recollect.interfaces.daemon.__main__ import main
    from recollect.work.sessions.sessions import Sessions

    job, start = watchdog._Job, Sessions.start

    def short_job(project: str, work: str, seconds: float, run: object, **more: object) -> object:
        return job(project, work, 0.5, run, **more)  # type: ignore[arg-type]

    def never_ends(self: object, *arguments: object, **options: object) -> object:
        if state == "native":
            re.match("(a+)+$", "a" * 60 + "b")
        threading.Event().wait()
        return start(self, *arguments, **options)  # type: ignore[arg-type]

    if state in ("stuck", "native"):
        watchdog._Job = short_job  # type: ignore[assignment,misc]
        Sessions.start = never_ends  # type: ignore[method-assign,assignment]
    main([home])
