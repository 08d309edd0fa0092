"""The vectors of one model as a matrix in memory, kept in step with the store by its change feed.

A scan is exact: 1 ms at 10,000 vectors and 10 ms at 100,000. Above 300,000 the signs of the numbers are compared first, and
only the nearest are compared exactly: 25 ms of CPU at 1,000,000 instead of 90. `near`, which returns only a few, uses the
signs from some thousands on: 0.7 ms at 10,000 (docs/benchmarks.md).
"""

import logging
import threading
from array import array
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import recollect.model as m
from recollect.context.store import Store
from recollect.memory.index.packed import pack, pack_texts, unpack, unpack_texts
from recollect.store.visibility import VisibilityClasses

Floats = npt.NDArray[np.float32]
Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
SignBits = npt.NDArray[np.uint64]

logger = logging.getLogger(__name__)

_NAME = "vectors"
_WHEN_NAME = "situations"
_CHUNK = 4096  # rows read at a time: 100,000 at once would take another 200 MB
_MEAN_OF = 1000  # vectors, at most, that show what the memories in view are about
_SCAN_BY_SIGNS = 300_000  # vectors from which a scan does not compare every one in full
_SCAN_EXACT = 40  # one in so many is compared in full: the ten nearest are among them, even of random vectors all but 2 % (docs/benchmarks.md)
_LARGE = 0.8  # of the root mean square of a vector's numbers; the sign of a larger number counts three times
_NEAR_EXACT = 20  # one in so many is compared in full by `near`, but not fewer than
_EXACT_PER_RESULT = 100  # for each result asked for: of real texts it misses none
_FEWEST_SIGNS = 128  # numbers in a vector; the signs of fewer say little
_SIGN_BLOCK = 16_384  # vectors whose signs are compared at a time, and
_EXACT_BLOCK = 256  # vectors compared in full at a time: what fits into the processor's cache
_CACHED_VIEWS = 8  # views whose masks are cached


class CosineScan(NamedTuple):
    """The cosine of every memory that has a vector, with the store's number of it.

    `nums` is the same object until the memories change.
    """

    nums: Longs
    cosines: Floats
    exact: Longs | None  # rows whose cosine is exact; the others are estimates. None = all are exact
    matrix: Floats
    vector: Floats

    def exact_cosines(self, rows: Longs) -> Floats:
        """Compute the cosines of `rows` exactly."""
        return _exact_cosines(self.matrix, self.vector, rows)


class _Snapshot(NamedTuple):
    """The index at one moment, with the query."""

    nums: Longs
    ids: list[str]
    visible: Mask
    matrix: Floats
    signs: SignBits
    vector: Floats


