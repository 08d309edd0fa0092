"""`engine.measures`: what is counted and timed while Recollect works, and what that comes to."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import StoreError
from recollect.work.metrics.discovery import Discovery
from recollect.work.metrics.saved import DISCOVERY, EDITED, INJECTED, LOOKS, Saved, saved
from recollect.work.metrics.timing import quantile, size_of, together
from recollect.work.transcripts.event import Event

KEPT = timedelta(days=400)  # a year, and a little to compare it with
LAST = "injected"  # the setting that says what was shown last
_MOST_WAITING = 10_000


@dataclass(frozen=True, slots=True)
class Timing:
    """In milliseconds."""

    count: int
    p50: float
    p95: float
    daily: Sequence[tuple[str, float]]  # day and median, oldest first


@dataclass(slots=True)
class Measures:
    """Noting costs microseconds and writes nothing; `flush` does, when nobody waits. From any thread."""

    store: Store
    clock: m.Clock
    user_id: str
    project_id: str | None
    _times: Counter[tuple[str, int]] = field(default_factory=Counter)
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)  # session and name
    _last: dict[str, object] = field(default_factory=dict)  # what was shown last
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.took(name, time.perf_counter() - began)

    def took(self, name: str, seconds: float) -> None:
        with self._lock:
            self._times[name, size_of(seconds)] += 1

    def note(self, name: str, value: float = 1, session: str | None = None) -> None:
        with self._lock:
            if len(self._counts) < _MOST_WAITING:
                self._counts[session or "", name] += value  # type: ignore[assignment]

    def injected(self, ids: Iterable[str], session: str | None = None) -> None:
        """Memories that an agent was shown without asking."""
        shown = list(ids)
        if shown:
            self.note(INJECTED, len(shown), session)
            self._last = {"at": m.to_text(self.clock()), "session": session or "", "memories": shown}

    @property
    def waiting(self) -> bool:
        return bool(self._times or self._counts)

    def flush(self) -> None:
        """Write what was noted, all of it or nothing; what could not be written waits. Raises `StoreError`."""
        with self._lock:
            times, counts, last = self._times, self._counts, self._last
            self._times, self._counts, self._last = Counter(), Counter(), {}
        if not (times or counts or last):
            return
        try:
            with self.store.transaction():
                self._write(times, counts, last)
        except StoreError:
            with self._lock:
                self._times.update(times)
                self._counts.update(counts)
                self._last = self._last or last
            raise

    def _write(
        self, times: Counter[tuple[str, int]], counts: Counter[tuple[str, str]], last: dict[str, object]
    ) -> None:
        now = self.clock()
        if times:
            self.store.measures.add_timings(self.user_id, self.project_id, f"{now:%Y-%m-%d}", times)
        for session in {session for session, _ in counts}:
            values = {name: value for (of, name), value in counts.items() if of == session}
            self.store.measures.add(self.user_id, self.project_id, session, values, now)
        if last:
            self.store.set_setting(self.project_id, LAST, last)
        self.store.measures.forget_before(now - KEPT)

    def watch(self, session: m.Session, events: Iterable[Event]) -> Iterator[Event]:
        """The same events; what the session spent on finding its way is kept, once it is over."""
        found = Discovery()
        last = session.ended_at
        for event in events:
            found.watch(event)
            last = event.at or last
            yield event
        if session.ended_at is not None and last is not None:
            values = {DISCOVERY: found.tokens, LOOKS: found.looks, EDITED: float(found.edited)}
            self.store.measures.set(self.user_id, self.project_id, session.id, values, last)

    def saved(self, session: str) -> Saved:
        """What memory saved in this session, and how that is known."""
        with suppress(StoreError):  # a read-only home can be read
            self.flush()
        of = self.store.measures.by_session(self.user_id, self.project_id)
        return saved(of.get(session, {}), [each for name, each in of.items() if name != session])

    def timings(self, days: int = 30, *, everywhere: bool = False) -> dict[str, Timing]:
        with suppress(StoreError):
            self.flush()
        since = f"{self.clock() - timedelta(days=days):%Y-%m-%d}"
        found = self.store.measures.timings(self.user_id, self.project_id, since, everywhere=everywhere)
        return {name: _timing(days_of) for name, days_of in found.items()}


def _timing(days: dict[str, dict[int, int]]) -> Timing:
    counts = together(days)
    daily = [(day, quantile(of, 0.5)) for day, of in days.items()]
    return Timing(sum(counts.values()), quantile(counts, 0.5), quantile(counts, 0.95), daily)
