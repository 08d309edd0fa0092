"""How much one person, agent and tenant may ask of the server: buckets of requests that fill again over time."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from recollect.errors import TooManyRequests
from recollect.model.team import Identity

LARGEST_BODY = 512 * 1024  # bytes of a request; 200 findings of 2 KB and their paths fit
BODY_SECONDS = 15.0  # in which a body must be there
HEAD_SECONDS = 15.0  # in which a connection must have sent the head of its next request
_MOST_BUCKETS = 20_000


@dataclass(frozen=True, slots=True)
class Rates:
    """Requests per second, and how many at once after a pause."""

    person: float = 50.0
    writes: float = 10.0
    tenant: float = 500.0
    joins: float = 5.0
    burst: float = 10.0  # seconds' worth of requests


class RateLimiter:
    """Raises `TooManyRequests` when a bucket is empty. Each process has its own buckets."""

    def __init__(self, rates: Rates, now: Callable[[], float] = time.monotonic) -> None:
        self._rates = rates
        self._now = now
        self._buckets: OrderedDict[tuple[str, ...], tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, identity: Identity, *, is_write: bool) -> None:
        """Take one request from the caller's buckets."""
        rates = self._rates
        self._take(("tenant", identity.tenant), rates.tenant, "The team has")
        self._take(("person", identity.tenant, identity.user, identity.agent), rates.person, "You have")
        if is_write:
            self._take(("write", identity.tenant, identity.user, identity.agent), rates.writes, "You have")

    def check_join(self) -> None:
        """Take one attempt to use an invitation code, of all attempts together."""
        self._take(("join",), self._rates.joins, "The server was")

    def _take(self, key: tuple[str, ...], rate: float, who: str) -> None:
        if not rate:
            return
        now, most = self._now(), rate * self._rates.burst
        with self._lock:
            left, at = self._buckets.pop(key, (most, now))
            left = min(most, left + (now - at) * rate)
            self._buckets[key] = (left - 1 if left >= 1 else left, now)
            while len(self._buckets) > _MOST_BUCKETS:
                self._buckets.popitem(last=False)
        if left < 1:
            raise TooManyRequests(f"{who} sent too many requests.", "Wait a second and try again.")
