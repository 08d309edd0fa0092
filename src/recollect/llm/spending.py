"""The daily limit of the sidecar, the pause after failures, and the figures of `recollect cost`."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil

import recollect.model as m
from recollect.config import Settings
from recollect.context.store import CostLedger, Store
from recollect.frozen import frozen
from recollect.llm.consent import may_send, place
from recollect.model import CallOutcome, LlmCall, SpendingCap

FIRST_PAUSE = timedelta(seconds=5)  # after a failure; doubles with each further one
MAX_PAUSE = timedelta(minutes=15)
WEEK = timedelta(days=7)


class SpendingLimit:
    """Reserves the maximum cost of each call in the ledger before it is made, so the limit holds across processes.

    A call that may have been charged for counts as spent.
    """

    def __init__(self, shelf: CostLedger, settings: Settings, place: str, clock: m.Clock) -> None:
        self._shelf = shelf
        self._settings = settings
        self._place = place
        self._clock = clock

    def is_pausing(self) -> bool:
        """Return whether the last calls failed too recently to try again."""
        failures, last = self._shelf.failures(self._settings.user, self._place)
        return last is not None and self._clock() < last + pause(failures)

    def reserve(self, purpose: str, tokens_in: int, tokens_out: int) -> LlmCall | None:
        """Enter a call with its maximum of tokens; return None if it would exceed the daily limit."""
        now = self._clock()
        call = LlmCall(
            m.new_id(now),
            self._settings.user,
            now,
            self._place,
            purpose,
            tokens_in,
            tokens_out,
            price(self._settings, tokens_in, tokens_out),
        )
        return call if self._shelf.enter(call, cap(self._settings, now)) else None

    def settle(self, call: LlmCall, outcome: CallOutcome, tokens_in: int = 0, tokens_out: int = 0) -> None:
        """Record what a call came to. The maximum remains for a call without an answer."""
        done = replace(call, outcome=outcome)
        if outcome is not CallOutcome.SILENT:
            micros = price(self._settings, tokens_in, tokens_out)
            done = replace(done, tokens_in=tokens_in, tokens_out=tokens_out, micros=micros)
        self._shelf.finish(done)


def pause(failures: int) -> timedelta:
    """Return how long the sidecar is not asked after `failures` failures in a row."""
    limited: timedelta = min(FIRST_PAUSE * 2 ** (failures - 1), MAX_PAUSE)
    return limited


def price(settings: Settings, tokens_in: int, tokens_out: int) -> int:
    """Return the price in millionths; the settings give prices per million tokens."""
    return ceil(tokens_in * settings.sidecar_price_in + tokens_out * settings.sidecar_price_out)


def cap(settings: Settings, now: datetime) -> SpendingCap:
    return SpendingCap(midnight(now), settings.sidecar_daily_tokens, round(settings.sidecar_daily_cost * 1e6))


def midnight(now: datetime) -> datetime:
    """Return the start of the day in UTC."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


@frozen
class Spent:
    """The calls of a period and what they cost."""

    calls: int
    failed: int  # of these: no answer, or no usable one
    tokens: int
    cost: float


@frozen
class Costs:
    """The figures of `recollect cost`; the names are the keys of `cost --json`."""

    sidecar: str
    place: str  # "" = nothing is sent
    may_send: bool
    rests_until: datetime | None  # None = the sidecar is not pausing
    today: Spent
    week: Spent  # the last seven days
    by_purpose: dict[str, Spent]  # of the week
    daily_tokens: int
    daily_cost: float
    priced: bool  # False = no price is set, so money is not counted


def costs(settings: Settings, store: Store, now: datetime) -> Costs:
    """Return what the sidecar cost today and in the last seven days."""
    calls = store.ledger.since(settings.user, now - WEEK)
    failures, last = store.ledger.failures(settings.user, place(settings))
    ready = last + pause(failures) if last is not None else now
    purposes = sorted({call.purpose for call in calls})
    return Costs(
        settings.sidecar,
        place(settings),
        may_send(settings, store),
        ready if ready > now else None,
        _sum(call for call in calls if call.at >= midnight(now)),
        _sum(calls),
        {purpose: _sum(call for call in calls if call.purpose == purpose) for purpose in purposes},
        settings.sidecar_daily_tokens,
        settings.sidecar_daily_cost,
        bool(settings.sidecar_price_in or settings.sidecar_price_out),
    )


def _sum(calls: Iterable[LlmCall]) -> Spent:
    rows = list(calls)
    return Spent(
        len(rows),
        sum(call.outcome not in (CallOutcome.ANSWERED, CallOutcome.ASKED) for call in rows),
        sum(call.tokens_in + call.tokens_out for call in rows),
        sum(call.micros for call in rows) / 1e6,
    )
