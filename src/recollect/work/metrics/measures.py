"""`engine.measures`: counts and timings taken while Recollect works, and what they add up to."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING

import recollect.model as m
from recollect.context.context import Context
from recollect.context.embedder import Embedder, ForwardingEmbedder
from recollect.errors import StoreError
from recollect.frozen import frozen
from recollect.work.metrics.saved import DISCOVERY, EDITED, INJECTED, LOOKS, Savings, saved
from recollect.work.metrics.timing import add_up, bucket_of, quantile

if TYPE_CHECKING:
    from recollect.context.embedder import Rows
    from recollect.work.transcripts.event import Event

KEPT = timedelta(days=400)  # a year, and some days to compare it with
LAST = "injected"  # name of the setting with the memories shown last
_MAX_PENDING = 10_000


@frozen
class Timing:
    """How long an operation takes, in milliseconds."""

    count: int
    p50: float
    p95: float
    daily: Sequence[tuple[str, float]]  # day and median, oldest first


@dataclass(slots=True)
class Measures:
    """Counting takes microseconds and writes nothing; `flush` writes, in the background. Thread-safe."""

    context: Context
    _times: Counter[tuple[str, int]] = field(default_factory=Counter)
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)  # session and name
    _last: dict[str, object] = field(default_factory=dict)  # the memories shown last
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.took(name, time.perf_counter() - start)

    def took(self, name: str, seconds: float) -> None:
        with self._lock:
            self._times[name, bucket_of(seconds)] += 1

    def note(self, name: str, value: float = 1, session: str | None = None) -> None:
        with self._lock:
            if len(self._counts) < _MAX_PENDING:
                self._counts[session or "", name] += value  # type: ignore[assignment]

    def injected(self, ids: Iterable[str], session: str | None = None) -> None:
        """Count memories that an agent was shown without asking."""
        shown = list(ids)
        if shown:
            self.note(INJECTED, len(shown), session)
            self._last = {"at": m.to_text(self.context.clock()), "session": session or "", "memories": shown}

    @property
    def waiting(self) -> bool:
        return bool(self._times or self._counts)

    def flush(self) -> None:
        """Write all pending counts in one transaction. Raise `StoreError` and keep them if that fails."""
        with self._lock:
            times, counts, last = self._times, self._counts, self._last
            self._times, self._counts, self._last = Counter(), Counter(), {}
        if not (times or counts or last):
            return
        try:
            with self.context.store.transaction():
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
        now = self.context.clock()
        if times:
            self.context.store.measures.add_timings(
                self.context.user_id, self.context.project_id, f"{now:%Y-%m-%d}", times
            )
        for session in {session for session, _ in counts}:
            values = {name: value for (owner, name), value in counts.items() if owner == session}
            self.context.store.measures.add(
                self.context.user_id, self.context.project_id, session, values, now
            )
        if last:
            self.context.store.set_setting(self.context.project_id, LAST, last)
        self.context.store.measures.forget_before(self.context.confirmed_now() - KEPT)

    def watch(self, session: m.Session, events: "Iterable[Event]") -> "Iterator[Event]":
        """Yield the same events; store what the session spent on exploration if it is over."""
        from recollect.work.metrics.discovery import Discovery  # every command opens measures, few watch

        discovery = Discovery()
        last = session.ended_at
        for event in events:
            discovery.add(event)
            last = event.at or last
            yield event
        if session.ended_at is not None and last is not None:
            values = {DISCOVERY: discovery.tokens, LOOKS: discovery.looks, EDITED: float(discovery.edited)}
            self.context.store.measures.set(
                self.context.user_id, self.context.project_id, session.id, values, last
            )

    def saved(self, session: str) -> Savings:
        """Return the tokens that memory saved in a session, with the comparison behind it."""
        with suppress(StoreError):  # a read-only home can be read
            self.flush()
        rows = self.context.store.measures.by_session(self.context.user_id, self.context.project_id)
        return saved(rows.get(session, {}), [row for name, row in rows.items() if name != session])

    def timings(self, days: int = 30, *, everywhere: bool = False) -> dict[str, Timing]:
        with suppress(StoreError):
            self.flush()
        since = f"{self.context.clock() - timedelta(days=days):%Y-%m-%d}"
        timings = self.context.store.measures.timings(
            self.context.user_id, self.context.project_id, since, everywhere=everywhere
        )
        return {name: _timing(by_day) for name, by_day in timings.items()}


class TimedEmbedder(ForwardingEmbedder):
    """Passes everything on to an embedder and times single texts. Batches are not timed: nobody waits for them."""

    def __init__(self, embedder: Embedder, measures: Measures) -> None:
        super().__init__(embedder)
        self._measures = measures

    def embed(self, texts: Sequence[str]) -> "Rows":
        began = time.perf_counter()
        rows = super().embed(texts)
        if len(texts) == 1:
            self._measures.took("embed", time.perf_counter() - began)
        return rows


def _timing(days: dict[str, dict[int, int]]) -> Timing:
    counts = add_up(days)
    daily = [(day, quantile(of_day, 0.5)) for day, of_day in days.items()]
    return Timing(sum(counts.values()), quantile(counts, 0.5), quantile(counts, 0.95), daily)
