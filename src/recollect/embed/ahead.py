"""Working ahead of whoever consumes the results."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_ahead(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """`work(item)` for each item, in order, on threads that go on while the caller uses a result.

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
        # Also when the caller closes us early: what waits is dropped, what runs is waited for.
        pool.shutdown(wait=True, cancel_futures=True)
