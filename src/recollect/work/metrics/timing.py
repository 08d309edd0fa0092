"""How long things take, kept as counts by size: a median within a tenth, in a few rows a day. Pure."""

import math
from collections.abc import Mapping

_STEPS = 8  # to a doubling


def size_of(seconds: float) -> int:
    return round(_STEPS * math.log2(max(seconds, 1e-6) * 1e6))


def milliseconds(size: int) -> float:
    """The middle of what has this size."""
    return float(2 ** (size / _STEPS) / 1000)


def quantile(counts: Mapping[int, int], share: float) -> float:
    """In milliseconds; 0 where nothing was timed."""
    wanted = share * sum(counts.values())
    seen = 0
    for size, count in sorted(counts.items()):
        seen += count
        if seen >= wanted:
            return milliseconds(size)
    return 0.0


def together(days: Mapping[str, Mapping[int, int]]) -> dict[int, int]:
    total: dict[int, int] = {}
    for counts in days.values():
        for size, count in counts.items():
            total[size] = total.get(size, 0) + count
    return total
