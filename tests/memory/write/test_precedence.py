"""Who wins a contradiction, as the table in `memory/write/precedence.py` says."""

from dataclasses import replace
from datetime import timedelta

import pytest

import recollect.model as m
from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.comparison import Comparison
from recollect.memory.write.precedence import decide, wins_unattended

CONTRADICTION = Comparison(StatementRelation.CONTRADICTION, "port 8080 → 9090", certain=True)


@pytest.fixture
def memory(engine):
    """A memory from a source, as many minutes old as given."""
    first = engine.get(engine.remember("The API listens on port 8080").id)

    def make(source: m.Source, age: int = 0, **details: object) -> m.Memory:
        origin = replace(first.provenance[-1], source=source)
        at = first.created_at - timedelta(minutes=age)
        return replace(first, trust=m.TRUST[source], provenance=(origin,), created_at=at, **details)

    return make


@pytest.mark.parametrize(
    "new, old, wins",
    [
        (m.Source.USER_CORRECTED, m.Source.USER_CORRECTED, True),
        (m.Source.USER_STATED, m.Source.USER_STATED, True),
        (m.Source.USER_STATED, m.Source.USER_CORRECTED, True),
        (m.Source.USER_STATED, m.Source.SEEDED, True),
        (m.Source.OBSERVED, m.Source.USER_STATED, False),
        (m.Source.OBSERVED, m.Source.EXTRACTED, True),
    ],
)
def test_on_writing_a_memory_wins_if_a_user_said_it_or_it_is_trusted_as_much(memory, new, old, wins):
    older = memory(old, age=5)

    decision = decide(memory(new), [(older, CONTRADICTION)])

    assert decision.superseded == (((older, CONTRADICTION),) if wins else ())
    assert decision.conflicts == (() if wins else ((older, CONTRADICTION),))


@pytest.mark.parametrize("source", [m.Source.USER_CORRECTED, m.Source.USER_STATED])
def test_the_last_word_of_the_user_wins_whatever_its_trust(memory, source):
    last = replace(memory(source), trust=0.1)

    assert decide(last, [(memory(m.Source.USER_CORRECTED), CONTRADICTION)]).superseded


def test_what_the_user_said_before_does_not_replace_what_the_user_said_since(memory):
    said_before = memory(m.Source.USER_CORRECTED)
    said_before = replace(said_before, valid_from=said_before.valid_from - timedelta(days=1))

    assert decide(said_before, [(memory(m.Source.USER_STATED), CONTRADICTION)]).conflicts
    assert decide(said_before, [(memory(m.Source.OBSERVED), CONTRADICTION)]).superseded


@pytest.mark.parametrize(
    "rule",
    ["Use pnpm, not npm.", "Never use npm.", "We use pnpm here, not npm.", "Stop using npm; use pnpm."],
)
def test_a_rule_of_the_user_supersedes_what_uses_the_tool_that_it_rules_out(engine, rule):
    known = [
        "`npm run build` builds the project.",
        "Install packages with npm install.",
        "The project uses npm.",
    ]
    for text in known:
        engine.remember(text, kind="convention", created_by="agent:coder")
    engine.remember("`cargo build` builds the server.", kind="convention", created_by="agent:coder")

    engine.remember(rule, kind="correction")

    assert {memory.content for memory in engine.list()} == {rule, "`cargo build` builds the server."}


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Use pnpm, not npm.", "Use npm, not pnpm."),
        ("Use tabs, not spaces", "Use spaces instead of tabs"),
        ("Run tests with pytest, not tox", "Run tests with tox, not pytest"),
    ],
)
def test_who_changes_their_mind_is_told_back_the_newer_rule_alone(engine, before, now):
    engine.remember(before, kind="correction")

    engine.remember(now, kind="correction")

    assert [memory.content for memory in engine.list()] == [now]
    assert not engine.care.questions()


def test_the_other_way_round_elsewhere_replaces_nothing(engine):
    engine.remember("Use pnpm, not npm.", kind="correction")

    engine.remember("In docs/ use npm, not pnpm.", kind="correction")

    assert len(engine.list()) == 2


def test_a_rule_of_the_user_supersedes_what_an_agent_learnt_on_a_branch(engine):
    engine.remember("`npm run build` builds it.", created_by="agent:coder", branch="feature")

    engine.remember("Use pnpm, not npm.", kind="correction")

    assert [memory.content for memory in engine.list(branch="feature")] == ["Use pnpm, not npm."]


def test_what_happened_contradicts_nothing(engine):
    rule = engine.remember("Use pnpm, not npm.", kind="correction")
    failure = "`npm test` failed: “no such file”. It passed after `npm install`."

    receipt = engine.remember(failure, kind="error_pattern", created_by="agent:coder")

    assert receipt.conflicts_with == receipt.supersedes == ()
    assert engine.get(rule.id).state is m.State.ACTIVE


def test_what_an_agent_says_later_does_not_replace_the_rule_of_the_user(engine):
    rule = engine.remember("Use pnpm, not npm.", kind="correction")

    receipt = engine.remember("`npm run build` builds the project.", created_by="agent:coder")

    assert receipt.conflicts_with == (rule.id,)
    assert engine.get(rule.id).state is m.State.ACTIVE


def test_what_is_no_longer_active_is_left_alone(memory):
    older = memory(m.Source.OBSERVED, state=m.State.SUPERSEDED)

    decision = decide(memory(m.Source.USER_STATED), [(older, CONTRADICTION)])

    assert (decision.superseded, decision.conflicts) == ((), ())


def test_the_winner_takes_over_a_pin_and_the_loser_does_not(memory):
    pinned = memory(m.Source.USER_STATED, standing=m.Standing.PINNED)

    assert decide(memory(m.Source.USER_STATED), [(pinned, CONTRADICTION)]).takes_pin
    assert not decide(memory(m.Source.OBSERVED), [(pinned, CONTRADICTION)]).takes_pin


@pytest.mark.parametrize(
    "new, old, age, pinned, wins",
    [
        (m.Source.OBSERVED, m.Source.OBSERVED, 5, False, True),
        (m.Source.OBSERVED, m.Source.OBSERVED, 0, False, False),
        (m.Source.OBSERVED, m.Source.OBSERVED, 5, True, False),
        (m.Source.EXTRACTED, m.Source.OBSERVED, 5, False, False),
        (m.Source.USER_CORRECTED, m.Source.USER_STATED, 5, False, False),
    ],
)
def test_unattended_nothing_supersedes_what_a_user_said_or_pinned(memory, new, old, age, pinned, wins):
    standing = m.Standing.PINNED if pinned else m.Standing.CONFIRMED
    older = memory(old, age=age, standing=standing)

    assert wins_unattended(memory(new), older) is wins
