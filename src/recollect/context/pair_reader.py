"""What a model that reads two statements at once promises."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Relatedness(NamedTuple):
    """How likely it is that two statements contradict each other, say the same, or hold beside each other."""

    contradiction: float
    same: float
    beside: float


class PairReader(Protocol):
    """Says how two statements relate. Never raises, never waits for its model, and can be used from any thread."""

    name: str

    @property
    def is_loaded(self) -> bool: ...

    def load(self) -> None:
        """Load the model now, unless it is loaded or was found not to work. Only processes that live on do."""

    def relate(self, pairs: Sequence[tuple[str, str]]) -> list[Relatedness] | None:
        """Return how the statements of each pair relate, whichever comes first; None if no model is loaded."""
