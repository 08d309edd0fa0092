"""A public memory package beside ours, on quality and speed: mem0, offline, with our model.

`infer=False` keeps texts as they are, so that no language model takes part; its vectors are made by our MiniLM and kept in
the Qdrant that comes with it, on disk. Its quality is measured through its own `add` and `search`; ours is that of
`bench.recall.quality`, which ranks without the engine. Its store for speed is filled directly.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from bench.corpus import sentences
from bench.recall import datasets
from bench.recall import figures as kept
from bench.recall.quality import METRICS, interval, measure, ours
from bench.recall.speed import _home, _questions
from bench.recall.vectors import Vectors
from bench.speed import Synthetic
from recollect import Engine
from recollect.embed.minilm import DIM, MiniLM

R5 = METRICS.index("R@5")
SETS = {"LoCoMo by turn": ("locomo", "unit"), "own memories": ("memories", "memory")}
SIZES = (1_000, 10_000)
ROUNDS = 40
WARM = 5


def run(
    cache: Path = kept.OUT / "cache", homes: Path | None = None, sizes: Sequence[int] = SIZES
) -> dict[str, Any]:
    try:
        version = metadata.version("mem0ai")
    except metadata.PackageNotFoundError:
        return {"skipped": "mem0ai is not installed: pip install 'recollect[bench]'"}
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=f"{folder}/mem0")
        vectors = Vectors(cache)
        return {
            "version": version,
            "quality": {
                title: _quality(name, by, vectors, Path(folder) / name) for title, (name, by) in SETS.items()
            },
            "speed": {str(size): _speed(homes or Path(folder), Path(folder), size) for size in sizes},
        }


class _Embeddings:
    """Our model, as mem0 asks it."""

    config = None

    def __init__(self, embed: Any) -> None:
        self._embed = embed

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        vector: list[float] = self._embed([text])[0].tolist()
        return vector

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [row.tolist() for row in self._embed(list(texts))]


def _mem0(folder: Path, embed: Any) -> Any:
    from mem0 import Memory

    unused = {"provider": "openai", "config": {"api_key": "none"}}  # asked for, and never asked
    store = {"path": str(folder / "qdrant"), "embedding_model_dims": DIM, "on_disk": True}
    memory = Memory.from_config(
        {
            "embedder": unused,
            "llm": unused,
            "vector_store": {"provider": "qdrant", "config": store},
            "history_db_path": str(folder / "history.db"),
        }
    )
    memory.embedding_model = _Embeddings(embed)
    return memory


def _quality(name: str, by: str, embed: Vectors, folder: Path) -> dict[str, Any]:
    corpora = datasets.load(name)
    if corpora is None:
        return {"skipped": f"needs {datasets.files(name)[0]}"}
    folder.mkdir()
    memory, rows = _mem0(folder, embed), []
    for number, corpus in enumerate(corpora):
        user = f"corpus-{number}"
        embed([unit.whole for unit in corpus.units])
        for unit in corpus.units:
            memory.add(unit.whole, user_id=user, infer=False, metadata={"unit": unit.id})
        names = [unit.id for unit in corpus.units]
        row_of = {each: row for row, each in enumerate(names)}
        for question in corpus.questions:
            if question.relevant:
                found = memory.search(question.text, filters={"user_id": user}, top_k=10, threshold=0.0)
                scores = np.full(len(names), -np.inf)
                for rank, hit in enumerate(found["results"]):
                    scores[row_of[hit["metadata"]["unit"]]] = -rank
                rows.append(measure(scores, names, question.relevant))
    memory.vector_store.client.close()
    theirs, mine = np.array(rows), ours(corpora, embed, by)
    difference = (mine - theirs)[:, R5]
    return {
        "questions": len(rows),
        "systems": {
            system: dict(zip(METRICS, table.mean(axis=0).tolist(), strict=True))
            for system, table in (("mem0", theirs), ("ours", mine))
        },
        "above": [float(difference.mean()), *interval(difference)],
    }


def _speed(homes: Path, folder: Path, size: int) -> dict[str, float]:
    (homes / "project").mkdir(exist_ok=True, parents=True)
    home = _home(homes, size)
    place = folder / f"speed-{size}"
    place.mkdir()
    model, texts = MiniLM(), sentences(size)
    memory = _mem0(place, model.embed)
    vectors = Synthetic().embed(texts)
    for begin in range(0, size, 1000):  # by `add`, 5 ms each, 10,000 take a minute
        part = range(begin, min(begin + 1000, size))
        memory.vector_store.insert(
            vectors=[vectors[i].tolist() for i in part],
            payloads=[{"data": texts[i], "user_id": "me", "hash": str(i)} for i in part],
            ids=[f"00000000-0000-0000-0000-{i:012d}" for i in part],
        )
    took: dict[str, list[float]] = {"mem0": [], "ours": []}
    with Engine.open(homes / "project", home) as engine:
        systems = {
            "mem0": lambda text: memory.search(text, filters={"user_id": "me"}, top_k=10, threshold=0.0),
            "ours": lambda text: engine.search(text),
        }
        for number, text in enumerate(_questions(ROUNDS + WARM)):
            for system, ask in systems.items():
                begin = perf_counter()
                ask(text)
                if number >= WARM:
                    took[system].append((perf_counter() - begin) * 1000)
    memory.vector_store.client.close()
    ratios = [theirs / mine for theirs, mine in zip(took["mem0"], took["ours"], strict=True)]
    return {
        **{f"{system} p50": statistics.median(each) for system, each in took.items()},
        "×": statistics.median(ratios),
    }


def show(figures: dict[str, Any]) -> None:
    if "skipped" in figures:
        print(f"mem0: skipped, {figures['skipped']}")
        return
    print(f"mem0ai {figures['version']}, infer=False, with our MiniLM")
    for title, found in figures["quality"].items():
        if "skipped" in found:
            print(f"{title}: skipped, {found['skipped']}")
            continue
        print(f"{title}, {found['questions']} questions")
        print(f"  {'':8}" + "".join(f"{metric:>9}" for metric in METRICS))
        for system, row in found["systems"].items():
            print(f"  {system:8}" + "".join(f"{row[metric]:9.3f}" for metric in METRICS))
        mean, low, high = found["above"]
        print(f"  ours above mem0 in R@5: {mean:+.3f} ({low:+.3f} … {high:+.3f})")
    for size, row in figures["speed"].items():
        print(
            f"{int(size):,} memories, a search with embedding, p50: mem0 {row['mem0 p50']:.1f} ms,"
            f" ours {row['ours p50']:.1f} ms, {row['×']:.1f} times as fast"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall.rival", description=__doc__)
    parser.add_argument("--cache", type=Path, default=kept.OUT / "cache", help="where vectors are kept")
    parser.add_argument("--homes", type=Path, help="stores of bench.recall.speed, to be used again")
    options = parser.parse_args()
    figures = run(options.cache, options.homes)
    show(figures)
    if "skipped" in figures:
        sys.exit(0)
    print(f"Figures are in {kept.keep('rival', figures)}")


if __name__ == "__main__":
    main()
