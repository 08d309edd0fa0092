"""What a consolidation finds of what was planted, how long it takes, what it costs others, and whether it can be undone."""

import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import apsw
import numpy as np

from bench.consolidate.corpus import Said
from bench.consolidate.store import built
from bench.corpus import sentences
from bench.recall.figures import OUT
from recollect import Engine
from recollect.store.sqlite.connection import connect

SIZE = 100_000
ORPHANS = 200
KILLED = 2_000  # memories of the store on which runs are killed
KILLS = 20
ALONE = 150  # searches before and after, with nothing else going on
PAUSE = 0.05  # seconds between two searches
TABLES = "memories tags memory_tags vectors links clusters cluster_members reviews findings".split()


def run(size: int = SIZE, kills: int = KILLS, folder: Path = OUT / "consolidate") -> dict[str, Any]:
    figures: dict[str, Any] = {"size": size}
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made, said, ids = built(size, folder, ORPHANS)
        home = Path(scratch) / "home"
        shutil.copytree(made, home)
        before = _digests(home)
        figures |= _timed_beside_searches(home)
        figures |= _quality(home, said, ids)
        figures |= _undone(home, before)
    figures |= _killed(kills, folder)
    return figures


def _command(home: Path, *arguments: str) -> list[str]:
    folder = ("--home", str(home), "--project", str(home / "project"))
    return [sys.executable, "-m", "recollect", *arguments, *folder, "--json"]


def _timed_beside_searches(home: Path) -> dict[str, Any]:
    questions = [text.split(";")[0].replace("The", "When", 1) for text in sentences(2_000, seed=99)]
    asked = iter(questions * 50)
    with Engine.open(home / "project", home) as engine:
        for _ in range(10):
            engine.search(next(asked))
        alone = _searches(engine, asked, lambda took: len(took) < ALONE)
        begin = perf_counter()
        child = subprocess.Popen(_command(home, "consolidate", "--all-projects"), stdout=subprocess.PIPE)
        ended: list[Any] = []

        def goes_on(_: list[float]) -> bool:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                ended.extend((status, usage, perf_counter() - begin))
            return not pid

        meanwhile = _searches(engine, asked, goes_on)
        alone += _searches(engine, asked, lambda took: len(took) < ALONE)
    status, usage, seconds = ended
    assert child.stdout is not None
    told = json.loads(child.stdout.read())
    child.returncode = status
    p95 = {
        name: float(np.percentile(took, 95)) for name, took in (("alone", alone), ("meanwhile", meanwhile))
    }
    return {
        "summary": told["summary"],
        "finished": told["finished"],
        "change": told["change"],
        "seconds": seconds,
        "cpu seconds": usage.ru_utime + usage.ru_stime,
        "peak MB": usage.ru_maxrss / 1024,
        "searches meanwhile": len(meanwhile),
        "search p50 alone ms": statistics.median(alone),
        "search p50 meanwhile ms": statistics.median(meanwhile),
        "search p95 alone ms": p95["alone"],
        "search p95 meanwhile ms": p95["meanwhile"],
        "× p95": p95["meanwhile"] / p95["alone"],
    }


def _searches(engine: Engine, asked: Iterator[str], goes_on: Callable[[list[float]], bool]) -> list[float]:
    """Milliseconds of each."""
    took: list[float] = []
    while goes_on(took):
        begin = perf_counter()
        engine.search(next(asked))
        took.append((perf_counter() - begin) * 1000)
        sleep(PAUSE)
    return took


def _quality(home: Path, said: Sequence[Said], ids: Sequence[str]) -> dict[str, Any]:
    number = {name: at for at, name in enumerate(ids)}
    first = {
        each.fact: at for at, each in enumerate(said) if each.role in ("original", "contradicted", "missed")
    }
    with _database(home) as db:
        replaced = [
            (number[old], number[new], reason)
            for old, new, reason in db.execute(
                "SELECT id, superseded_by, state_reason FROM memories WHERE state = 'superseded'"
            )
        ]
        asked = Counter[tuple[str, frozenset[int]]](
            (kind, frozenset(number[name] for name in json.loads(memories)))
            for kind, memories in db.execute("SELECT kind, memories FROM reviews")
        )
        linked = {
            frozenset((number[source], number[target]))
            for source, target in db.execute(
                "SELECT source, target FROM links WHERE relation = 'contradicts'"
            )
        }
        orphans = int(db.execute("SELECT count(*) FROM tags WHERE name LIKE 'orphan-%'").get)
    merged = {frozenset((old, new)) for old, new, reason in replaced if "says the same" in reason}
    settled = {frozenset((old, new)) for old, new, reason in replaced if "says the same" not in reason}
    proposed = {pair for kind, pair in asked if kind == "merge"}

    def planted(role: str) -> set[frozenset[int]]:
        return {frozenset((first[each.twin], at)) for at, each in enumerate(said) if each.role == role}

    def wrong(pairs: set[frozenset[int]]) -> int:
        return sum(len({said[at].fact for at in pair}) > 1 for pair in pairs)

    duplicates, opposed, misses = planted("duplicate"), planted("contradiction"), planted("near-miss")
    return {
        "duplicates": len(duplicates),
        "merged": len(duplicates & merged),
        "proposed": len(duplicates & proposed - merged),
        "merged or proposed": len(duplicates & (merged | proposed)) / len(duplicates),
        "others merged unattended": wrong(merged),
        "others proposed": wrong(proposed),
        "near-misses": len(misses),
        "near-misses merged": len(misses & merged),
        "contradictions": len(opposed),
        "contradictions found": len(opposed & (linked | settled)),
        "contradictions put as merges": len(opposed & proposed),
        "others linked as contradictions": len(linked - opposed),
        "others superseded": len(settled - opposed),
        "orphan tags left": orphans,
    }


