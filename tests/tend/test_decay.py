"""Fading, as a pure function of what is stored and the clock."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from recollect.model import Memory, Provenance, Reinforcement, Scope, Source, Standing
from recollect.tend.decay import DAY, confidence_now, freshness, half_life, recency_boost

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def memory(kind="fact", days=0.0, source=Source.USER_STATED, **fields):
    born = NOW - timedelta(days=days)
    base = Memory(
        id="m1",
        user_id="me",
        project_id=None,
        scope=Scope.GLOBAL,
        kind=kind,
        content="text",
        summary="text",
        fingerprint="f",
        created_at=born,
        updated_at=born,
        valid_from=born,
        provenance=(Provenance(source, born),),
        confidence=1.0,
        trust=1.0,
    )
    return replace(base, **fields)


@pytest.mark.parametrize("age, expected", [(0 * DAY, 1.0), (7 * DAY, 0.5), (14 * DAY, 0.25), (-DAY, 1.0)])
def test_freshness_halves_every_half_life(age, expected):
    assert freshness(age, 7) == pytest.approx(expected)


def test_a_fact_has_half_its_confidence_after_thirty_days_and_a_pinned_one_all_of_it():
    assert confidence_now(memory(days=30), NOW) == pytest.approx(0.5)
    assert confidence_now(memory(days=30, standing=Standing.PINNED), NOW) == 1.0


def test_what_was_inferred_fades_in_a_week_whatever_its_kind():
    assert half_life(memory("decision", source=Source.INFERRED)) == 7
    assert half_life(memory("decision")) is None
    assert half_life(memory("environment_quirk", source=Source.INFERRED)) == 7


def test_hearing_it_again_starts_the_clock_anew():
    again = memory(days=300, reinforcements=(Reinforcement(NOW, "user"),))

    assert confidence_now(again, NOW) == pytest.approx(1.0)


def test_confidence_never_exceeds_one():
    assert confidence_now(memory(access_count=10_000), NOW) == 1.0


@pytest.mark.parametrize("hours, expected", [(0, 1.5), (24, 1 + 0.5 / 2.718281828), (10_000, 1.0), (-5, 1.5)])
def test_recent_use_lifts_by_half_at_most(hours, expected):
    used = memory(days=100, last_accessed_at=NOW - timedelta(hours=hours))

    assert recency_boost(used, NOW) == pytest.approx(expected)
