"""Vectors of one model in memory, kept in step with the file by its change number.

A scan is exact: 1 ms at 10,000 and 10 ms at 100,000. Past 300,000 the signs of the numbers are compared first, and only the
nearest are looked at exactly: 25 ms of CPU at 1,000,000 instead of 90. Who asks for the few nearest has them by their signs
from some thousands on: 0.7 ms at 10,000 (docs/benchmarks.md).
"""

import threading
from array import array
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.model import View
from recollect.store.visibility import COLUMNS, VisibilityClasses

if TYPE_CHECKING:
    import apsw
    import numpy as np
    import numpy.typing as npt


_CHUNK = 4096  # rows read at a time: 100,000 at once would be another 200 MB
_MANY = 300_000  # vectors: from here on not every one is compared in full
_NEAREST = 40  # one in so many is: the ten nearest are among them, even of random vectors all but 2 % (docs/benchmarks.md)
_LARGE = 0.8  # of the usual size of a number in a vector; from there on its sign counts three times
_SIFTED = 20  # one in so many `near` compares in full, but not fewer than
_FOR_EACH = 100  # for each that it is asked for: of real texts it misses none
_TELLING = 128  # numbers; the signs of fewer say little
_AT_ONCE = 16_384  # vectors whose signs are compared at a time, and
_GATHERED = 256  # vectors that are compared in full: what fits into the processor's cache
_VIEWS = 8  # whose masks are kept


class Scan(NamedTuple):
    """The cosine of every memory that has a vector, with its number, its id and whether the view shows it.

    The same `nums`, to the object, until the memories change.
    """

    nums: "npt.NDArray[np.int64]"
    ids: list[str]
    seen: "npt.NDArray[np.bool_]"
    cosines: "npt.NDArray[np.float32]"
    exact: "npt.NDArray[np.int64] | None"  # rows whose cosine is; the others' are estimated. None = all are
    matrix: "npt.NDArray[np.float32]"
    vector: "npt.NDArray[np.float32]"

    def exactly(self, rows: "npt.NDArray[np.int64]") -> "npt.NDArray[np.float32]":
        """The cosines of `rows`."""
        cosines: npt.NDArray[np.float32] = _exactly(self.matrix, self.vector, rows)
        return cosines


class _Now(NamedTuple):
    """The index at one moment, and what is asked of it."""

    nums: "npt.NDArray[np.int64]"
    ids: list[str]
    seen: "npt.NDArray[np.bool_]"
    matrix: "npt.NDArray[np.float32]"
    signs: "npt.NDArray[np.uint64]"
    vector: "npt.NDArray[np.float32]"