def _undone(home: Path, before: dict[str, str]) -> dict[str, Any]:
    with _database(home) as db:
        change = str(db.execute("SELECT id FROM changes ORDER BY id DESC LIMIT 1").get)
    begin = perf_counter()
    subprocess.run(_command(home, "undo", change), check=True, capture_output=True)
    seconds = perf_counter() - begin
    after = _digests(home)
    return {
        "undo seconds": seconds,
        "tables that differ after undo": [name for name in before if before[name] != after[name]],
    }


def _digests(home: Path) -> dict[str, str]:
    """Of every row of every table that holds memories, without the counter of writes; and which memories have words."""
    import hashlib

    found = {}
    with _database(home) as db:
        for table in TABLES:
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] != "seq"]
            digest = hashlib.sha256()
            for row in db.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1, 2"):
                digest.update(repr(row).encode())
            found[table] = digest.hexdigest()
        words = db.execute(
            "SELECT group_concat(id) FROM (SELECT id FROM memory_words_docsize ORDER BY id)"
        ).get
        found["words"] = hashlib.sha256(str(words).encode()).hexdigest()
    return found


@contextmanager
def _database(home: Path) -> Iterator[apsw.Connection]:
    db = connect(home / "recollect.db", None)
    try:
        yield db
    finally:
        db.close()


def _killed(kills: int, folder: Path) -> dict[str, Any]:
    """Each on a copy of its own: killed at some moment, looked at, run to its end, looked at again."""
    made, _, _ = built(KILLED, folder, ORPHANS)
    pick = random.Random(5)
    whole = _whole_run(made, folder)
    sound = finished = cut = 0
    for _ in range(kills):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            home = Path(scratch) / "home"
            shutil.copytree(made, home)
            child = subprocess.Popen(_command(home, "consolidate", "--all-projects"), stdout=subprocess.PIPE)
            sleep(pick.uniform(0.05, 0.95) * whole)
            child.send_signal(signal.SIGKILL)
            child.communicate()
            cut += child.returncode < 0
            healthy = _is_sound(home)
            done = subprocess.run(
                _command(home, "consolidate", "--all-projects"), check=True, capture_output=True
            )
            finished += bool(json.loads(done.stdout)["finished"])
            sound += healthy and _is_sound(home)
    return {
        "kills": kills,
        "killed before the end": cut,
        "sound after": sound,
        "second run finished": finished,
    }


def _whole_run(made: Path, folder: Path) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        home = Path(scratch) / "home"
        shutil.copytree(made, home)
        begin = perf_counter()
        subprocess.run(_command(home, "consolidate", "--all-projects"), check=True, capture_output=True)
        return perf_counter() - begin


def _is_sound(home: Path) -> bool:
    with Engine.open(home / "project", home) as engine:
        return engine.store.check() == []


TARGETS: tuple[tuple[str, str, float], ...] = (
    ("merged or proposed", "≥", 0.98),
    ("others merged unattended", "≤", 0),
    ("seconds", "≤", 300),
    ("peak MB", "≤", 1500),
    ("× p95", "≤", 2),
)


def show(figures: dict[str, Any]) -> None:
    print(f"{figures['size']:,} memories, real MiniLM vectors: {figures['summary']}")
    for name, value in figures.items():
        if name not in ("size", "summary", "change"):
            print(f"  {name:32}{value:>12,.2f}" if isinstance(value, float) else f"  {name:32}{value!s:>12}")
    for name, sign, target in TARGETS:
        held = figures[name] <= target if sign == "≤" else figures[name] >= target
        print(f"  {name} {sign} {target:g}: {'held' if held else 'MISSED'}")
    exact = not figures["tables that differ after undo"]
    whole = figures["sound after"] == figures["second run finished"] == figures["kills"]
    print(f"  undo exact row by row: {'held' if exact else 'MISSED'}")
    print(
        f"  killed {figures['kills']} times, sound, and finished by a second run: {'held' if whole else 'MISSED'}"
    )