class VectorIndex:
    """The vectors that `model` made of the memories in `store`."""

    def __init__(self, store: Store, model: str) -> None:
        self._store = store
        self._model = model
        self._name = _WHEN_NAME if model.endswith(m.WHEN_MODEL) else _NAME  # of the file that the store keeps
        self._lock = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        self._seq = -1
        self._generation: object = None
        self._ids: list[str] = []
        self._nums = array("q")
        self._row_of: dict[int, int] = {}
        self._class = array("i")
        self._classes = VisibilityClasses()
        self._without_vector: set[int] = set()  # rows that lost their vector; NaN in the matrix
        self.unsaved = 0  # rows read that the store has not kept
        self._matrix: Any = None
        self._signs: Any = None  # a bit for each number of a vector; words of 64 bits in columns
        self._drop_caches()

    def _drop_caches(self) -> None:
        self._nums_array: Longs | None = None  # `_nums` as an array, made when it is asked for
        self._masks: dict[m.View, Mask] = {}

    def scan(self, view: m.View, vector: bytes) -> CosineScan | None:
        """Return the cosines of all memories; None if there are none to compare `vector` with."""
        snapshot = self._snapshot(view, vector)
        if snapshot is None:
            return None
        nums, _, visible, matrix, signs, query = snapshot
        if len(matrix) <= _SCAN_BY_SIGNS:
            cosines, exact = _cosines(matrix, query), None
        else:
            cosines, exact = _estimate(matrix, signs, query, visible)
        return CosineScan(nums, cosines, exact, matrix, query)

    def near(self, view: m.View, vector: bytes, limit: int, floor: float) -> list[tuple[str, float]]:
        """Return ids and cosines, nearest first; equal cosines by id, so that the order never depends on the load."""
        snapshot = self._snapshot(view, vector)
        if snapshot is None or limit < 1:
            return []
        _, ids, visible, matrix, signs, query = snapshot
        size, dim = matrix.shape
        count = max(size // _NEAR_EXACT, _EXACT_PER_RESULT * limit)
        if count > size // 4 or dim < _FEWEST_SIGNS:
            rows = np.flatnonzero(visible)
            cosines = _cosines(matrix, query)[rows]
        else:
            rows = _least(_sign_distances(signs, query), visible, count)
            cosines = _exact_cosines(matrix, query, rows)
        if len(rows) > limit:
            last = float(np.partition(cosines, len(cosines) - limit)[len(cosines) - limit])
            floor = max(floor, last)  # with all that are equal to the last
        nearest = np.flatnonzero(cosines >= floor)
        names = (ids[row] for row in rows[nearest].tolist())
        hits = zip(names, cosines[nearest].tolist(), strict=True)
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:limit]

    def mean(self, view: m.View) -> Floats | None:
        """Return the mean of the vectors in view, in a large store of some of them; None if there are none."""
        with self._lock:
            self._refresh()
            rows = np.flatnonzero(self._mask(view)) if self._ids else np.empty(0, np.int64)
            if not len(rows):
                return None
            mean: Floats = self._matrix[rows[:: -(-len(rows) // _MEAN_OF)]].mean(axis=0)
            return mean

    def _snapshot(self, view: m.View, vector: bytes) -> _Snapshot | None:
        with self._lock:
            self._refresh()
            size = len(self._ids)
            if not size or len(vector) != 4 * self._matrix.shape[1]:
                return None
            if self._nums_array is None:
                self._nums_array = np.array(self._nums, np.int64)
            return _Snapshot(
                self._nums_array,
                self._ids,
                self._mask(view),
                self._matrix[:size],
                self._signs[:, :size],
                np.frombuffer(vector, "<f4"),
            )

    def _mask(self, view: m.View) -> Mask:
        if view not in self._masks:
            if len(self._masks) >= _CACHED_VIEWS:
                self._masks.clear()
            mask = self._classes.shown(view)[np.frombuffer(self._class, np.int32)]
            mask[list(self._without_vector)] = False
            self._masks[view] = mask
        return self._masks[view]

    def _refresh(self) -> None:
        """Read what was written since the last question."""
        seq, generation = self._store.change()
        if generation != self._generation:
            self._clear()
            self._load()
        if seq != self._seq:
            rows = self._store.vectors_since(self._model, self._seq)
            while chunk := list(islice(rows, _CHUNK)):
                self._add(chunk)
        self._seq, self._generation = seq, generation

    def _load(self) -> None:
        """Take over what the store has kept of an earlier process."""
        if (kept := self._store.read_index(self._name)) is None:
            return
        try:
            self._take(*kept)
        except (ValueError, LookupError, TypeError):  # a damaged file
            logger.info("an index file cannot be used", exc_info=True)
            self._clear()

    def _take(self, seq: int, data: memoryview) -> None:
        values, arrays = unpack(data)
        if values["model"] != self._model or not len(arrays["nums"]):
            return
        self._ids = unpack_texts(arrays["ids"])
        self._nums = array("q", arrays["nums"].tobytes())
        self._class = array("i", arrays["class"].tobytes())
        self._classes = VisibilityClasses((*key,) for key in values["classes"])
        self._row_of = dict(zip(self._nums, range(len(self._ids)), strict=True))
        self._without_vector = set(values["without_vector"])
        self._matrix, self._signs = arrays["matrix"], arrays["signs"]
        self._seq = seq

    def save(self) -> None:
        """Let the store keep everything for other processes. Raise `RecollectError`."""
        with self._lock:
            self._refresh()
            size = len(self._ids)
            if not size:
                return
            values = {
                "model": self._model,
                "classes": self._classes.keys,
                "without_vector": sorted(self._without_vector),
            }
            arrays = {
                "matrix": self._matrix[:size],
                "signs": self._signs[:, :size],
                "ids": pack_texts(self._ids),
                "nums": np.array(self._nums, np.int64),
                "class": np.array(self._class, np.int32),
            }
            self._store.write_index(self._name, self._seq, self._generation, pack(values, arrays))
            self.unsaved = 0

    def __len__(self) -> int:
        return len(self._ids)

    def _add(self, rows: list[m.VectorRow]) -> None:
        self.unsaved += len(rows)
        for row in rows:  # a text that has changed has no vector until the new one is made
            if row.vector is None and row.num in self._row_of:
                self._matrix[self._row_of[row.num]] = np.nan
                self._without_vector.add(self._row_of[row.num])
                self._drop_caches()
        vectors = [(row, row.vector) for row in rows if row.vector is not None]
        dim = self._matrix.shape[1] if self._matrix is not None else len(vectors[0][1]) // 4 if vectors else 0
        # A vector of another length cannot be compared; `Store.check` reports it.
        vectors = [(row, vector) for row, vector in vectors if len(vector) == 4 * dim]
        if not vectors:
            return
        self._drop_caches()
        positions = np.empty(len(vectors), np.int64)
        for i, (row, _) in enumerate(vectors):
            code = self._classes.code(row.key)
            position = self._row_of.setdefault(row.num, len(self._ids))
            positions[i] = position
            if position == len(self._ids):
                self._ids.append(row.id)
                self._nums.append(row.num)
                self._class.append(code)
            else:
                self._class[position] = code
        matrix = np.frombuffer(b"".join(vector for _, vector in vectors), "<f4").reshape(len(vectors), -1)
        self._grow(len(self._ids), dim)
        self._matrix[positions] = matrix
        self._without_vector.difference_update(positions.tolist())
        self._signs[:, positions] = _sign_bits(matrix).T

    def _grow(self, size: int, dim: int) -> None:
        if self._matrix is not None and len(self._matrix) >= size:
            return
        if self._matrix is None:  # room for all at once: growing step by step would need it twice over
            capacity = max(size, self._store.count_vectors(self._model))
        else:
            capacity = max(size, len(self._matrix) * 5 // 4)
        matrix: Floats = np.empty((capacity, dim), np.float32)
        signs: SignBits = np.zeros((-(-dim // 64), capacity), np.uint64)
        if self._matrix is not None:
            matrix[: len(self._matrix)] = self._matrix
            signs[:, : len(self._matrix)] = self._signs
        self._matrix, self._signs = matrix, signs


def _cosines(matrix: Floats, vector: Floats) -> Floats:
    # Not `matrix @ vector`: BLAS spreads that over all cores and waits for those that other work occupies. `vecdot` is
    # eight times as fast on a busy machine at 10,000 vectors (docs/benchmarks.md).
    cosines: Floats = np.vecdot(matrix, vector)
    return cosines


def _sign_bits(vectors: npt.NDArray[Any]) -> SignBits:
    """Return by row which numbers are above 0, one bit each."""
    packed = np.packbits(vectors > 0, axis=1)
    signs = np.zeros((len(vectors), -(-vectors.shape[1] // 64) * 8), np.uint8)
    signs[:, : packed.shape[1]] = packed
    return signs.view(np.uint64)


def _exact_cosines(matrix: Floats, vector: Floats, rows: Longs) -> Floats:
    """Compute the cosines of `rows` block by block: copying all rows at once takes twice as long."""
    cosines = np.empty(len(rows), np.float32)
    for begin in range(0, len(rows), _EXACT_BLOCK):
        block = slice(begin, begin + _EXACT_BLOCK)
        cosines[block] = _cosines(matrix.take(rows[block], axis=0), vector)
    return cosines


def _sign_distances(signs: SignBits, vector: Floats) -> npt.NDArray[np.uint16]:
    """Count the signs in which each row differs from `vector`; those of its large numbers count three times."""
    query, large = _sign_bits(np.stack([vector, _large(vector)]))[:, :, None]
    distances = np.empty(signs.shape[1], np.uint16)
    for begin in range(0, len(distances), _SIGN_BLOCK):
        block = slice(begin, begin + _SIGN_BLOCK)
        differ = signs[:, block] ^ query
        counts = np.bitwise_count(differ)
        differ &= large
        counts += 2 * np.bitwise_count(differ)  # at most 192
        np.add.reduce(counts, axis=0, dtype=np.uint16, out=distances[block])
    return distances


def _large(vector: Floats) -> Mask:
    large: Mask = np.abs(vector) > _LARGE * np.sqrt(np.mean(vector * vector))
    return large


def _least(distances: npt.NDArray[np.uint16], visible: Mask, count: int) -> Longs:
    """Return the visible rows with the `count` least distances, and all that are equal to the last of them."""
    ranked = np.cumsum(np.bincount(distances[visible]))
    return np.flatnonzero((distances <= np.searchsorted(ranked, count)) & visible)


def _estimate(matrix: Floats, signs: SignBits, vector: Floats, visible: Mask) -> tuple[Floats, Longs]:
    """Return cosines, and the visible rows for which they are exact: the nearest by their signs.

    The number of signs in which two vectors agree tells how near they are. By chance some look nearer than they are, so no
    estimate is above the median of the exact cosines.
    """
    distances = _sign_distances(signs, vector)
    agree = np.linspace(1, -1, len(vector) + 2 * np.count_nonzero(_large(vector)) + 1, dtype=np.float32)
    # If all signs counted alike, the cosine would be the sine; weighted by the numbers themselves, it would be `agree`.
    likely = (2 * agree + np.sin(np.pi / 2 * agree)) / 3
    cosines = np.where(visible, likely.take(distances), np.float32(np.nan))
    rows = _least(distances, visible, len(matrix) // _SCAN_EXACT)
    exact = _exact_cosines(matrix, vector, rows)
    if len(rows):
        np.minimum(cosines, np.median(exact), out=cosines)
    cosines[rows] = exact
    return cosines, rows