class VectorIndex:
    def __init__(self, model: str) -> None:
        self.model = model
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._seq = self._purge = -1
        self._ids: list[str] = []
        self._nums = array("q")
        self._row_of: dict[int, int] = {}
        self._class = array("i")
        self._classes = VisibilityClasses()
        self._lost: set[int] = set()  # rows that have no vector any more: NaN
        self._matrix: Any = None
        self._signs: Any = None  # a bit for each number of a vector; words of 64 in columns
        self._room = 0
        self._changed()

    def _changed(self) -> None:
        self._numbers: npt.NDArray[np.int64] | None = None  # `_nums` as an array, once it is asked for
        self._seen: dict[View, npt.NDArray[np.bool_]] = {}

    def scan(self, connection: "apsw.Connection", view: View, vector: bytes) -> Scan | None:
        """None where there is nothing to compare `vector` with."""
        now = self._now(connection, view, vector)
        if now is None:
            return None
        if len(now.matrix) <= _MANY:
            cosines, exact = _cosines(now.matrix, now.vector), None
        else:
            cosines, exact = _estimate(now.matrix, now.signs, now.vector, now.seen)
        return Scan(now.nums, now.ids, now.seen, cosines, exact, now.matrix, now.vector)

    def _now(self, connection: "apsw.Connection", view: View, vector: bytes) -> "_Now | None":
        import numpy as np

        with self._lock:
            self._refresh(connection)
            size = len(self._ids)
            if not size or len(vector) != 4 * self._matrix.shape[1]:
                return None
            if self._numbers is None:
                self._numbers = np.array(self._nums, np.int64)
            return _Now(
                self._numbers,
                self._ids,
                self._mask(view),
                self._matrix[:size],
                self._signs[:, :size],
                np.frombuffer(vector, "<f4"),
            )

    def _mask(self, view: View) -> "npt.NDArray[np.bool_]":
        import numpy as np

        if view not in self._seen:
            if len(self._seen) >= _VIEWS:
                self._seen.clear()
            seen = self._classes.shown(view)[np.frombuffer(self._class, np.int32)]
            seen[list(self._lost)] = False
            self._seen[view] = seen
        return self._seen[view]

    def near(
        self, connection: "apsw.Connection", view: View, vector: bytes, limit: int, floor: float
    ) -> list[tuple[str, float]]:
        """Nearest first; equal ones by id, so that the order never depends on the load."""
        import numpy as np

        now = self._now(connection, view, vector)
        if now is None or limit < 1:
            return []
        size, dim = now.matrix.shape
        many = max(size // _SIFTED, _FOR_EACH * limit)
        if many > size // 4 or dim < _TELLING:
            rows = np.flatnonzero(now.seen)
            cosines = _cosines(now.matrix, now.vector)[rows]
        else:
            rows = _least(_apart(now.signs, now.vector), now.seen, many)
            cosines = _exactly(now.matrix, now.vector, rows)
        if len(rows) > limit:
            last = float(np.partition(cosines, len(cosines) - limit)[len(cosines) - limit])
            floor = max(floor, last)  # with all that are equal to the last
        near = np.flatnonzero(cosines >= floor)
        ids = (now.ids[row] for row in rows[near].tolist())
        found = zip(ids, cosines[near].tolist(), strict=True)
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def _refresh(self, connection: "apsw.Connection") -> None:
        seq, purge = next(connection.execute("SELECT seq, purge FROM change"))
        if purge != self._purge:
            self._forget()
        if seq != self._seq:
            cursor = connection.execute(
                f"SELECT m.num, v.vector, m.id, {COLUMNS} FROM memories m"
                " LEFT JOIN vectors v ON v.num = m.num AND v.model = ? WHERE m.seq > ?",
                (self.model, self._seq),
            )
            if self._matrix is None:  # room for all at once: growing step by step would need it twice over
                self._room = int(connection.execute("SELECT max(num) FROM memories").get or 0)
            while rows := list(islice(cursor, _CHUNK)):
                self._add(rows)
        self._seq, self._purge = seq, purge

    def _add(self, rows: list[tuple[Any, ...]]) -> None:
        import numpy as np

        for (
            num,
            vector,
            *_,
        ) in rows:  # its text has changed, and the vector of the new one is still to be made
            if vector is None and num in self._row_of:
                self._matrix[self._row_of[num]] = np.nan
                self._lost.add(self._row_of[num])
                self._changed()
        rows = [row for row in rows if row[1] is not None]
        dim = self._matrix.shape[1] if self._matrix is not None else len(rows[0][1]) // 4 if rows else 0
        rows = [row for row in rows if len(row[1]) == 4 * dim]  # `check` tells of others
        if not rows:
            return
        self._changed()
        positions = np.empty(len(rows), np.int64)
        for i, (num, _, memory_id, *key) in enumerate(rows):
            code = self._classes.code(tuple(key))
            row = self._row_of.setdefault(num, len(self._ids))
            positions[i] = row
            if row == len(self._ids):
                self._ids.append(memory_id)
                self._nums.append(num)
                self._class.append(code)
            else:
                self._class[row] = code
        vectors = np.frombuffer(b"".join(row[1] for row in rows), "<f4").reshape(len(rows), -1)
        self._grow(len(self._ids), dim)
        self._matrix[positions] = vectors
        self._lost.difference_update(positions.tolist())
        self._signs[:, positions] = _signs(vectors).T

    def _grow(self, size: int, dim: int) -> None:
        import numpy as np

        if self._matrix is not None and len(self._matrix) >= size:
            return
        capacity = max(size, self._room if self._matrix is None else len(self._matrix) * 5 // 4)
        matrix: npt.NDArray[np.float32] = np.empty((capacity, dim), np.float32)
        signs: npt.NDArray[np.uint64] = np.zeros((-(-dim // 64), capacity), np.uint64)
        if self._matrix is not None:
            matrix[: len(self._matrix)] = self._matrix
            signs[:, : len(self._matrix)] = self._signs
        self._matrix, self._signs = matrix, signs


def _cosines(matrix: Any, vector: Any) -> Any:
    import numpy as np

    # Not `matrix @ vector`: that is spread over all cores, and where others are at work there it waits for them. This is
    # eight times as fast on a busy machine at 10,000 vectors (docs/benchmarks.md).
    return np.vecdot(matrix, vector)


def _signs(vectors: Any) -> Any:
    """By row: which numbers are above 0, as bits."""
    import numpy as np

    packed = np.packbits(vectors > 0, axis=1)
    signs = np.zeros((len(vectors), -(-vectors.shape[1] // 64) * 8), np.uint8)
    signs[:, : packed.shape[1]] = packed
    return signs.view(np.uint64)


def _exactly(matrix: Any, vector: Any, rows: Any) -> Any:
    """The cosines of `rows`, some at a time: all of them in one piece take twice as long to copy."""
    import numpy as np

    cosines = np.empty(len(rows), np.float32)
    for begin in range(0, len(rows), _GATHERED):
        some = slice(begin, begin + _GATHERED)
        cosines[some] = _cosines(matrix.take(rows[some], axis=0), vector)
    return cosines


def _apart(signs: Any, vector: Any) -> Any:
    """In how many signs each differs from `vector`; those of its large numbers tell more, and count three times."""
    import numpy as np

    ours, thrice = _signs(np.stack([vector, _large(vector)]))[:, :, None]
    apart = np.empty(signs.shape[1], np.uint16)
    for begin in range(0, len(apart), _AT_ONCE):
        some = slice(begin, begin + _AT_ONCE)
        differ = signs[:, some] ^ ours
        counts = np.bitwise_count(differ)
        differ &= thrice
        counts += 2 * np.bitwise_count(differ)  # at most 192
        np.add.reduce(counts, axis=0, dtype=np.uint16, out=apart[some])
    return apart


def _large(vector: Any) -> Any:
    import numpy as np

    return np.abs(vector) > _LARGE * np.sqrt(np.mean(vector * vector))


def _least(apart: Any, seen: Any, many: int) -> Any:
    """The rows that are seen with the `many` least, and all that are equal to the last of them."""
    import numpy as np

    ranked = np.cumsum(np.bincount(apart[seen]))
    return np.flatnonzero((apart <= np.searchsorted(ranked, many)) & seen)


def _estimate(matrix: Any, signs: Any, vector: Any, seen: Any) -> tuple[Any, Any]:
    """Cosines, and the rows for which they are exact: the nearest by their signs, of those seen.

    In how many signs two vectors agree tells how near they are. Chance has it that some look nearer than they are, so none
    of the others is taken to be nearer than the middle one of the nearest.
    """
    import numpy as np

    apart = _apart(signs, vector)
    agree = np.linspace(1, -1, len(vector) + 2 * np.count_nonzero(_large(vector)) + 1, dtype=np.float32)
    # Were all signs to count alike, the cosine would be the sine; by the numbers themselves, what they agree in.
    likely = (2 * agree + np.sin(np.pi / 2 * agree)) / 3
    cosines = np.where(seen, likely.take(apart), np.float32(np.nan))
    rows = _least(apart, seen, len(matrix) // _NEAREST)
    exact = _exactly(matrix, vector, rows)
    if len(rows):
        np.minimum(cosines, np.median(exact), out=cosines)
    cosines[rows] = exact
    return cosines, rows
