"""How much one person, agent and tenant may ask of the server: requests a second, and writes a day."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import recollect.model as m
from recollect.context.team import Directory
from recollect.errors import QuotaReached, TooManyRequests
from recollect.frozen import frozen
from recollect.model.team import Identity

LARGEST_BODY = 512 * 1024  # bytes of a request; 200 findings of 2 KB and their paths fit
BODY_SECONDS = 15.0  # in which a body must be there
HEAD_SECONDS = 15.0  # in which a connection must have sent the head of its next request
_MOST_BUCKETS = 20_000
_MOST_COUNTERS = 20_000
_COUNTED_TOGETHER = 20  # writes at most that one process has counted and not stored yet, of each counter
_WRITES = "writes"


@frozen
class Rates:
    """Requests per second, and how many at once after a pause; writes per day. 0 = no limit."""

    person: float = 50.0
    writes: float = 10.0
    tenant: float = 500.0
    joins: float = 5.0
    burst: float = 10.0  # seconds' worth of requests
    person_day: int = 10_000  # writes of a person and their agents
    agent_day: int = 5_000  # writes of one agent of a person
    tenant_day: int = 200_000  # writes of a team


class Allowance(NamedTuple):
    """What is left of a limit, as answers say it in headers."""

    limit: int
    left: int
    seconds: int  # until it is whole again


class RateLimiter:
    """Raises `TooManyRequests` when a bucket is empty. Each process has its own buckets."""

    def __init__(self, rates: Rates, now: Callable[[], float] = time.monotonic) -> None:
        self._rates = rates
        self._now = now
        self._buckets: OrderedDict[tuple[str, ...], tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, identity: Identity, *, is_write: bool) -> Allowance | None:
        """Take one request from the caller's buckets; return what is left of the caller's own, None = no limit."""
        rates = self._rates
        self._take(("tenant", identity.tenant), rates.tenant, "The team has")
        mine = (identity.tenant, identity.user, identity.agent)
        left = self._take(("person", *mine), rates.person, "You have")
        return self._take(("write", *mine), rates.writes, "You have") if is_write else left

    def check_join(self) -> None:
        """Take one attempt to sign in with a code, of all attempts together."""
        self._take(("join",), self._rates.joins, "The server was")

    def _take(self, key: tuple[str, ...], rate: float, who: str) -> Allowance | None:
        if not rate:
            return None
        now, most = self._now(), rate * self._rates.burst
        with self._lock:
            left, at = self._buckets.pop(key, (most, now))
            left = min(most, left + (now - at) * rate)
            self._buckets[key] = (left - 1 if left >= 1 else left, now)
            while len(self._buckets) > _MOST_BUCKETS:
                self._buckets.popitem(last=False)
        if left < 1:
            raise TooManyRequests(f"{who} sent too many requests.", "Wait a second and try again.")
        return Allowance(int(most), int(left - 1), int((most - left + 1) / rate) + 1)


@dataclass
class _Counter:
    """How much was written in a day: stored by all processes when it was last asked, and by this one since."""

    stored: int = 0
    waiting: int = 0
    is_read: bool = False


class Quotas:
    """Counts writes of each day in the database. Raises `QuotaReached` when there are too many.

    A process stores what it has counted a few at a time, so that a write costs no second transaction: a limit of many
    thousands can be exceeded by that much for each process.
    """

    def __init__(self, rates: Rates, directory: Directory, clock: m.Clock) -> None:
        self._rates = rates
        self._directory = directory
        self._clock = clock
        self._counters: OrderedDict[tuple[str, str, str, str], _Counter] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, identity: Identity, agent: str, count: int = 1) -> Allowance | None:
        """Count writes of the caller; return what is left of the narrowest limit, None = no limit.

        `agent` is the agent that acts for the person; "" = the person.
        """
        rates, now = self._rates, self._clock()
        limits = [
            ("", _WRITES, rates.tenant_day, "The team has"),
            (identity.user, _WRITES, rates.person_day, "You have"),
        ]
        if agent:
            limits.append(
                (identity.user, f"{_WRITES} of {agent}"[:100], rates.agent_day, f"Your agent {agent} has")
            )
        seconds = _seconds_left(now)
        allowances = []
        for user, name, limit, who in limits:
            if not limit:
                continue
            used = self._add((identity.tenant, user, now.date().isoformat(), name), limit, count)
            if used > limit:
                raise QuotaReached(who, limit, seconds)
            allowances.append(Allowance(limit, limit - used, seconds))
        return min(allowances, key=lambda each: each.left, default=None)

    def _add(self, key: tuple[str, str, str, str], limit: int, count: int) -> int:
        """Return how much it is with these, which count even if they are refused then."""
        with self._lock:
            counter = self._counters.setdefault(key, _Counter())
            self._counters.move_to_end(key)
            surplus = len(self._counters) - _MOST_COUNTERS
            dropped = [self._counters.popitem(last=False) for _ in range(surplus)] if surplus > 0 else []
            counter.waiting += count
            together = max(1, min(_COUNTED_TOGETHER, limit // 100))
            is_due = not counter.is_read or counter.waiting >= together
            storing, used = counter.waiting, counter.stored + counter.waiting
            if is_due:
                counter.stored, counter.waiting, counter.is_read = used, 0, True
        for old, kept in dropped:
            self._store(old, kept.waiting)
        if not is_due:
            return used
        stored = self._store(key, storing)
        with self._lock:
            counter.stored = max(stored, counter.stored)
            return counter.stored + counter.waiting

    def _store(self, key: tuple[str, str, str, str], count: int) -> int:
        tenant, user, day, name = key
        return self._directory.count_use(tenant, user, day, name, count)

    def close(self) -> None:
        """Store what was counted."""
        with self._lock:
            waiting = [(key, each.waiting) for key, each in self._counters.items() if each.waiting]
            self._counters.clear()
        for key, count in waiting:
            self._store(key, count)

    def used(self, identity: Identity) -> dict[str, tuple[int, int]]:
        """Return what the person and the team have written today, and the limits; 0 = no limit."""
        day = self._clock().date().isoformat()
        mine = self._add_nothing((identity.tenant, identity.user, day, _WRITES))
        team = self._add_nothing((identity.tenant, "", day, _WRITES))
        return {"you": (mine, self._rates.person_day), "team": (team, self._rates.tenant_day)}

    def _add_nothing(self, key: tuple[str, str, str, str]) -> int:
        with self._lock:
            waiting = self._counters[key].waiting if key in self._counters else 0
        return self._store(key, 0) + waiting


def _seconds_left(now: datetime) -> int:
    """Return how many seconds the day has left."""
    midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), now.tzinfo)
    return int((midnight - now).total_seconds()) + 1
