"""Latencies of recent searches, and deadlines for the next one."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

WINDOW = 100  # latencies
FEWEST_SAMPLES = 5  # fewer say nothing
SLOW_MS = 300.0  # a channel that is late is left out after 200 ms (`channels.DEADLINES_MS`), so this is rare


class LatencyWindow:
    """The latencies of the last 100 searches. Can be used from any thread."""

    def __init__(self) -> None:
        self._latencies: deque[float] = deque(maxlen=WINDOW)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._latencies)

    def add(self, ms: float) -> None:
        """Record the latency of one search."""
        with self._lock:
            self._latencies.append(ms)

    @property
    def p95(self) -> float:
        """The 95th percentile by nearest rank, one of the latencies themselves; 0 if there are none."""
        with self._lock:
            ordered = sorted(self._latencies)
        return ordered[math.ceil(0.95 * len(ordered)) - 1] if ordered else 0.0

    @property
    def degraded(self) -> bool:
        """Whether searches are slow: their 95th percentile is above 300 ms."""
        return len(self) >= FEWEST_SAMPLES and self.p95 > SLOW_MS

    def as_json(self) -> dict[str, Any]:
        """Return what `from_json` reads."""
        with self._lock:
            return {"latencies": list(self._latencies)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | None) -> "LatencyWindow":
        """Restore a window; an empty one if `data` is missing or malformed."""
        window = cls()
        latencies = (data or {}).get("latencies")
        if isinstance(latencies, list) and all(_is_latency(ms) for ms in latencies):
            window._latencies.extend(map(float, latencies))
        return window


def _is_latency(ms: object) -> bool:
    return isinstance(ms, int | float) and not isinstance(ms, bool) and math.isfinite(ms) and ms >= 0


class Deadline:
    """A moment `ms` from now. `clock` returns seconds."""

    __slots__ = ("_clock", "_end")

    def __init__(self, ms: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + ms / 1000

    def left(self) -> float:
        """Return the milliseconds left; never negative."""
        return max(0.0, (self._end - self._clock()) * 1000)
