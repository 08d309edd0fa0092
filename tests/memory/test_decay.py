"""Fading, as a pure function of what is stored and the clock."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kinds import KINDS
from recollect.memory.decay import (
    DAY,
    confidence_now,
    freshness,
    half_life,
    importance_now,
    recency_boost,
)
from recollect.model import Memory, Provenance, Reinforcement, Scope, Source, Standing

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


def test_use_starts_the_clock_anew():
    used = memory(days=300, access_count=1, last_accessed_at=NOW - 30 * DAY)

    assert confidence_now(used, NOW) == pytest.approx(0.5 * 1.0693147)


def test_confidence_never_exceeds_one():
    assert confidence_now(memory(access_count=10_000), NOW) == 1.0


@pytest.mark.parametrize("hours, expected", [(0, 1.5), (24, 1 + 0.5 / 2.718281828), (10_000, 1.0), (-5, 1.5)])
def test_recent_use_lifts_by_half_at_most(hours, expected):
    used = memory(days=100, last_accessed_at=NOW - timedelta(hours=hours))

    assert recency_boost(used, NOW) == pytest.approx(expected)


# Worked by hand: base × 0.5^(age / half-life) × (1 + 0.1·ln(1 + uses)) × trust.
@pytest.mark.parametrize(
    "kind, days, fields, expected",
    [
        ("fact", 0, {"confidence": 0.9, "trust": 0.9}, 0.81),
        ("fact", 30, {"confidence": 0.7, "trust": 0.7}, 0.245),
        ("fact", 60, {"confidence": 0.7, "trust": 0.7, "access_count": 9}, 0.1225 * 1.2302585),
        ("decision", 3650, {"confidence": 0.7, "trust": 0.7}, 0.49),
        ("file_change", 42, {"confidence": 0.7, "trust": 0.7}, 0.06125),
        ("correction", 365, {}, 0.5),
        ("decision", 7, {"source": Source.INFERRED, "confidence": 0.5, "trust": 0.5}, 0.125),
        ("fact", 3650, {"confidence": 0.9, "trust": 0.9, "standing": Standing.PINNED}, 0.81),
    ],
)
def test_confidence_is_what_the_formula_says(kind, days, fields, expected):
    assert confidence_now(memory(kind, days, **fields), NOW) == pytest.approx(expected)


# Worked by hand: base × 0.95^(days since use / 7) × (candidate 0.9) × min(1, 0.5 + 0.05·uses).
@pytest.mark.parametrize(
    "days, fields, expected",
    [
        (0, {}, 0.25),
        (7, {}, 0.2375),
        (14, {"standing": Standing.CANDIDATE}, 0.5 * 0.9025 * 0.9 * 0.5),
        (0, {"access_count": 4}, 0.35),
        (0, {"access_count": 10}, 0.5),
        (0, {"access_count": 1000}, 0.5),
        (700, {"access_count": 10, "last_accessed_at": NOW - 7 * DAY}, 0.475),
        (-1, {}, 0.25),  # clocks disagree
        (700, {"standing": Standing.PINNED}, 0.5),
    ],
)
def test_importance_is_what_the_formula_says(days, fields, expected):
    assert importance_now(memory(days=days, importance=0.5, **fields), NOW) == pytest.approx(expected)


aged = st.builds(
    memory,
    kind=st.sampled_from(sorted(KINDS)),
    days=st.floats(-10, 4000),
    source=st.sampled_from(Source),
    standing=st.sampled_from([Standing.CANDIDATE, Standing.CONFIRMED]),
    importance=st.floats(0, 1),
    confidence=st.floats(0, 1),
    trust=st.floats(0, 1),
    access_count=st.integers(0, 500),
    last_accessed_at=st.none() | st.floats(-10, 4000).map(lambda days: NOW - timedelta(days=days)),
)


@given(aged, st.floats(0, 4000))
def test_nothing_grows_by_waiting(old, days):
    later = NOW + timedelta(days=days)

    assert 0.0 <= confidence_now(old, later) <= confidence_now(old, NOW) <= 1.0
    assert 0.0 <= importance_now(old, later) <= importance_now(old, NOW) <= old.importance


@given(aged, st.floats(0, 4000))
def test_what_is_pinned_stays_as_it_was(old, days):
    pinned, later = replace(old, standing=Standing.PINNED), NOW + timedelta(days=days)

    assert confidence_now(pinned, later) == confidence_now(pinned, NOW)
    assert importance_now(pinned, later) == pinned.importance


@given(aged)
def test_what_was_inferred_has_no_more_than_half_after_a_week(old):
    said = replace(old, provenance=(replace(old.provenance[0], source=Source.INFERRED),))

    assert freshness(7 * DAY, half_life(said)) <= 0.5


def test_looking_at_how_a_memory_fades_writes_nothing(engine, clock):
    name = engine.remember("The till prints twice.").id
    before, seq = engine.get(name), engine.store.seq()

    seen = []
    for _ in range(3):
        clock.advance(days=30)
        seen.append(confidence_now(engine.search("till prints").results[0].memory, clock()))

    assert seen == pytest.approx([0.405, 0.2025, 0.10125])
    assert (engine.get(name), engine.store.seq()) == (before, seq)
