"""An embedder that notes how long it takes."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from recollect.context.embedder import Embedder
from recollect.work.metrics.measures import Measures

if TYPE_CHECKING:
    from recollect.context.embedder import Rows


class TimedEmbedder:
    """Passes everything on to an embedder and times single texts. Batches are not timed: nobody waits for them."""

    def __init__(self, embedder: Embedder, measures: Measures) -> None:
        self._embedder = embedder
        self._measures = measures

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
            self._measures.took("embed", time.perf_counter() - began)
        return rows

    def embed_each(self, batches: "Iterable[Sequence[str]]") -> "Iterator[Rows]":
        return self._embedder.embed_each(batches)
