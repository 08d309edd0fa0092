"""How long the common things take: remember, import, opening, listing."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.corpus import sentences
from recollect import Engine
from recollect.embed.minilm import MiniLM


class Synthetic:
    """Random unit vectors under the real model's name: what is measured is the store, not the model."""

    model = "all-MiniLM-L6-v2"
    dim = 384
    query_prefix = ""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(7)

    def embed(self, texts):
        rows = self._rng.standard_normal((len(texts), self.dim), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def embed_each(self, batches) -> Iterator[np.ndarray]:
        return map(self.embed, batches)


def filled(folder: Path, size: int) -> Path:
    """A home with `size` memories in the project at `folder`."""
    home = folder / f"home-{size}"
    project = folder / "project"
    project.mkdir(exist_ok=True)
    with Engine.open(project, home, embedder=Synthetic()) as engine:
        engine.import_memories({"content": text} for text in sentences(size))
    return home


def remember(folder: Path, size: int, rounds: int) -> dict[str, float]:
    """One `remember` with embedding, duplicate and contradiction checks, in a process that is already up."""
    home = filled(folder, size)
    took = []
    with Engine.open(folder / "project", home) as engine:
        fresh = sentences(rounds + 5, seed=99)
        for text in fresh[:5]:
            engine.remember(text)
        for text in fresh[5:]:
            begin = time.perf_counter()
            engine.remember(text)
            took.append((time.perf_counter() - begin) * 1000)
    return {"p50_ms": statistics.median(took), "p95_ms": sorted(took)[int(len(took) * 0.95)]}


def bulk(folder: Path, size: int) -> dict[str, float]:
    """`import` against the bare embedder on all cores, both in this run, three times in turn."""
    texts = sentences(size, seed=3)
    bare, whole = [], []
    for turn in range(3):
        part = texts[turn * size // 3 : (turn + 1) * size // 3]
        embedder = MiniLM()
        embedder.embed(["warm"])
        begin = time.perf_counter()
        for _ in embedder.embed_each(part[i : i + 128] for i in range(0, len(part), 128)):
            pass
        bare.append(len(part) / (time.perf_counter() - begin))
        with Engine.open(folder / "project", folder / f"bulk-{turn}") as engine:
            engine.embedder.embed(["warm"])
            begin = time.perf_counter()
            engine.import_memories({"content": text} for text in part)
            whole.append(len(part) / (time.perf_counter() - begin))
    ratio = statistics.median(w / b for w, b in zip(whole, bare, strict=True))
    return {
        "bare_per_s": statistics.median(bare),
        "import_per_s": statistics.median(whole),
        "ratio": ratio,
    }


def opening(folder: Path, size: int) -> dict[str, float]:
    """Opening a large store, and the whole process of `recollect list`."""
    home = filled(folder, size)
    took = []
    for _ in range(5):
        begin = time.perf_counter()
        with Engine.open(folder / "project", home) as engine:
            took.append(time.perf_counter() - begin)
            engine.list(limit=1)
    script = Path(sys.executable).with_name("recollect")
    environment = {**os.environ, "RECOLLECT_HOME": str(home)}
    listing, bare = [], []
    for _ in range(11):
        begin = time.perf_counter()
        subprocess.run(
            [script, "list"], cwd=folder / "project", env=environment, check=True, stdout=subprocess.DEVNULL
        )
        listing.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append(time.perf_counter() - begin)
    return {
        "open_s": statistics.median(took),
        "list_s": statistics.median(listing),
        "bare_python_s": statistics.median(bare),
        **first_search(folder, home),
    }


def first_search(folder: Path, home: Path) -> dict[str, float]:
    """The first search of a process: without what another has kept beside the store, and with it."""
    took = []
    for kept in (False, True, True):
        if not kept:
            for file in home.glob("*.index"):
                file.unlink()
        with Engine.open(folder / "project", home, embedder=Synthetic()) as engine:
            begin = time.perf_counter()
            engine.search("which part retries receipts")
            took.append(time.perf_counter() - begin)
    return {"first_search_s": took[0], "search_kept_s": min(took[1:])}


def run(small: bool = False) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "project").mkdir()
        return {
            "remember at 10,000": remember(folder, 1_000 if small else 10_000, 50 if small else 200),
            "import of 10,000": bulk(folder, 600 if small else 10_000),
            "opening 100,000": opening(folder, 2_000 if small else 100_000),
        }


TARGETS = {  # figure: (at most or at least, target)
    "p50_ms": ("≤", 25.0),
    "ratio": ("≥", 0.8),
    "open_s": ("≤", 1.0),
    "list_s": ("≤", 0.4),
    "search_kept_s": ("≤", 1.0),
}


def show(figures: dict[str, dict[str, float]]) -> None:
    print(f"{'':22}{'figure':>16}{'measured':>12}{'target':>12}")
    for name, rows in figures.items():
        for figure, value in rows.items():
            sign, target = TARGETS.get(figure, ("", None))
            print(f"{name:22}{figure:>16}{value:>12.3g}{f'{sign} {target:g}' if target else '':>12}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--small", action="store_true", help="a tenth of the sizes, to see that it works")
    show(run(options.parse_args().small))


if __name__ == "__main__":
    main()
