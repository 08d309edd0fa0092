"""How long a search takes, beside what one would use instead; and how much memory it needs.

Memories have synthetic unit vectors; questions are embedded by the real model, and that is part of the time. All systems
are asked in turn, question by question, so that what else the machine does is borne by all of them.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import apsw
import numpy as np

from bench.corpus import sentences
from bench.recall import figures as kept
from bench.speed import Synthetic, filled
from recollect import Engine
from recollect import model as m
from recollect.memory.index import vectors as vector_index

SIZES = (1_000, 10_000, 100_000)
SMALL = (1_000, 10_000)
MILLION = 1_000_000
ROUNDS = 60
K = 10
AT_ONCE = 10_000  # memories to a transaction, where a million are written

TARGETS = {  # size, figure: sign, target
    (10_000, "search p50"): ("≤", 15.0),
    (10_000, "search p95"): ("≤", 40.0),
    (100_000, "search p50"): ("≤", 45.0),
    (MILLION, "search p50"): ("≤", 150.0),
    (10_000, "× sqlite-vec"): ("≥", 5.0),
    (100_000, "× sqlite-vec"): ("≥", 4.0),
    (10_000, "× sqlite-vec, cold"): ("≥", 5.0),
    (100_000, "× sqlite-vec, cold"): ("≥", 4.0),
    (100_000, "resident MB"): ("≤", 600.0),
}
WARM = 8  # questions before the clock counts


def run(sizes: Sequence[int] = SIZES, homes: Path | None = None, rounds: int = ROUNDS) -> dict[str, Any]:
    if homes is None:
        with tempfile.TemporaryDirectory() as folder:
            return run(sizes, Path(folder), rounds)
    homes.mkdir(parents=True, exist_ok=True)
    (homes / "project").mkdir(exist_ok=True)
    found: dict[str, Any] = {str(size): measure(homes, size, rounds) for size in sizes}
    return found


def measure(homes: Path, size: int, rounds: int) -> dict[str, Any]:
    home = _home(homes, size)
    with Engine.open(homes / "project", home) as engine:
        view, model = engine.context.view(), engine.embedder.model
        begin = perf_counter()
        engine.search("scheduler")
        first = perf_counter() - begin
        rival = _sqlite_vec(engine) if size < MILLION else None
        systems: dict[str, Callable[[str, bytes], object]] = {
            "search": lambda text, _: engine.search(text),
            "embedding": lambda text, _: engine.embedder.embed([text]),
            "vectors": lambda _, vector: engine.memory.index.near(view, model, vector, K),
            "all cosines": lambda _, vector: engine.memory.index.scan(view, model, vector),
            "FTS5": lambda text, _: engine.store.match(view, text, K),
        }
        if rival is not None:
            systems["sqlite-vec"] = lambda _, vector: rival(vector)
        questions = [(text, _bytes(engine, text)) for text in _questions(rounds + WARM)]
        wall, cpu = _in_turn(systems, questions)
        warm = _warm_ratio(systems, questions) if rival is not None else None
        partial = sum(engine.search(text).partial for text, _ in questions[:20])
        agreement = _agreement(engine, [vector for _, vector in questions[:30]])
    result: dict[str, Any] = {
        "first search s": first,
        **{f"{name} p50": statistics.median(took) for name, took in wall.items()},
        **{f"{name} p95": float(np.percentile(took, 95)) for name, took in wall.items()},
        **{f"{name} least": min(took) for name, took in wall.items()},
        **{f"{name} cpu": statistics.median(took) for name, took in cpu.items()},
        "partial of 20": partial,
        "resident MB": _resident(homes / "project", home),
    }
    if rival is not None:
        pairs = zip(wall["sqlite-vec"], wall["vectors"], strict=True)
        result["× sqlite-vec, cold"] = statistics.median(theirs / ours for theirs, ours in pairs)
        result["× sqlite-vec"] = warm
    result["R@10 by signs"] = agreement
    return result


def _home(homes: Path, size: int) -> Path:
    """With `size` memories, as it was left by an earlier run or made now."""
    home = homes / f"home-{size}"
    if not (home / "recollect.db").exists():
        print(f"writing {size:,} memories…", file=sys.stderr, flush=True)
        if size < MILLION:
            filled(homes, size)
        else:
            _fill(homes / "project", home, size)
    return home


def _fill(project: Path, home: Path, size: int) -> None:
    """Straight into the store, as redacting and logging a million would take half an hour."""
    embedder = Synthetic()
    with Engine.open(project, home, embedder=embedder) as engine:
        engine.import_memories([{"content": "All others are like this one."}])
        like = engine.list(limit=1)[0]
        texts = sentences(size)
        for begin in range(0, size, AT_ONCE):
            part = texts[begin : begin + AT_ONCE]
            with engine.store.transaction():
                for text, vector in zip(part, embedder.embed(part), strict=True):
                    memory = replace(like, id=m.new_id(), content=text, summary=text, fingerprint=text)
                    engine.store.put(memory)
                    engine.store.put_vector(memory.id, embedder.model, vector.tobytes())


def _sqlite_vec(engine: Engine) -> Callable[[bytes], list[Any]] | None:
    """The same vectors in sqlite-vec's table, in memory; None where it is not installed."""
    try:
        import sqlite_vec
    except ImportError:
        print("sqlite-vec is not installed: pip install 'recollect[bench]'", file=sys.stderr)
        return None
    db = apsw.Connection(":memory:")
    db.enable_load_extension(True)
    db.load_extension(sqlite_vec.loadable_path())
    db.execute(f"CREATE VIRTUAL TABLE v USING vec0(e float[{Synthetic.dim}] distance_metric=cosine)")
    rows = engine.store.vectors(engine.context.view(), engine.embedder.model)
    with db:
        db.executemany("INSERT INTO v (rowid, e) VALUES (?, ?)", enumerate(vector for _, vector in rows))
    return lambda vector: list(
        db.execute("SELECT rowid, distance FROM v WHERE e MATCH ? AND k = ?", (vector, K))
    )


