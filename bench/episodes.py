"""Asks what was done before of a store with a million tool executions, and records as fast as it can.

Questions are asked warm in one process and cold in a new one; co-edits also in SQLite, in the same run. Run with
`python -m bench.episodes`.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect.config import Settings
from recollect.engine import Engine
from recollect.store import open_store
from recollect.store.sqlite.connection import connect
from recollect.work.episodes.tasks import words_of

EXECUTIONS = 1_000_000
TOUCHES = 100_000
TASKS = 20_000
RECORDED = 20_000
NOW = datetime(2026, 6, 1, tzinfo=UTC)
TARGET_MS, TARGET_COLD, TARGET_RATE, TARGET_P99 = 300, 5, 2000, 5

_TOOLS = ("Read", "Edit", "Bash", "Grep", "Write", "Glob", "WebFetch", "MultiEdit")
_VERBS = ("fix", "add", "explain", "refactor", "speed up", "test", "document", "remove", "find", "port")
_NOUNS = (
    "login",
    "cart",
    "invoice",
    "search",
    "export",
    "queue",
    "cache",
    "session",
    "billing",
    "webhook",
    "upload",
)
_THINGS = (
    "loop",
    "timeout",
    "rounding",
    "page",
    "worker",
    "schema",
    "retry",
    "layout",
    "limit",
    "index",
    "report",
)


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder) / "home", Path(folder) / "shop"
        project.mkdir()
        settings = Settings(home=home, user="bench", embedder="none")
        with Engine.open(project, settings=settings, clock=lambda: NOW) as engine:
            assert engine.project is not None
            owner = (settings.user, engine.project.id)
        begin = time.perf_counter()
        _fill(settings.database, owner)
        filled = time.perf_counter() - begin
        with Engine.open(project, settings=settings, clock=lambda: NOW) as engine:
            warm = _warm(engine)
            size = engine.store.info().size
        cold = {name: _cold(project, home, name) for name in _questions()}
        recording = _recording(Path(folder) / "recording", project)
    return {
        "executions": EXECUTIONS,
        "touches": TOUCHES,
        "tasks": TASKS,
        "mb": size / 1e6,
        "filled_s": filled,
        "warm_ms": warm,
        "cold_s": cold,
        "recording": recording,
    }


def _questions() -> dict[str, Callable[[Engine], object]]:
    return {
        "worked on this file": lambda engine: engine.episodes.file("src/cart/module_7.py"),
        "edited together": lambda engine: engine.episodes.coedits(),
        "last work on a topic": lambda engine: engine.episodes.last("invoice"),
        "success of tools, 7 days": lambda engine: engine.episodes.tools(NOW - timedelta(days=7)),
        "what was I doing": lambda engine: engine.episodes.what_was_i_doing(),
        "tasks like this": lambda engine: engine.episodes.similar_tasks(
            "the cart has a timeout in its worker"
        ),
        "files of a task": lambda engine: engine.episodes.files_of("777"),
    }


def _fill(database: Path, owner: tuple[str, str]) -> None:
    """Past the engine: what is measured is asking."""
    open_store(database, owner[0]).close()
    db = connect(database, None)
    db.execute("PRAGMA synchronous = off")
    chance = random.Random(5)
    begin = NOW - timedelta(days=80)
    step = timedelta(days=80) / TASKS
    with db:
        db.executemany(
            "INSERT INTO task_history (task_id, user_id, project_id, session_id, description, intent, status,"
            " started_at, files_touched, tools_used, outcome, words) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '[]', '{}', ?, ?)",
            _tasks(chance, owner, begin, step),
        )
        db.executemany(
            "INSERT INTO tool_executions (key, user_id, project_id, timestamp, session_id, task_id, tool_name, parameters,"
            " result, success, error_message, duration_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            _executions(chance, owner, begin, step),
        )
        db.executemany(
            "INSERT INTO file_interactions (key, user_id, project_id, timestamp, session_id, task_id, file_path, operation,"
            " success, changes_summary) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            _touches(chance, owner, begin, step),
        )
    db.close()


def _tasks(
    chance: random.Random, owner: tuple[str, str], begin: datetime, step: timedelta
) -> Iterator[tuple[Any, ...]]:
    for number in range(TASKS):
        told = f"{chance.choice(_VERBS)} the {chance.choice(_NOUNS)} {chance.choice(_THINGS)} {number % 97}"
        status = chance.choices(["completed", "paused", "failed", "active"], [80, 10, 9, 1])[0]
        at = m.to_text(begin + number * step)
        yield (
            f"task{number}",
            *owner,
            f"s{number // 4}",
            told,
            "CodeWriting",
            status,
            at,
            "done",
            words_of(told),
        )


def _executions(
    chance: random.Random, owner: tuple[str, str], begin: datetime, step: timedelta
) -> Iterator[tuple[Any, ...]]:
    each = EXECUTIONS // TASKS
    for number in range(EXECUTIONS):
        task = number // each
        tool = chance.choice(_TOOLS)
        good = chance.random() > 0.08
        given = json.dumps({"command": f"pytest -q tests/test_{number % 500}.py -k {chance.choice(_NOUNS)}"})
        at = m.to_text(begin + task * step + (number % each) * timedelta(seconds=6))
        shape = json.dumps({"chars": chance.randrange(9000), "lines": chance.randrange(200)})
        error = None if good else "AssertionError: assert 3 == 4"
        took = chance.randrange(20, 9000)
        yield f"k{number}", *owner, at, f"s{task // 4}", f"task{task}", tool, given, shape, good, error, took


def _touches(
    chance: random.Random, owner: tuple[str, str], begin: datetime, step: timedelta
) -> Iterator[tuple[Any, ...]]:
    """Five a task, most of them around one file and its neighbours, so that some pairs come again and again."""
    bursts = TASKS // 5
    each = TOUCHES // bursts
    for number in range(TOUCHES):
        task = (number // each) * 5
        noun = _NOUNS[task % len(_NOUNS)]
        path = f"src/{noun}/module_{min(int(chance.expovariate(0.15)), 120)}.py"
        operation = chance.choices(["read", "edit", "search", "write", "analyze"], [40, 40, 8, 6, 6])[0]
        at = m.to_text(begin + task * step + (number % each) * timedelta(seconds=chance.randrange(10, 40)))
        changes = "+3 −1 lines" if operation in ("edit", "write") else None
        yield f"f{number}", *owner, at, f"s{task // 4}", f"task{task}", path, operation, True, changes


def _warm(engine: Engine) -> dict[str, float]:
    """The slowest of five, after one that warms up."""
    slowest = {}
    for name, question in _questions().items():
        question(engine)
        slowest[name] = max(_timed(lambda question=question: question(engine)) for _ in range(5))  # type: ignore[misc]
    return slowest


def _timed(deed: Callable[[], object]) -> float:
    begin = time.perf_counter()
    deed()
    return (time.perf_counter() - begin) * 1000


def _cold(project: Path, home: Path, name: str) -> float:
    """A new process, from its start to the answer."""
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "bench.episodes", "--cold", str(project), str(home), name],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "RECOLLECT_EMBEDDER": "none"},
    )
    return time.perf_counter() - begin


def _answer_cold(project: str, home: str, name: str) -> None:
    settings = Settings(home=Path(home), user="bench", embedder="none")
    with Engine.open(project, settings=settings, clock=lambda: NOW) as engine:
        print(_questions()[name](engine))


def _recording(home: Path, project: Path) -> dict[str, float]:
    """At full speed from two threads, and the time each call took."""
    settings = Settings(home=home, user="bench", embedder="none")
    with Engine.open(project, settings=settings) as engine:
        episodes = engine.episodes
        took: list[float] = []

        def host(number: int) -> None:
            for each in range(RECORDED // 2):
                given = {
                    "command": f"pytest -q tests/test_{each % 500}.py::test_{number}_{each}",
                    "description": "Run a test",
                }
                files = [(f"src/module_{each % 300}.py", "edit")]
                begin = time.perf_counter()
                episodes.record(
                    "Bash",
                    given,
                    session=f"s{number}",
                    output="2 passed in 0.3s\n",
                    files=files,
                    duration_ms=8,
                )
                took.append(time.perf_counter() - begin)
                if each % 20 == 19:
                    time.sleep(0.004)  # hosts work in between

        begin = time.perf_counter()
        threads = [threading.Thread(target=host, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        episodes.flush()
        seconds = time.perf_counter() - begin
        kept = engine.store.episodes.size() // 2
        dropped = episodes.dropped
        episodes.close()
    took.sort()
    return {
        "kept": kept,
        "dropped": dropped,
        "per_s": kept / seconds,
        "p50_ms": statistics.median(took) * 1000,
        "p99_ms": took[int(len(took) * 0.99)] * 1000,
        "max_ms": took[-1] * 1000,
    }


def show(found: dict[str, Any]) -> None:
    print(
        f"{found['executions']:,} executions, {found['touches']:,} files touched, {found['tasks']:,} tasks; {found['mb']:.0f} MB"
    )
    print(f"{'question':<28}{'warm ms':>9}{'cold s':>9}   (targets ≤ {TARGET_MS} ms, ≤ {TARGET_COLD} s)")
    for name, warm in found["warm_ms"].items():
        print(f"{name:<28}{warm:>9.1f}{found['cold_s'][name]:>9.2f}")
    recording = found["recording"]
    print(
        f"recording: {recording['per_s']:,.0f} events a second (target ≥ {TARGET_RATE:,}), p50 {recording['p50_ms']:.3f} ms,"
        f" p99 {recording['p99_ms']:.3f} ms (target ≤ {TARGET_P99}), longest {recording['max_ms']:.1f} ms,"
        f" {recording['dropped']} dropped"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--cold"]:
        _answer_cold(*sys.argv[2:])
    else:
        show(run())
