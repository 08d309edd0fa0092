"""Whether recall is fast enough, what it does when it is not, and when to stop."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

WINDOW = 100  # latencies
ENOUGH = 5  # samples; fewer tell nothing
SLOW_MS = 300.0
FAST_MS = 200.0


@dataclass(frozen=True, slots=True)
class Limits:
    top_k: int
    scan: int  # candidates scored in full


FULL = Limits(top_k=15, scan=500)
REDUCED = Limits(top_k=5, scan=100)


class LatencyWindow:
    """The last latencies. Degraded once their p95 is above 300 ms, until it is below 200 ms. Usable from any thread."""

    def __init__(self) -> None:
        self._latencies: deque[float] = deque(maxlen=WINDOW)
        self._degraded = False
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._latencies)

    def add(self, ms: float) -> None:
        with self._lock:
            self._latencies.append(ms)
            self._judge()

    @property
    def p95(self) -> float:
        """By nearest rank: one of the latencies themselves; 0 when there are none."""
        with self._lock:
            return self._p95()

    @property
    def degraded(self) -> bool:
        return self._degraded

    def limits(self) -> Limits:
        return REDUCED if self._degraded else FULL

    def as_json(self) -> dict[str, Any]:
        with self._lock:
            return {"latencies": list(self._latencies), "degraded": self._degraded}

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | None) -> "LatencyWindow":
        """As it was kept; new where nothing, or nothing that makes sense, was kept."""
        window = cls()
        kept = (data or {}).get("latencies")
        if isinstance(kept, list) and all(_plausible(ms) for ms in kept):
            window._latencies.extend(map(float, kept))
            window._degraded = (data or {}).get("degraded") is True
            window._judge()
        return window

    def _judge(self) -> None:
        p95 = self._p95()
        if len(self._latencies) < ENOUGH or p95 < FAST_MS:
            self._degraded = False
        elif p95 > SLOW_MS:
            self._degraded = True

    def _p95(self) -> float:
        ordered = sorted(self._latencies)
        return ordered[math.ceil(0.95 * len(ordered)) - 1] if ordered else 0.0


def _plausible(ms: object) -> bool:
    return isinstance(ms, int | float) and not isinstance(ms, bool) and math.isfinite(ms) and ms >= 0


class Deadline:
    """Begins when it is made. `clock` gives seconds."""

    __slots__ = ("_clock", "_end")

    def __init__(self, ms: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + ms / 1000

    def left(self) -> float:
        """Milliseconds; never negative."""
        return max(0.0, (self._end - self._clock()) * 1000)

    @property
    def passed(self) -> bool:
        return self._clock() >= self._end
