"""Forget, restore, pin, tag, link."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect import Engine
from recollect.embed.open import NoEmbedder
from recollect.errors import AmbiguousId, MemoryNotFound, Refused, UnknownName
from recollect.model import Outcome, Standing, State


class Clock:
    def __init__(self):
        self.now = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def engine(tmp_path, clock):
    (tmp_path / "shop").mkdir()
    with Engine.open(tmp_path / "shop", tmp_path / "home", embedder=NoEmbedder(), clock=clock) as engine:
        yield engine


def test_forgetting_is_soft_and_can_be_taken_back_for_thirty_days(engine, clock):
    receipt = engine.remember("Mail is sent by a worker")

    engine.forget(receipt.id)
    seen = engine.list(), engine.search("mail").results
    clock.now += timedelta(days=29)
    back = engine.restore(receipt.id)

    assert seen == ((), ())
    assert (back.state, back.deleted_at, back.valid_to) == (State.ACTIVE, None, None)
    assert [line.action for line in engine.audit(name=receipt.id)] == ["update", "remove", "add"]


def test_after_the_grace_it_cannot_be_restored(engine, clock):
    receipt = engine.remember("Mail is sent by a worker")
    engine.forget(receipt.id)

    clock.now += timedelta(days=31)

    with pytest.raises(Refused, match="30 days"):
        engine.restore(receipt.id)


def test_restoring_what_is_active_or_said_anew_is_refused(engine):
    receipt = engine.remember("Mail is sent by a worker")
    with pytest.raises(Refused, match="active already"):
        engine.restore(receipt.id)
    engine.forget(receipt.id)
    engine.remember("mail is sent by a worker")

    with pytest.raises(Refused, match="says the same"):
        engine.restore(receipt.id)


def test_restoring_the_loser_of_a_contradiction_opens_the_conflict(engine):
    old = engine.remember("Use tabs")
    engine.remember("Use spaces")

    engine.restore(old.id)

    assert {memory.content for memory in engine.list()} == {"Use tabs", "Use spaces"}
    assert len(engine.conflicts()) == 1
    assert all(diagnosis.ok for diagnosis in engine.doctor() if diagnosis.part == "store")


def test_a_keyword_names_the_only_memory_that_has_it(engine):
    receipt = engine.remember("Mail is sent by a worker")
    engine.remember("Carts are kept a day")

    assert engine.forget("worker").id == receipt.id


def test_a_keyword_of_several_memories_is_ambiguous_and_forgets_none(engine):
    engine.remember("Mail is sent by a worker")
    engine.remember("Reports are made by a worker at night")

    with pytest.raises(AmbiguousId):
        engine.forget("worker")

    assert len(engine.list()) == 2


def test_pin_turns_over_and_can_be_set(engine):
    receipt = engine.remember("Never deploy on Friday")

    states = [engine.pin(receipt.id).standing, engine.pin(receipt.id).standing]
    engine.pin(receipt.id, on=True)

    assert states == [Standing.PINNED, Standing.CONFIRMED]
    assert engine.pin(receipt.id, on=True).pinned


def test_tags_are_added_and_removed(engine):
    receipt = engine.remember("Orders are never deleted", tags=("data",))

    engine.tag(receipt.id, add=("#Legal Hold", "gdpr"))
    memory = engine.tag(receipt.id, remove=("data",))

    assert memory.tags == ("legal-hold", "gdpr")
    assert [m.id for m in engine.list(tag="GDPR")] == [receipt.id]
    assert {tag.name for tag in engine.tags()} == {"legal-hold", "gdpr"}


def test_links_are_typed_and_weighted(engine):
    a, b = engine.remember("Deploys need approval"), engine.remember("Only leads approve")

    engine.link(a.id, b.id, "depends-on", 0.7)

    (link,) = engine.links(b.id)
    assert (link.source, link.target, link.relation, link.weight) == (a.id, b.id, "depends_on", 0.7)


def test_links_that_make_no_sense_are_refused(engine):
    a, b = engine.remember("Deploys need approval"), engine.remember("Only leads approve")

    with pytest.raises(UnknownName, match="relation"):
        engine.link(a.id, b.id, "likes")
    with pytest.raises(Refused, match="itself"):
        engine.link(a.id, a.id)
    with pytest.raises(Refused, match="range"):
        engine.link(a.id, b.id, weight=2)
    with pytest.raises(MemoryNotFound):
        engine.link(a.id, "zzzz")


def test_any_unique_prefix_names_a_memory(engine, clock):
    first = engine.remember("Deploys need approval")
    clock.now += timedelta(days=400)
    second = engine.remember("Only leads approve")

    assert engine.get(first.id[:5]).id == first.id
    assert engine.get(f"#{second.id[-6:]}").id == second.id
    with pytest.raises(AmbiguousId):
        engine.get(first.id[:1])
    assert engine.remember("Only leads approve").outcome is Outcome.REINFORCED


def test_an_agent_reaches_no_other_project_by_id(tmp_path):
    for name in ("shop", "bank"):
        (tmp_path / name).mkdir()
    home = tmp_path / "home"
    with Engine.open(tmp_path / "shop", home, embedder=NoEmbedder()) as shop:
        secret = shop.remember("The shop's margin is thin")

    with Engine.open(tmp_path / "bank", home, embedder=NoEmbedder(), actor="agent:coder") as agent:
        with pytest.raises(MemoryNotFound):
            agent.get(secret.id)
        assert agent.search("margin", all_projects=True).results == ()
    with Engine.open(tmp_path / "bank", home, embedder=NoEmbedder()) as user:
        assert user.get(secret.id)
        assert user.search("margin").results == ()
        assert len(user.search("margin", all_projects=True).results) == 1
