"""Which of many memories may be about the same matter, without comparing each with each.

By meaning: a few thousand vectors are compared exactly; more are first sorted into cells around centres, each vector
into its nearest few, and compared within cells. By words, since opposites may be far apart in meaning: those that share
all content words but one, or have the same subject.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from recollect.memory.write import contradict

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

EXACTLY = 4_000  # vectors up to which all are compared
MOST = 16  # neighbours of one vector
_BLOCK = 128  # rows compared at a time: some 20 ms
_CELLS = 3  # that each vector belongs to: all pairs above 0.85 among 20,000 texts share one (docs/consolidation.md)
_PER_CENTRE = 32  # vectors for each centre that show where it is
_ROUNDS = 4
_CROWD = 24  # memories with the same words, beyond which they say nothing about one another

Breathe = Callable[[], None]


def by_meaning(vectors: "Matrix", floor: float, breathe: Breathe) -> "tuple[Any, Any, Any]":
    """Rows, other rows and cosines: of each row its `MOST` nearest from `floor` on, as far as they were found."""
    import numpy as np

    if len(vectors) < 2:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32)
    if len(vectors) <= EXACTLY:
        return _within(vectors, np.arange(len(vectors)), floor, breathe)
    found = [_within(vectors, rows, floor, breathe) for rows in _cells(vectors, breathe) if len(rows) > 1]
    rows, others, cosines = (np.concatenate(column) for column in zip(*found, strict=True))
    _, first = np.unique(rows * len(vectors) + others, return_index=True)
    rows, others, cosines = rows[first], others[first], cosines[first]
    order = np.lexsort((-cosines, rows))
    rows, others, cosines = rows[order], others[order], cosines[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    nearest = rank < MOST
    return rows[nearest], others[nearest], cosines[nearest]


def _within(vectors: "Matrix", rows: Any, floor: float, breathe: Breathe) -> "tuple[Any, Any, Any]":
    """The nearest of each of `rows` among them."""
    import numpy as np

    chosen = vectors[rows]
    most = min(MOST, len(rows) - 1)
    found: list[tuple[Any, Any, Any]] = []
    for start in range(0, len(rows), _BLOCK):
        breathe()
        block = chosen[start : start + _BLOCK] @ chosen.T
        here = np.arange(len(block))
        block[here, here + start] = -1.0
        nearest = np.argpartition(-block, most - 1, axis=1)[:, :most]
        cosines = np.take_along_axis(block, nearest, axis=1)
        near, column = np.nonzero(cosines >= floor)
        found.append((rows[start + near], rows[nearest[near, column]], cosines[near, column]))
    first, second, third = (np.concatenate(column) for column in zip(*found, strict=True))
    return first, second, third


def _cells(vectors: "Matrix", breathe: Breathe) -> Iterator[Any]:
    """The rows of each cell. Nothing depends on chance: the same vectors are sorted alike."""
    import numpy as np

    pick = np.random.default_rng(0)
    count = round(len(vectors) ** 0.5)
    sample = vectors[np.sort(pick.permutation(len(vectors))[: _PER_CENTRE * count])]
    centres = sample[pick.permutation(len(sample))[:count]]
    for _ in range(_ROUNDS):
        nearest = _nearest_centres(sample, centres, 1, breathe)[:, 0]
        order = np.argsort(nearest, kind="stable")
        _, starts = np.unique(nearest[order], return_index=True)
        centres = np.add.reduceat(sample[order], starts)  # one that nobody is near to goes
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    count = len(centres)
    homes = _nearest_centres(vectors, centres, min(_CELLS, count), breathe)
    rows = np.repeat(np.arange(len(vectors)), homes.shape[1])
    order = np.argsort(homes.ravel(), kind="stable")
    starts = np.searchsorted(homes.ravel()[order], np.arange(count + 1))
    for cell in range(count):
        members = rows[order[starts[cell] : starts[cell + 1]]]
        for start in range(
            0, len(members), EXACTLY
        ):  # a crowd is compared in parts, of those said about the same time
            yield members[start : start + EXACTLY]


def _nearest_centres(vectors: "Matrix", centres: "Matrix", most: int, breathe: Breathe) -> Any:
    import numpy as np

    found = np.empty((len(vectors), most), np.int64)
    for start in range(0, len(vectors), 8 * _BLOCK):
        breathe()
        scores = vectors[start : start + 8 * _BLOCK] @ centres.T
        found[start : start + 8 * _BLOCK] = np.argpartition(-scores, most - 1, axis=1)[:, :most]
    return found


def by_words(texts: Sequence[str], breathe: Breathe) -> "tuple[Any, list[frozenset[str]]]":
    """Pairs of rows, the lower first, that share all content words but one, or the subject; and the words of each."""
    import numpy as np

    words: list[frozenset[str]] = []
    keys: list[int] = []
    rows: list[int] = []
    for row, text in enumerate(texts):
        if row % _BLOCK == 0:
            breathe()
        mine = contradict.content_words(text)
        words.append(mine)
        if subject := contradict.subject(text):
            keys.append(hash((subject,)))
            rows.append(row)
        if mine:  # whoever lacks one of these, or has one more, meets us under one of the keys
            shorter = [mine - {word} for word in mine] if len(mine) > 1 else []
            keys += [hash(mine), *map(hash, shorter)]
            rows += [row] * (1 + len(shorter))
    order = np.argsort(np.array(keys, np.int64), kind="stable")
    sorted_keys, sorted_rows = np.array(keys, np.int64)[order], np.array(rows, np.int64)[order]
    bounds = np.flatnonzero(np.diff(sorted_keys, prepend=sorted_keys[:1] - 1, append=sorted_keys[-1:] + 1))
    found: set[tuple[int, int]] = set()
    for count, (start, end) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        if count % 4096 == 0:
            breathe()
        if 2 <= end - start <= _CROWD:
            members = sorted(set(sorted_rows[start:end].tolist()))
            found.update((a, b) for at, a in enumerate(members) for b in members[at + 1 :])
    pairs = np.array(sorted(found), np.int64).reshape(-1, 2)
    return pairs, words
