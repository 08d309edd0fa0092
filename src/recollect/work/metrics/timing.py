"""Histograms of durations in logarithmic buckets: a median within 10 % from a few rows per day. Pure functions."""

import math
from collections.abc import Mapping

_STEPS = 8  # buckets per doubling


def bucket_of(seconds: float) -> int:
    return round(_STEPS * math.log2(max(seconds, 1e-6) * 1e6))


def milliseconds(bucket: int) -> float:
    """Return the middle of a bucket."""
    return float(2 ** (bucket / _STEPS) / 1000)


def quantile(counts: Mapping[int, int], share: float) -> float:
    """Return a quantile in milliseconds, or 0 if nothing was timed."""
    wanted = share * sum(counts.values())
    seen = 0
    for bucket, count in sorted(counts.items()):
        seen += count
        if seen >= wanted:
            return milliseconds(bucket)
    return 0.0


def add_up(days: Mapping[str, Mapping[int, int]]) -> dict[int, int]:
    total: dict[int, int] = {}
    for counts in days.values():
        for bucket, count in counts.items():
            total[bucket] = total.get(bucket, 0) + count
    return total
