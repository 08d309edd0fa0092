"""What a user would pick instead: full text alone, vectors alone, and both by reciprocal rank."""

import re
from collections.abc import Sequence

import apsw
import numpy as np
import numpy.typing as npt

from recollect.text.words import STOP_WORDS

Scores = npt.NDArray[np.float64]  # -inf = not found
RRF_K = 60


class FullText:
    """SQLite's FTS5 as it comes: Porter, its own BM25, the query's words joined by OR."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        self._db = apsw.Connection(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE unit USING fts5(text, tokenize='porter unicode61')")
        self._db.executemany("INSERT INTO unit(rowid, text) VALUES (?, ?)", enumerate(texts))

    def __call__(self, query: str) -> Scores:
        scores = np.full(self._size, -np.inf)
        words = dict.fromkeys(w for w in re.findall(r"\w+", query.lower()) if w not in STOP_WORDS)
        if words:
            match = " OR ".join(f'"{word}"' for word in words)
            for row, score in self._db.execute(
                "SELECT rowid, -bm25(unit) FROM unit WHERE unit MATCH ?", (match,)
            ):
                scores[row] = score
        return scores


def by_reciprocal_rank(*channels: Scores) -> Scores:
    total = np.zeros(len(channels[0]))
    for scores in channels:
        ranked = ranking(scores)
        total[ranked] += 1 / (RRF_K + 1 + np.arange(len(ranked)))
    total[total == 0] = -np.inf
    return total


def ranking(scores: Scores) -> npt.NDArray[np.int64]:
    """Rows best first, those not found left out; equal ones in their own order."""
    order = np.argsort(-scores, kind="stable")
    return order[np.isfinite(scores[order])]


def best_of_each(scores: Scores, group: npt.NDArray[np.int64], size: int) -> Scores:
    """A group is as good as the best of it."""
    best = np.full(size, -np.inf)
    np.maximum.at(best, group, scores)
    return best
