"""What the embedders share: working ahead on threads, and rows of unit length."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy.typing as npt

    from recollect.context.embedder import Rows

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_ahead(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Yield `work(item)` for each item, in order, on threads that go on while the caller uses a result.

    Items are drawn in the caller's thread (a database cursor is safe there), at most three per worker ahead.
    """
    from concurrent.futures import Future, ThreadPoolExecutor

    ahead: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="recollect-embed")
    try:
        for item in items:
            ahead.append(pool.submit(work, item))
            if len(ahead) == 3 * workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        # Also when the caller closes the iterator early: queued work is dropped, running work is awaited.
        pool.shutdown(wait=True, cancel_futures=True)


def unit_rows(vectors: "npt.ArrayLike", count: int) -> "Rows":
    """Return `count` vectors scaled to length 1. Raise `ValueError` if there are not so many, or one cannot be scaled."""
    import numpy as np

    try:
        # In float64, so that extreme values are rejected below instead of overflowing here.
        rows: npt.NDArray[np.float64] = np.asarray(vectors, np.float64)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"not numbers: {error}") from error
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
        raise ValueError(f"shape {rows.shape} for {count} texts")
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ValueError("a vector that is zero or not finite")
    scaled: Rows = (rows / lengths).astype(np.float32)
    return scaled
