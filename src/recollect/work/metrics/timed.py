"""An embedder whose work is timed, a text at a time."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from recollect.context.embedder import Embedder

if TYPE_CHECKING:
    from recollect.context.embedder import Rows


class Timed:
    """`took` is told a name and seconds. Bulk is not timed: nobody waits for it."""

    def __init__(self, embedder: Embedder, took: Callable[[str, float], None]) -> None:
        self._embedder = embedder
        self._took = took

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dim(self) -> int:
        return self._embedder.dim

    def embed(self, texts: Sequence[str]) -> "Rows":
        began = time.perf_counter()
        rows = self._embedder.embed(texts)
        if len(texts) == 1:
            self._took("embed", time.perf_counter() - began)
        return rows

    def embed_each(self, batches: "Iterable[Sequence[str]]") -> "Iterator[Rows]":
        return self._embedder.embed_each(batches)
