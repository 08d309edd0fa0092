"""Clusters: the dense regions of our own HDBSCAN beside those of scikit-learn, and the time both take.

    python -m bench clusters

Needs scikit-learn, which `pip install -e '.[bench]'` installs. The sets are those of `bench/data` and one of 5,000 invented vectors.
"""

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from recollect.embed.minilm import MiniLM
from recollect.memory.maintenance import clusters
from recollect.memory.maintenance.density import dense_regions

DATA = Path(__file__).parent / "data"
TARGET_S = 2.0  # CPU, for 5,000 vectors


def run() -> dict[str, Any]:
    try:
        from sklearn.cluster import HDBSCAN
    except ImportError:
        return {"skipped": "scikit-learn is not installed: pip install -e '.[bench]'"}
    rows = []
    for name, vectors in _sets():
        reduced = clusters._reduced(vectors)
        fewest = max(clusters.SMALLEST, round(math.sqrt(len(vectors)) / 4))
        begin = time.process_time()
        labels = HDBSCAN(
            min_cluster_size=fewest,
            min_samples=clusters._NEIGHBOURS,
            cluster_selection_method="leaf",
            copy=True,
        ).fit_predict(reduced)
        theirs_s = time.process_time() - begin
        theirs = [np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)]
        begin = time.process_time()
        ours = dense_regions(reduced, fewest, clusters._NEIGHBOURS)
        ours_s = time.process_time() - begin
        same = sum(region in ours for region in theirs)
        rows.append((name, len(vectors), len(theirs), len(ours), same, theirs_s, ours_s))
    return {"sets": rows}


def _sets() -> list[tuple[str, Any]]:
    embedder = MiniLM()
    texts = {
        path.stem: [json.loads(line)["content"] for line in path.read_text().splitlines()]
        for path in [DATA / "memories.jsonl", *sorted((DATA / "delivery").glob("*.memories.jsonl"))]
    }
    sets = [(name, np.asarray(embedder.embed(lines), np.float32)) for name, lines in texts.items()]
    sets.append(("all of them", np.concatenate([vectors for _, vectors in sets])))
    chance = np.random.default_rng(1)
    groups = [
        chance.standard_normal(384) + 0.6 * chance.standard_normal((size, 384)) for size in range(30, 90)
    ]
    invented = np.concatenate([*groups, chance.standard_normal((5_000 - sum(map(len, groups)), 384))])
    invented /= np.linalg.norm(invented, axis=1, keepdims=True)
    sets.append(("invented", invented.astype(np.float32)))
    return sets


def show(found: dict[str, Any]) -> None:
    if reason := found.get("skipped"):
        print(reason)
        return
    print(f"{'set':<24}{'vectors':>8}{'scikit-learn':>14}{'ours':>6}{'same':>6}{'CPU s':>8}{'ours':>7}")
    for name, vectors, theirs, ours, same, theirs_s, ours_s in found["sets"]:
        print(f"{name:<24}{vectors:>8,}{theirs:>14}{ours:>6}{same:>6}{theirs_s:>8.2f}{ours_s:>7.2f}")
    print(f"target: all the same, ≤ {TARGET_S} s of CPU for 5,000 vectors")


if __name__ == "__main__":
    show(run())