def _questions(count: int) -> Iterator[str]:
    """As long as people's: eight words or so that count."""
    return (text.split(";")[0].replace("The", "When", 1) for text in sentences(count, seed=99))


def _bytes(engine: Engine, text: str) -> bytes:
    vector: bytes = engine.embedder.embed([text])[0].astype("<f4").tobytes()
    return vector


def _in_turn(
    systems: dict[str, Callable[[str, bytes], object]], questions: Sequence[tuple[str, bytes]]
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Milliseconds by the clock on the wall, and of this process's own computing."""
    wall: dict[str, list[float]] = {name: [] for name in systems}
    cpu: dict[str, list[float]] = {name: [] for name in systems}
    for number, (text, vector) in enumerate(questions):
        for name, ask in systems.items():
            begin, computed = perf_counter(), process_time()
            ask(text, vector)
            if number >= WARM:
                wall[name].append((perf_counter() - begin) * 1000)
                cpu[name].append((process_time() - computed) * 1000)
    return wall, cpu


def _warm_ratio(
    systems: dict[str, Callable[[str, bytes], object]],
    questions: Sequence[tuple[str, bytes]],
    block: int = 10,
) -> float:
    """How many times as fast our vectors are as sqlite-vec's, each asked ten questions in a row, in turn.

    `_in_turn` has the embedding and all others in between, so that everything comes from cold memory; here nothing does
    that fits into the processor's cache.
    """
    ratios = []
    for begin in range(0, len(questions) - block + 1, block):
        took = {}
        for name in ("vectors", "sqlite-vec"):
            clock = perf_counter()
            for text, vector in questions[begin : begin + block]:
                systems[name](text, vector)
            took[name] = perf_counter() - clock
        ratios.append(took["sqlite-vec"] / took["vectors"])
    return statistics.median(ratios)


def _agreement(engine: Engine, vectors: Sequence[bytes]) -> dict[str, float]:
    """Of the ten nearest, how many are among those that signs leave: of random vectors (the worst case), and real ones.

    As `near` does it; where a search does not compare all in full either, as that does, which leaves fewer.
    """
    scan = engine.memory.index.scan(engine.context.view(), engine.embedder.model, vectors[0])
    assert scan is not None
    many = scan.exact is not None
    found = {"random vectors": _found(scan.matrix, [np.frombuffer(each, "<f4") for each in vectors], many)}
    real = kept.OUT / "cache" / "all-MiniLM-L6-v2.bin"
    if real.exists():
        from bench.recall.vectors import RECORD

        texts = np.ascontiguousarray(np.fromfile(real, RECORD)["vector"])
        asked = np.random.default_rng(0).permutation(len(texts))
        others = texts[asked[200:]] if many else texts[asked[200 : 200 + len(scan.nums)]]
        found[f"{len(others):,} real texts"] = _found(others, texts[asked[:200]], many)
    return found


def _found(matrix: Any, queries: Any, many: bool) -> float:
    left = (
        len(matrix) // vector_index._SCAN_EXACT
        if many
        else max(len(matrix) // vector_index._NEAR_EXACT, vector_index._EXACT_PER_RESULT * K)
    )
    seen = np.ones(len(matrix), bool)
    signs = np.ascontiguousarray(vector_index._sign_bits(matrix).T)
    shares = []
    for query in queries:
        rows = vector_index._least(vector_index._sign_distances(signs, query), seen, left)
        nearest = np.argpartition(-np.vecdot(matrix, query), K)[:K]
        shares.append(np.isin(nearest, rows).mean())
    return float(np.mean(shares))


def _resident(project: Path, home: Path) -> float:
    """Of a process that opens the store, loads the model and searches, and does nothing else."""
    code = (
        "import sys; from recollect import Engine\n"
        "with Engine.open(sys.argv[1], sys.argv[2]) as engine:\n"
        "    for word in ('scheduler', 'gateway tokens', 'which cache drops pages'): engine.search(word)\n"
        "    print(open('/proc/self/status').read())"
    )
    arguments = [sys.executable, "-c", code, str(project), str(home)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True, env={**os.environ})
    line = next(line for line in done.stdout.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def show(figures: dict[str, Any]) -> None:
    before = kept.last("speed")
    for size, found in figures.items():
        print(f"{int(size):,} memories (first search {found['first search s']:.1f} s, then)")
        print(f"  {'ms':14}{'p50':>9}{'p95':>9}{'least':>9}{'CPU p50':>9}")
        for name in ("search", "embedding", "vectors", "all cosines", "sqlite-vec", "FTS5"):
            if f"{name} p50" in found:
                row = (found[f"{name} {figure}"] for figure in ("p50", "p95", "least", "cpu"))
                print(f"  {name:14}" + "".join(f"{value:9.2f}" for value in row))
        for name, value in found["R@10 by signs"].items():
            print(f"  R@10 by signs, {name}: {value:.4f}")
        for (of, figure), (sign, target) in TARGETS.items():
            if str(of) == size and figure in found:
                value = found[figure]
                held = value <= target if sign == "≤" else value >= target
                print(f"  {figure:20}{value:9.1f}  target {sign} {target:g}: {'held' if held else 'MISSED'}")
        print(f"  resident {found['resident MB']:.0f} MB, partial answers {found['partial of 20']} of 20")
        if size in before:
            change = found["search cpu"] / before[size]["search cpu"] - 1
            print(f"  CPU of a search since the last run: {change:+.0%}")
        print()
    sizes = sorted(map(int, figures))
    for small, large in pairwise(sizes):
        grown = figures[str(large)]["search p50"] / figures[str(small)]["search p50"]
        print(f"{small:,} → {large:,}: {large // small} times as many take {grown:.1f} times as long")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall.speed", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="memories, with commas between")
    parser.add_argument(
        "--million", action="store_true", help="also 1,000,000: takes ten minutes and 5 GB of disk"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--homes", type=Path, help="keep the stores here, for the next run")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")] + [MILLION] * options.million
    figures = run(sizes, options.homes, options.rounds)
    show(figures)
    print(f"\nFigures are in {kept.keep('speed', figures)}")


if __name__ == "__main__":
    main()
