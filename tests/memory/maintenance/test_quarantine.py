"""A day in which what a program kept must prove its worth."""

from dataclasses import replace
from datetime import timedelta

import pytest

import recollect.model as m
from recollect.memory.maintenance.compact import settled

DAY = timedelta(days=1)


@pytest.fixture
def candidate(engine):
    """What an agent's session left behind, still to prove its worth."""

    def make(text="The till prints twice.", **details):
        receipt = engine.remember(text, **{"created_by": "agent:coder", "standing": "candidate", **details})
        return engine.get(receipt.id)

    return make


def test_what_was_used_is_confirmed_after_a_day(engine, candidate, clock):
    name = candidate(importance=0.6).id
    engine.feedback(name, helpful=True)
    clock.advance(hours=24)

    made = engine.care.compact()

    memory = engine.get(name)
    assert (made.confirmed, made.doubted) == ((name,), ())
    assert (memory.standing, memory.importance, memory.settled_at) == ("confirmed", 0.6, clock())
    assert (engine.audit(1)[0].action, engine.audit(1)[0].memory_id) == ("promote", name)


def test_what_was_not_used_counts_for_less_once(engine, candidate, clock):
    name = candidate(importance=0.5).id

    for _ in range(5):
        clock.advance(days=1)
        engine.care.compact()

    memory = engine.get(name)
    assert (memory.standing, memory.importance) == ("candidate", 0.4)
    assert memory.settled_at == memory.promoted_at + DAY
    lines = [line for line in engine.audit(50, name) if "quarantine" in line.detail]
    assert [(line.action, line.detail["importance"]) for line in lines] == [("update", 0.4)]


def test_what_is_used_late_is_confirmed_then(engine, candidate, clock):
    name = candidate(importance=0.5).id
    clock.advance(days=1)
    engine.care.compact()
    engine.feedback(name, helpful=True)

    made = engine.care.compact()

    assert made.confirmed == (name,)
    assert (engine.get(name).standing, engine.get(name).importance) == ("confirmed", 0.4)


def test_nothing_is_decided_before_a_day_has_passed(engine, candidate, clock):
    before = candidate()
    clock.advance(hours=23, minutes=59)

    made = engine.care.compact()

    assert made.change is None
    assert engine.get(before.id) == before


def test_what_a_person_says_too_is_confirmed(engine, candidate):
    name = candidate("The till prints twice.", importance=0.5).id

    engine.remember("The till prints twice.")

    assert engine.get(name).standing is m.Standing.CONFIRMED


@pytest.mark.parametrize(
    "fields",
    [
        {"standing": m.Standing.CONFIRMED},
        {"standing": m.Standing.PINNED},
        {"promoted_at": None},
        {"state": m.State.ARCHIVED},
    ],
)
def test_only_active_candidates_of_programs_are_in_quarantine(candidate, clock, fields):
    memory = replace(candidate(), **fields)

    assert settled(memory, clock() + 9 * DAY) is None


def test_a_quarantine_can_be_undone_and_is_not_decided_again(engine, candidate, clock):
    before = candidate(importance=0.5)
    clock.advance(days=1)
    made = engine.care.compact()

    engine.care.undo(made.change)

    assert engine.get(before.id) == before
    assert engine.care.compact().change is None
