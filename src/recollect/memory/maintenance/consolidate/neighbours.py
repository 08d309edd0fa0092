"""Candidate pairs of memories about the same thing, without comparing all pairs.

By meaning: up to a few thousand vectors are compared exactly; more are first assigned to cells around centres, each
vector to its nearest few, and compared within cells. By words, because opposites can be far apart in meaning: memories
that share all content words but one, or have the same subject.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from recollect.memory.judgement.compare import content_words, subject_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

EXACTLY = 4_000  # vectors up to which all are compared
MOST = 16  # neighbours of one vector
_BLOCK = 128  # rows compared at a time: some 20 ms
_CELLS = 3  # cells that each vector belongs to: all pairs above 0.85 among 20,000 texts share one (docs/consolidation.md)
_PER_CENTRE = 32  # vectors in the sample for each centre
_ROUNDS = 4  # of k-means
_CROWD = 24  # memories with the same key, beyond which the key says nothing

Yield = Callable[[], None]


def by_meaning(vectors: "Matrix", floor: float, yield_to_foreground: Yield) -> "tuple[Any, Any, Any]":
    """Return rows, neighbours and cosines: for each row up to `MOST` nearest with a cosine of at least `floor`."""
    import numpy as np

    if len(vectors) < 2:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32)
    if len(vectors) <= EXACTLY:
        return _within(vectors, np.arange(len(vectors)), floor, yield_to_foreground)
    parts = [
        _within(vectors, rows, floor, yield_to_foreground)
        for rows in _cells(vectors, yield_to_foreground)
        if len(rows) > 1
    ]
    rows, others, cosines = (np.concatenate(column) for column in zip(*parts, strict=True))
    _, first = np.unique(rows * len(vectors) + others, return_index=True)
    rows, others, cosines = rows[first], others[first], cosines[first]
    order = np.lexsort((-cosines, rows))
    rows, others, cosines = rows[order], others[order], cosines[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    nearest = rank < MOST
    return rows[nearest], others[nearest], cosines[nearest]


def _within(vectors: "Matrix", rows: Any, floor: float, yield_to_foreground: Yield) -> "tuple[Any, Any, Any]":
    """Return the nearest neighbours of each of `rows` among `rows`."""
    import numpy as np

    chosen = vectors[rows]
    most = min(MOST, len(rows) - 1)
    parts: list[tuple[Any, Any, Any]] = []
    for start in range(0, len(rows), _BLOCK):
        yield_to_foreground()
        block = chosen[start : start + _BLOCK] @ chosen.T
        diagonal = np.arange(len(block))
        block[diagonal, diagonal + start] = -1.0
        nearest = np.argpartition(-block, most - 1, axis=1)[:, :most]
        cosines = np.take_along_axis(block, nearest, axis=1)
        near, column = np.nonzero(cosines >= floor)
        parts.append((rows[start + near], rows[nearest[near, column]], cosines[near, column]))
    first, second, third = (np.concatenate(column) for column in zip(*parts, strict=True))
    return first, second, third


def _cells(vectors: "Matrix", yield_to_foreground: Yield) -> Iterator[Any]:
    """Yield the rows of each cell. The seed is fixed: the same vectors give the same cells."""
    import numpy as np

    pick = np.random.default_rng(0)
    count = round(len(vectors) ** 0.5)
    sample = vectors[np.sort(pick.permutation(len(vectors))[: _PER_CENTRE * count])]
    centres = sample[pick.permutation(len(sample))[:count]]
    for _ in range(_ROUNDS):
        nearest = _nearest_centres(sample, centres, 1, yield_to_foreground)[:, 0]
        order = np.argsort(nearest, kind="stable")
        _, starts = np.unique(nearest[order], return_index=True)
        centres = np.add.reduceat(sample[order], starts)  # a centre without vectors is dropped
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    count = len(centres)
    homes = _nearest_centres(vectors, centres, min(_CELLS, count), yield_to_foreground)
    rows = np.repeat(np.arange(len(vectors)), homes.shape[1])
    order = np.argsort(homes.ravel(), kind="stable")
    starts = np.searchsorted(homes.ravel()[order], np.arange(count + 1))
    for cell in range(count):
        members = rows[order[starts[cell] : starts[cell + 1]]]
        # A large cell is compared in parts, each of memories written about the same time.
        for start in range(0, len(members), EXACTLY):
            yield members[start : start + EXACTLY]


def _nearest_centres(vectors: "Matrix", centres: "Matrix", most: int, yield_to_foreground: Yield) -> Any:
    import numpy as np

    nearest = np.empty((len(vectors), most), np.int64)
    for start in range(0, len(vectors), 8 * _BLOCK):
        yield_to_foreground()
        scores = vectors[start : start + 8 * _BLOCK] @ centres.T
        nearest[start : start + 8 * _BLOCK] = np.argpartition(-scores, most - 1, axis=1)[:, :most]
    return nearest


def by_words(texts: Sequence[str], yield_to_foreground: Yield) -> "tuple[Any, list[frozenset[str]]]":
    """Return pairs of rows that share all content words but one, or the subject, and the content words of each text."""
    import numpy as np

    words: list[frozenset[str]] = []
    keys: list[int] = []
    rows: list[int] = []
    for row, text in enumerate(texts):
        if row % _BLOCK == 0:
            yield_to_foreground()
        mine = content_words(text)
        words.append(mine)
        if subject := subject_words(text):
            keys.append(hash((subject,)))
            rows.append(row)
        if mine:  # a text that has one word less or one more shares one of these keys
            shorter = [mine - {word} for word in mine] if len(mine) > 1 else []
            keys += [hash(mine), *map(hash, shorter)]
            rows += [row] * (1 + len(shorter))
    order = np.argsort(np.array(keys, np.int64), kind="stable")
    sorted_keys, sorted_rows = np.array(keys, np.int64)[order], np.array(rows, np.int64)[order]
    bounds = np.flatnonzero(np.diff(sorted_keys, prepend=sorted_keys[:1] - 1, append=sorted_keys[-1:] + 1))
    together: set[tuple[int, int]] = set()
    for count, (start, end) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        if count % 4096 == 0:
            yield_to_foreground()
        if 2 <= end - start <= _CROWD:
            members = sorted(set(sorted_rows[start:end].tolist()))
            together.update((a, b) for at, a in enumerate(members) for b in members[at + 1 :])
    pairs = np.array(sorted(together), np.int64).reshape(-1, 2)
    return pairs, words
