"""Counters and timings of the server, in the text format of Prometheus."""

import threading
from bisect import bisect_left
from collections import defaultdict

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


class Metrics:
    """What this process has done so far. Labels are names of operations and statuses, nothing of a caller."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], int] = defaultdict(int)
        self._seconds: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._totals: dict[str, float] = defaultdict(float)
        self._lock = threading.Lock()
        self.active = 0

    def note(self, operation: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[operation, status] += 1
            self._seconds[operation][bisect_left(BUCKETS, seconds)] += 1
            self._totals[operation] += seconds

    def text(self, streams: int) -> str:
        """Return all figures; `streams` is how many clients follow live updates now."""
        with self._lock:
            lines = ["# TYPE recollect_requests_total counter"]
            for (operation, status), count in sorted(self._requests.items()):
                lines.append(f'recollect_requests_total{{operation="{operation}",status="{status}"}} {count}')
            lines.append("# TYPE recollect_request_seconds histogram")
            for operation, counts in sorted(self._seconds.items()):
                total = 0
                for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                    total += count
                    label = f'operation="{operation}",le="{bound}"'
                    lines.append(f"recollect_request_seconds_bucket{{{label}}} {total}")
                name = f'{{operation="{operation}"}}'
                lines.append(f"recollect_request_seconds_sum{name} {self._totals[operation]:.6f}")
                lines.append(f"recollect_request_seconds_count{name} {total}")
            lines += ["# TYPE recollect_requests_active gauge", f"recollect_requests_active {self.active}"]
            lines += ["# TYPE recollect_streams gauge", f"recollect_streams {streams}"]
        return "\n".join(lines) + "\n"
