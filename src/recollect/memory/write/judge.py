"""Who is asked where the rules that compare statements are not certain."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from recollect.memory.write.contradict import Relation  # its tables of words cost 60 ms


class Judge(Protocol):
    def relate(self, new: str, old: str) -> "Relation | None":
        """Whether two statements say the same, disagree, or neither; None where nobody knows."""
