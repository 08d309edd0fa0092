"""Whether anything that was acknowledged is ever lost: writers killed, logs cut off, many processes at once.

python -m bench.durability                                       the whole of it, with the real model
python -m bench.durability --rounds 3 --writes 100 --each 25     smaller
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect.store import open_store

PROCESSES = 8
CUTS = 20  # of each copy of the log
_SYLLABLES = (
    "ba ce di fo gu ha ki lo mu ne pa ri so tu ve wo xa yi zo bre cla dri flo gru pli sta tro".split()
)


def run(rounds: int = 20, writes: int = 1000, copies: int = 5, each: int = 200) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        folder = Path(name)
        (folder / "project").mkdir()
        return {
            "killed writers": _killed(folder, rounds, writes),
            "cut logs": _cut(folder, copies, writes),
            "processes at once": _at_once(folder, each),
            "the same sentence": _same(folder),
        }


def unlike(number: int) -> str:
    """A sentence of words that no other has, so that none is merged with another."""
    pick = random.Random(number)
    words = ["".join(pick.choices(_SYLLABLES, k=pick.randint(2, 4))) for _ in range(5)]
    frame = pick.choice(
        [
            "The {0} service hands {1} over to {2} through {3} and {4}.",
            "{0} in {1}/{2}.py needs {3}, and never without {4}.",
            "When {0} fails, look at {1} first, then {2}; {3} comes from {4}.",
            "We decided on {0} for {1} because {2} had no {3} in {4}.",
            "{0} owns {1}; ask {2} about {3} before touching {4}.",
        ]
    )
    return frame.format(*words)


# Run by the children: `python -m bench.durability write …`.


def _write(home: Path, first: int, count: int) -> None:
    """Prints each id when `remember` has returned, with the size of the log at that moment."""
    from recollect import Engine

    log = home / "recollect.db-wal"
    with Engine.open(home.parent / "project", home) as engine:
        if os.environ.get("BENCH_NO_CHECKPOINT"):
            with engine.store._db.reading() as connection:  # the only one: all that follows goes through it
                connection.wal_autocheckpoint(0)
        for number in range(first, first + count):
            print(engine.remember(unlike(number)).id, log.stat().st_size, flush=True)


def _say(home: Path) -> None:
    from recollect import Engine

    with Engine.open(home.parent / "project", home) as engine:
        engine.embedder.embed(["Load the model."])
        print("ready", flush=True)
        sys.stdin.readline()
        print(engine.remember("Never push to main on a Friday.").id)


def _start(command: str, home: Path, *args: object, **environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "bench.durability", command, str(home), *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "RECOLLECT_BACKUP_HOURS": "0", **environment},
        cwd=Path(__file__).resolve().parents[1],
    )


def _lines(process: "subprocess.Popen[str]") -> Iterator[tuple[str, int]]:
    assert process.stdout is not None
    for line in process.stdout:
        if line.endswith("\n"):
            name, size = line.split()
            yield name, int(size)


def _look(home: Path) -> tuple[dict[str, m.Memory], int]:
    """All memories, in whatever state, and how many things are wrong with the store."""
    store = open_store(home / "recollect.db", _user())
    try:
        everything = m.View(_user(), all_projects=True, all_sessions=True, states=m.ALL_STATES, branches=None)
        found = {memory.id: memory for memory in store.newest(everything)}
        return found, len(store.check()) + len(store.notices)
    finally:
        store.close()


def _user() -> str:
    from recollect.config import load_settings

    return load_settings().user


# What is measured.


def _killed(folder: Path, rounds: int, writes: int) -> dict[str, int]:
    """One store through all rounds: each writer is killed somewhere on its way through `writes` sentences."""
    home, pick = folder / "killed", random.Random(1)
    acknowledged: set[str] = set()
    lost = problems = 0
    for number in range(rounds):
        process = _start("write", home, number * writes, writes)
        target = pick.randint(1, writes)
        for count, (name, _) in enumerate(_lines(process), start=1):
            acknowledged.add(name)
            if count == target:
                _wait(process, pick.uniform(0, 0.02))  # anywhere within a write, not only just after one
                process.kill()
        process.wait()
        found, wrong = _look(home)
        lost, problems = len(acknowledged - found.keys()), problems + wrong
    return {"rounds": rounds, "acknowledged": len(acknowledged), "lost": lost, "problems": problems}


def _wait(process: "subprocess.Popen[str]", seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _cut(folder: Path, copies: int, writes: int) -> dict[str, int]:
    """Copies of store and log taken while writing, each log cut off at random bytes."""
    home, pick = folder / "cut", random.Random(2)
    writes = min(writes, 300)  # without checkpoints the log grows by 30 KB a write
    process = _start("write", home, 0, writes, BENCH_NO_CHECKPOINT="1")
    written: list[tuple[str, int]] = []
    taken: list[tuple[bytes, bytes]] = []
    for count, line in enumerate(_lines(process), start=1):
        written.append(line)
        if count % max(1, writes // (copies + 1)) == 0 and len(taken) < copies:
            taken.append(((home / "recollect.db").read_bytes(), (home / "recollect.db-wal").read_bytes()))
        if count == writes - 1:
            process.kill()
    process.wait()
    checked = lost = problems = 0
    for database, log in taken:
        for _ in range(CUTS):
            cut = pick.randrange(len(log) + 1)
            copy = Path(tempfile.mkdtemp(dir=folder))
            (copy / "recollect.db").write_bytes(database)
            (copy / "recollect.db-wal").write_bytes(log[:cut])
            found, wrong = _look(copy)
            synced = {name for name, size in written if size <= cut}
            checked, lost, problems = (
                checked + len(synced),
                lost + len(synced - found.keys()),
                problems + wrong,
            )
    return {"rounds": len(taken) * CUTS, "acknowledged": checked, "lost": lost, "problems": problems}


def _at_once(folder: Path, each: int) -> dict[str, Any]:
    home = folder / "at-once"
    begin = time.perf_counter()
    processes = [_start("write", home, 10**6 + number * each, each) for number in range(PROCESSES)]
    answers = [process.communicate() for process in processes]
    took = time.perf_counter() - begin
    acknowledged = {line.split()[0] for out, _ in answers for line in out.splitlines()}
    found, problems = _look(home)
    return {
        "rounds": 1,
        "acknowledged": sum(len(out.splitlines()) for out, _ in answers),
        "memories": len(found),
        "lost": len(acknowledged - found.keys()),
        "problems": problems,
        "errors": sum(bool(process.returncode) for process in processes)
        + sum(bool(err) for _, err in answers),
        "seconds": round(took, 1),
        "details": [err for _, err in answers if err],
    }


def _same(folder: Path) -> dict[str, Any]:
    home = folder / "same"
    processes = [_start("say", home) for _ in range(PROCESSES)]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate() for process in processes]
    found, problems = _look(home)
    return {
        "rounds": 1,
        "acknowledged": sum(len(out.splitlines()) for out, _ in said),
        "memories": len(found),
        "strength": max((memory.strength for memory in found.values()), default=0),
        "lost": 0 if len(found) == 1 else 1,
        "problems": problems,
        "errors": sum(bool(process.returncode) for process in processes),
    }


def show(figures: dict[str, Any]) -> None:
    print(f"{'':20}{'rounds':>8}{'acknowledged':>14}{'lost':>6}{'problems':>10}  ")
    for name, row in figures.items():
        rest = {key: value for key, value in row.items() if key not in _SHOWN}
        extra = ", ".join(f"{key} {value}" for key, value in rest.items() if key != "details")
        print(
            f"{name:20}{row['rounds']:>8}{row['acknowledged']:>14,}{row['lost']:>6}{row['problems']:>10}  {extra}"
        )


_SHOWN = ("rounds", "acknowledged", "lost", "problems")


def main() -> None:
    if sys.argv[1:2] == ["write"]:
        _write(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        return
    if sys.argv[1:2] == ["say"]:
        _say(Path(sys.argv[2]))
        return
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=20, help="writers to kill")
    options.add_argument("--writes", type=int, default=1000, help="sentences each would write")
    options.add_argument("--copies", type=int, default=5, help="copies of the log to cut")
    options.add_argument("--each", type=int, default=200, help="writes by each of the 8 processes")
    show(run(**vars(options.parse_args())))


if __name__ == "__main__":
    main()
