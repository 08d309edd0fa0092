"""What the sidecar may spend in a day, what it has spent, and how long it is left alone after it failed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil

import recollect.model as m
from recollect.config import Settings
from recollect.context.store import Store
from recollect.llm.consent import may_send, place
from recollect.store.ledger import Call, Cap, LedgerShelf, Outcome

FIRST_REST = timedelta(seconds=5)  # after a failure; twice as long after each further one
LONGEST_REST = timedelta(minutes=15)
WEEK = timedelta(days=7)


class Purse:
    """Nothing is asked before it is entered in the ledger with the most it may cost, so the cap holds for all processes.

    What may have been charged counts as spent.
    """

    def __init__(self, shelf: LedgerShelf, settings: Settings, place: str, clock: m.Clock) -> None:
        self._shelf = shelf
        self._settings = settings
        self._place = place
        self._clock = clock

    def resting(self) -> bool:
        """Whether the last calls failed, too short a time ago."""
        failures, last = self._shelf.failures(self._settings.user, self._place)
        return last is not None and self._clock() < last + rest(failures)

    def open(self, purpose: str, tokens_in: int, tokens_out: int) -> Call | None:
        """Enter a call that takes so much at most; None where the day's cap forbids it."""
        now = self._clock()
        call = Call(
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

    def close(self, call: Call, outcome: Outcome, tokens_in: int = 0, tokens_out: int = 0) -> None:
        """What it came to. Of one that nobody answered the most it may have cost remains."""
        done = replace(call, outcome=outcome)
        if outcome is not Outcome.SILENT:
            micros = price(self._settings, tokens_in, tokens_out)
            done = replace(done, tokens_in=tokens_in, tokens_out=tokens_out, micros=micros)
        self._shelf.finish(done)


def rest(failures: int) -> timedelta:
    """How long it is left alone after so many failures in a row."""
    longest: timedelta = min(FIRST_REST * 2 ** (failures - 1), LONGEST_REST)
    return longest


def price(settings: Settings, tokens_in: int, tokens_out: int) -> int:
    """In millionths: prices are of a million tokens."""
    return ceil(tokens_in * settings.sidecar_price_in + tokens_out * settings.sidecar_price_out)


def cap(settings: Settings, now: datetime) -> Cap:
    return Cap(midnight(now), settings.sidecar_daily_tokens, round(settings.sidecar_daily_cost * 1e6))


def midnight(now: datetime) -> datetime:
    """A day is one of UTC."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass(frozen=True, slots=True)
class Spent:
    calls: int
    failed: int  # of them: no answer, or none that could be used
    tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class Costs:
    """The keys are those of `cost --json`."""

    sidecar: str
    place: str  # "" where nothing is sent
    may_send: bool
    rests_until: datetime | None  # None = it may be asked now
    today: Spent
    week: Spent  # the last seven days
    by_purpose: dict[str, Spent]  # of the week
    daily_tokens: int
    daily_cost: float
    priced: bool  # False = no price is set, and money is not counted


def costs(settings: Settings, store: Store, now: datetime) -> Costs:
    calls = store.ledger.since(settings.user, now - WEEK)
    failures, last = store.ledger.failures(settings.user, place(settings))
    awake = last + rest(failures) if last is not None else now
    purposes = sorted({call.purpose for call in calls})
    return Costs(
        settings.sidecar,
        place(settings),
        may_send(settings, store),
        awake if awake > now else None,
        _sum(call for call in calls if call.at >= midnight(now)),
        _sum(calls),
        {purpose: _sum(call for call in calls if call.purpose == purpose) for purpose in purposes},
        settings.sidecar_daily_tokens,
        settings.sidecar_daily_cost,
        bool(settings.sidecar_price_in or settings.sidecar_price_out),
    )


def _sum(calls: Iterable[Call]) -> Spent:
    some = list(calls)
    return Spent(
        len(some),
        sum(call.outcome not in (Outcome.ANSWERED, Outcome.ASKED) for call in some),
        sum(call.tokens_in + call.tokens_out for call in some),
        sum(call.micros for call in some) / 1e6,
    )
