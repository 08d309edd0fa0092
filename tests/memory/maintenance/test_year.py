"""A simulated year: agents learn and forget, the user is heard, the store stays within bounds."""

from dataclasses import replace

import pytest

import recollect.model as m
from fakes import FakeClock, FakeEmbedder
from recollect.config import load_settings
from recollect.engine import Engine
from recollect.memory.maintenance.compact import Compaction
from recollect.model import ALL_STATES
from year import Year, lines_of, unexplained

CAPACITY = 75
EVERY = 4  # days: `python -m bench.year` lives through each of them


@pytest.fixture(scope="module")
def year(tmp_path_factory):
    """The year, and the engine as it is on the day after."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("shop")
    settings = load_settings(home, environment={}, user="ada", capacity=CAPACITY)
    clock, embedder = FakeClock(), FakeEmbedder()

    def open_engine():
        return Engine.open(folder, settings=settings, embedder=embedder, clock=clock)

    lived = Year(open_engine, clock, EVERY)
    lived.pass_by()
    with open_engine() as engine:
        engine.care.compact()
        yield lived, engine


def everything(engine):
    view = replace(engine.context.view(), states=ALL_STATES, all_sessions=True)
    return list(engine.store.iter_memories(view))


def test_much_has_happened(year):
    lived, engine = year
    archived = engine.memory.count(state="archived")

    assert lived.happened["writes"] > 700
    assert lived.happened["used"] > 200
    assert lived.happened["turned down"] > 200
    assert lived.happened["superseded"] > 20
    assert lived.happened["conflict"] > 10
    assert archived > 300


def test_what_agents_keep_is_within_the_capacity(year):
    _, engine = year
    active = [each for each in everything(engine) if each.state is m.State.ACTIVE]

    assert 0 < sum(each.promoted_at is not None for each in active) <= CAPACITY


def test_what_was_used_is_still_found_first(year):
    lived, engine = year

    first = [engine.search(lived.questions[name]).results[0].memory.id for name in lived.useful]

    assert first == lived.useful
    assert {engine.get(name).standing for name in lived.useful} == {"confirmed"}


def test_what_the_user_said_is_untouched(year):
    lived, engine = year
    said = [engine.get(name) for name in dict.fromkeys(lived.stated)]

    for memory in said:
        if memory.state is m.State.SUPERSEDED:
            assert engine.get(memory.superseded_by).created_by == "user"  # by his own word
        else:
            assert (memory.state, memory.standing) == (m.State.ACTIVE, m.Standing.CONFIRMED)
            assert memory.importance >= 0.5
    assert {memory.state for memory in said} == {m.State.ACTIVE, m.State.SUPERSEDED}


def test_every_archived_memory_is_explained_by_one_line(year):
    _, engine = year
    archived = [each for each in everything(engine) if each.state is m.State.ARCHIVED]
    lines = lines_of(engine.store, engine.settings.home / "audit-archive.jsonl")

    assert unexplained(archived, lines) == []
    reasons = {each.state_reason.split()[0] for each in archived}
    assert reasons == {"past", "faded:", "over", "its"}


def test_every_day_is_one_change_at_most(year):
    _, engine = year
    compactions = [each for each in engine.care.changes(10_000) if each.action == "compact"]
    days = [each.at.date() for each in compactions]

    assert len(set(days)) == len(days)
    assert all(each.finished_at is not None and each.summary for each in compactions)


def test_another_compaction_finds_nothing_to_do(year):
    _, engine = year
    before = everything(engine)

    assert engine.care.compact() == Compaction(None)
    assert everything(engine) == before


def test_the_store_is_sound(year):
    _, engine = year

    assert engine.store.check() == []
    assert [each for each in engine.doctor() if not each.ok] == []
