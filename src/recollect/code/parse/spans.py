"""Which definition a place in a file stands in."""

from bisect import bisect_right
from collections.abc import Sequence

from recollect.code.facts import FILE


class Spans:
    """`spans` are the first byte and the one after the last of what can hold others, sorted, each in one or none."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]
        self._outer: list[int] = []
        for number, start in enumerate(self._starts):
            self._outer.append(self._holding(number - 1, start))

    def at(self, byte: int) -> int:
        """The number of the innermost span there, or `FILE`."""
        return self._holding(bisect_right(self._starts, byte) - 1, byte)

    def around(self, number: int) -> int:
        return self._outer[number]

    def _holding(self, number: int, byte: int) -> int:
        while number != FILE and self._ends[number] <= byte:
            number = self._outer[number]
        return number
