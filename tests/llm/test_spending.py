"""The cap is one for all processes, and the sums are those of the calls."""

from dataclasses import replace
from datetime import timedelta

import pytest

from child import finish, start
from recollect.llm.spending import MAX_PAUSE, SpendingLimit, costs, pause, price
from recollect.model import CallOutcome

ENTER = """
import sys
from datetime import UTC, datetime
from recollect.config import load_settings
from recollect.llm.spending import SpendingLimit
from recollect.store.sqlite.store import SqliteStore

settings = load_settings(sys.argv[1], {}, user="ada", sidecar_daily_tokens=1000)
store = SqliteStore(settings.database, "ada")
limit = SpendingLimit(store.ledger, settings, "there", lambda: datetime(2026, 1, 1, 12, tzinfo=UTC))
print(sum(limit.reserve("relate", 70, 30) is not None for _ in range(20)))
store.close()
"""


@pytest.fixture
def limit(settings, store, clock):
    return SpendingLimit(store.ledger, settings, settings.sidecar_url, clock)


def test_processes_that_spend_at_once_stay_within_the_cap_together(home, store):
    children = [start(ENTER, home) for _ in range(3)]

    entered = [int(finish(child)) for child in children]

    assert sum(entered) == 10


def test_the_last_token_of_a_day_may_be_spent(settings, store, clock):
    limit = SpendingLimit(store.ledger, replace(settings, sidecar_daily_tokens=100), "there", clock)

    assert limit.reserve("relate", 90, 11) is None
    assert limit.reserve("relate", 90, 10) is not None
    assert limit.reserve("relate", 1, 0) is None


def test_of_a_call_that_was_refused_nothing_is_counted(limit, settings, store, clock):
    call = limit.reserve("verify", 500, 1000)
    limit.settle(call, CallOutcome.REFUSED)

    assert costs(settings, store, clock.now).today.tokens == 0


def test_of_a_call_nobody_answered_the_most_is_counted(limit, settings, store, clock):
    call = limit.reserve("verify", 500, 1000)
    limit.settle(call, CallOutcome.SILENT)

    assert costs(settings, store, clock.now).today.tokens == 1500


def test_costs_are_told_by_day_week_and_purpose(limit, settings, store, clock):
    for purpose, days in (("verify", 0), ("relate", 1), ("verify", 8), ("verify", 0)):
        clock.advance(days=days)
        limit.settle(limit.reserve(purpose, 10, 10), CallOutcome.ANSWERED, 1000, 100)
    clock.advance(hours=1)
    limit.settle(limit.reserve("relate", 10, 10), CallOutcome.REFUSED)

    told = costs(settings, store, clock.now)

    assert (told.today.calls, told.today.failed, told.today.tokens, told.today.cost) == (3, 1, 2200, 0.004)
    assert told.week.calls == 3
    assert {purpose: spent.calls for purpose, spent in told.by_purpose.items()} == {"relate": 1, "verify": 2}


def test_a_price_is_that_of_a_million_tokens_and_never_rounded_down(settings):
    priced = replace(settings, sidecar_price_in=0.15, sidecar_price_out=0.6)

    assert price(priced, 1_000_000, 0) == 150_000  # millionths
    assert price(priced, 1, 1) == 1


@pytest.mark.parametrize("failures, seconds", [(1, 5), (2, 10), (3, 20), (8, 640), (9, 900), (16, 900)])
def test_it_rests_twice_as_long_after_each_failure(failures, seconds):
    assert pause(failures) == timedelta(seconds=seconds)
    assert pause(failures) <= MAX_PAUSE
