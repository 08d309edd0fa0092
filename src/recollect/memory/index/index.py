"""The index of one store: words and vectors, read from its change feed."""

from functools import cached_property
from typing import TYPE_CHECKING

import recollect.model as m
from recollect.context.store import Store

if TYPE_CHECKING:
    from recollect.memory.index.vectors import CosineScan, Floats, VectorIndex
    from recollect.memory.index.words import WordIndex


SAVED_FROM = 4000  # rows that were read; fewer take less than 0.1 s
SAVED_SHARE = 10  # one in so many of all rows


class MemoryIndex:
    """Finds memories by vector and by word. Share one between all parts that use the same store; threads may share it.

    Nothing is read, and numpy is not imported, until the first question.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._vectors: dict[str, VectorIndex] = {}  # by model

    @property
    def size(self) -> int:
        """How many memories are held in memory."""
        words = self.__dict__.get("words")
        return max(len(words.ids) if words else 0, *map(len, self._vectors.values()), 0)

    def clear(self) -> None:
        """Free the memory. What is asked next reads everything again."""
        self.__dict__.pop("words", None)
        self._vectors = {}

    @cached_property
    def words(self) -> "WordIndex":
        """The words of all memories. The first access reads them: 0.2 s for 10,000."""
        from recollect.memory.index.words import WordIndex

        words = WordIndex(self._store)
        with words.lock:
            words.refresh()
        return words

    def near(
        self, view: m.View, model: str, vector: bytes, limit: int, floor: float = -1.0
    ) -> list[tuple[str, float]]:
        """Return the ids of the memories nearest to `vector` with their cosines, nearest first.

        Memories whose cosine is below `floor` are left out. Equal cosines are ordered by id.
        """
        return self._vectors_of(model).near(view, vector, limit, floor)

    def scan(self, view: m.View, model: str, vector: bytes) -> "CosineScan | None":
        """Return the cosine between `vector` and every memory; None if there are no vectors to compare with."""
        return self._vectors_of(model).scan(view, vector)

    def mean(self, view: m.View, model: str) -> "Floats | None":
        """Return the mean of the vectors of the memories in view; None if there are none."""
        return self._vectors_of(model).mean(view)

    def save_if_due(self) -> None:
        """Let the store keep what was read, if reading it again would take long. Raise `RecollectError`."""
        parts = [*self._vectors.values(), *([self.words] if "words" in self.__dict__ else ())]
        for part in parts:
            if part.unsaved >= max(SAVED_FROM, len(part) // SAVED_SHARE):
                part.save()

    def _vectors_of(self, model: str) -> "VectorIndex":
        from recollect.memory.index.vectors import VectorIndex

        return self._vectors.setdefault(model, VectorIndex(self._store, model))
