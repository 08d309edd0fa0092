"""The briefing, through the engine: what an agent is told at the start of a task."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import Engine
from recollect.embed.minilm import MiniLM
from recollect.errors import Refused, UnknownName
from recollect.model import INJECTED_MARK, Finding, Session, fingerprint, new_id
from recollect.text import tokens

DATA = Path(__file__).parents[3] / "bench" / "data"
NOW = datetime(2026, 11, 1, tzinfo=UTC)
TASK = "Speed up the checkout tests, they are flaky on CI"


@pytest.fixture(scope="module")
def model():
    return MiniLM()


@pytest.fixture(scope="module")
def engine(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("recall")
    (folder / "shop").mkdir()
    with Engine.open(folder / "shop", folder / "home", embedder=model, clock=lambda: NOW) as engine:
        engine.import_memories(
            json.loads(line) for line in (DATA / "memories.jsonl").read_text().splitlines()
        )
        yield engine


@pytest.fixture
def fresh(tmp_path, model):
    (tmp_path / "shop").mkdir()
    with Engine.open(tmp_path / "shop", tmp_path / "home", embedder=model, clock=lambda: NOW) as engine:
        yield engine


@pytest.mark.parametrize("remaining", [100_000, 50_000, 20_000, 8_000, 2_000, 0])
@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "json"])
def test_a_briefing_never_exceeds_its_budget(engine, remaining, host):
    briefing = engine.recall(TASK, host=host, remaining=remaining)

    assert briefing.tokens == tokens.count(briefing.text) <= remaining * 8 // 100
    assert sum(briefing.by_tier.values()) == briefing.tokens


def test_the_same_task_gives_the_same_bytes(engine):
    assert engine.recall(TASK).text == engine.recall(TASK).text


def test_what_is_injected_carries_our_mark_and_is_never_learnt(engine):
    briefing = engine.recall(TASK, host="claude-code")

    assert INJECTED_MARK in briefing.text
    with pytest.raises(Refused, match="Recollect itself"):
        engine.remember(briefing.text[:1500])


def test_pinned_memories_come_first_and_are_not_repeated(engine):
    briefing = engine.recall("flaky tests must not be skipped")

    assert briefing.memories[0] in {memory.id for memory in engine.list() if memory.pinned}
    assert len(set(briefing.shown)) == len(briefing.shown)


def test_a_trigger_in_the_task_brings_its_warning_whatever_it_ranks(fresh):
    fresh.remember("Never run it against production", kind="negative", triggers=("drop_all.py",))
    fresh.remember("Scripts live in tools/")

    briefing = fresh.recall("please call tools/drop_all.py for me")

    assert "Never run it against production" in briefing.text
    assert briefing.shown[0].tier == "always"  # it is a rule of the user's too


def test_a_conflict_is_told_with_what_it_is_about(fresh):
    fresh.remember("Use tabs", kind="convention")
    with Engine.open(
        fresh.project.root, fresh.settings.home, embedder=fresh.embedder, actor="agent:x"
    ) as agent:
        agent.remember("Use spaces", kind="convention")

    briefing = fresh.recall("format the code")

    assert "CONFLICT" in briefing.text
    assert briefing.conflicts == 1


def test_findings_of_other_live_sessions_bridge_over(fresh):
    user, project = fresh.settings.user, fresh.project.id
    for name, ended in (("live", None), ("over", NOW), ("mine", None)):
        fresh.store.put_session(Session(name, user, project, NOW - timedelta(hours=1), ended_at=ended))
        text = f"The {name} session saw the cache miss"
        fresh.store.put_finding(Finding(new_id(), name, fingerprint(text), "discovery", text, NOW))

    briefing = fresh.recall("cache", session="mine")

    assert "The live session" in briefing.text
    assert "The over session" not in briefing.text
    assert "The mine session" not in briefing.text


def test_roles_decide_what_is_told(fresh):
    user, project = fresh.settings.user, fresh.project.id
    fresh.store.put_session(
        Session("old", user, project, NOW - timedelta(days=2), ended_at=NOW, summary="- learnt about carts")
    )
    fresh.remember("Carts expire after a day", file_paths=("shop/carts.py",))
    fresh.remember("Carts are priced in cents", file_paths=("shop/prices.py",))

    planner = fresh.recall("carts", role="planner")
    coder = fresh.recall("carts", role="coder", files=["shop/prices.py"])
    qa = fresh.recall("carts", role="qa")

    assert "learnt about carts" not in planner.text
    assert "learnt about carts" in qa.text
    assert "priced in cents" in coder.text
    assert "expire" not in coder.text


def test_at_most_two_hits_come_from_one_session(fresh):
    fresh.import_memories(
        {"content": f"The importer handles case {name}", "session": "one"}
        for name in ("alpha", "beta", "gamma", "delta")
    )
    fresh.import_memories([{"content": "The importer is written in Go", "session": "two"}])

    assert len(fresh.recall("importer").shown) == 3


def test_an_empty_memory_says_nothing(fresh):
    assert fresh.recall("anything").text == ""


def test_a_ceiling_can_be_set_for_the_project(engine):
    engine.preferences.set_budget(150)
    small = engine.recall(TASK)
    engine.preferences.set_budget(None)

    assert 0 < small.tokens <= 200 < engine.recall(TASK).tokens


@pytest.mark.parametrize("budget", [0, -5])
def test_a_budget_without_room_is_refused(engine, budget):
    with pytest.raises(Refused, match="too small"):
        engine.recall(TASK, budget=budget)
    with pytest.raises(Refused, match="too small"):
        engine.preferences.set_budget(budget)


def test_unknown_hosts_and_roles_are_refused_by_name(engine):
    with pytest.raises(UnknownName, match="host"):
        engine.recall(TASK, host="emacs")
    with pytest.raises(UnknownName, match="role"):
        engine.recall(TASK, role="boss")


def test_a_question_without_an_answer_is_noted_as_a_gap_once(tmp_path, model):
    (tmp_path / "shop").mkdir()
    for _ in range(2):
        with Engine.open(tmp_path / "shop", tmp_path / "home", embedder=model) as engine:
            engine.remember("Redis holds the locks")
            engine.search("how are invoices numbered in Portugal")
            engine.search("where are the redis locks")

    with Engine.open(tmp_path / "shop", tmp_path / "home", embedder=model) as engine:
        assert [gap.context for gap in engine.gaps()] == ["how are invoices numbered in Portugal"]


def test_a_task_that_no_memory_helps_with_is_no_gap_unless_it_asks_something(tmp_path, model):
    (tmp_path / "shop").mkdir()
    with Engine.open(tmp_path / "shop", tmp_path / "home", embedder=model) as engine:
        engine.remember("Redis holds the locks")
        engine.recall("Add a dark theme to the settings page")
        engine.recall("Which colours does the dark theme of the settings page use?")

    with Engine.open(tmp_path / "shop", tmp_path / "home", embedder=model) as engine:
        assert [gap.context for gap in engine.gaps()] == [
            "Which colours does the dark theme of the settings page use?"
        ]


def test_feedback_raises_and_lowers(fresh):
    receipt = fresh.remember("Redis holds the locks")

    helped = fresh.feedback(receipt.id, helpful=True)
    not_helped = fresh.feedback(receipt.id, helpful=False)

    assert (helped.access_count, helped.strength, helped.confidence) == (1, 2, pytest.approx(0.95))
    assert not_helped.confidence == pytest.approx(0.85)


def test_similar_memories_are_found_from_one(fresh):
    one = fresh.remember("Redis holds the locks of the importer")
    other = fresh.remember("Locks are kept in Redis by the scheduler")
    fresh.remember("The logo is blue")

    assert fresh.similar(one.id)[0].memory.id == other.id
