"""What a program would not decide alone, decided by a person."""

from dataclasses import replace

import pytest

import recollect.model as m
from recollect.engine import Engine
from recollect.errors import ContentRefused, OutOfScope, ReviewNotFound, UnknownName
from recollect.memory.maintenance.review import KINDS, headline


@pytest.fixture
def ask(engine):
    """Puts a question about memories with these texts on the list; its id and theirs."""

    def ask(kind, *texts):
        ids = [engine.remember(text, created_by="agent:coder").id for text in texts]
        now = engine.context.clock()
        review = m.Review(
            m.new_id(now), engine.settings.user, engine.project.id, kind, tuple(ids), "why", now
        )
        assert engine.store.reviews.ask(review)
        return review.id, *ids

    return ask


def state(engine, memory_id):
    return engine.get(memory_id).state


def test_accepting_a_merge_makes_one_of_two(engine, ask):
    review, survivor, other = ask("merge", "Carts are kept in Redis", "Where carts live: Redis, for a day")

    engine.decide(review, "accept")

    kept = engine.get(survivor)
    assert (kept.strength, state(engine, other)) == (2, "superseded")
    assert engine.store.check() == []


def test_rejecting_a_merge_keeps_both_and_never_asks_again(engine, ask):
    review, survivor, other = ask("merge", "Carts are kept in Redis", "Where carts live: Redis, for a day")

    engine.decide(review, "reject")

    assert (state(engine, survivor), state(engine, other)) == ("active", "active")
    again = m.Review(
        m.new_id(), engine.settings.user, engine.project.id, "merge", (survivor, other), "", m.utc_now()
    )
    assert not engine.store.reviews.ask(again)


@pytest.mark.parametrize(("answer", "left"), [("accept", "superseded"), ("reject", "active")])
def test_an_agent_that_contradicts_a_user_is_asked_about_and_it_ends_with_one_or_with_both(
    engine, answer, left
):
    older = engine.remember("Use tabs").id
    newer = engine.remember("Use spaces", created_by="agent:coder").id

    [question] = engine.questions()
    engine.decide(question.review.id, answer)

    assert (state(engine, newer), state(engine, older)) == ("active", left)
    assert engine.conflicts() == ()


@pytest.mark.parametrize(
    ("kind", "answer", "becomes"),
    [
        ("seed", "accept", "active"),
        ("seed", "reject", "deleted"),
        ("stale", "accept", "deprecated"),
        ("stale", "reject", "active"),
    ],
)
def test_what_becomes_of_a_single_memory(engine, ask, kind, answer, becomes):
    review, memory = ask(kind, "Branches are named after tickets")

    engine.decide(review, answer)

    assert state(engine, memory) == becomes
    assert engine.questions() == ()


@pytest.mark.parametrize(("kind", "answer"), [("seed", "accept"), ("stale", "reject")])
def test_what_a_person_confirms_is_said_anew_and_is_no_programs_any_more(engine, ask, kind, answer):
    review, memory = ask(kind, "Branches are named after tickets")
    engine.context.clock.advance(days=40)

    engine.decide(review, answer)

    kept = engine.get(memory)
    assert (kept.trust, kept.standing, kept.promoted_at) == (0.9, "confirmed", None)
    assert kept.reinforcements[-1].at == engine.context.clock()


@pytest.mark.parametrize(("answer", "becomes"), [("accept", "deprecated"), ("reject", "active")])
def test_what_was_made_of_something_wrong_goes_or_stays(engine, answer, becomes):
    cause = engine.remember("Mail is sent by a worker").id
    made = engine.remember("To resend mail, restart the process").id
    engine.link(made, cause, "derived_from")
    engine.wrong(cause)

    engine.decide(engine.questions()[0].review.id, answer)

    assert state(engine, made) == becomes


@pytest.mark.parametrize("kind", [*KINDS])
def test_every_answer_is_a_change_and_undoing_it_asks_again(engine, ask, kind):
    texts = ["Carts are kept in Redis", "Orders are written to a ledger"][: len(KINDS[kind].about)]
    review, *ids = ask(kind, *texts)
    if kind == "derived":
        engine.forget(ids[1])
    before = [engine.get(each) for each in ids]

    for answer in ("accept", "reject"):
        decision = engine.decide(review, answer)
        assert engine.questions() == ()
        engine.care.undo(decision.change)

        assert [engine.get(each) for each in ids] == before
        assert [each.review.id for each in engine.questions()] == [review]


def test_an_edited_text_is_checked_like_a_new_one_and_undone_with_the_answer(engine, ask):
    review, memory = ask("seed", "Branches are named after tickets")

    decision = engine.decide(review, "edit", "Branches are named after tickets, in lower case")
    after = engine.get(memory)
    engine.care.undo(decision.change)

    assert (after.content, after.trust) == ("Branches are named after tickets, in lower case", 0.9)
    assert decision.decision == "edited"
    assert engine.get(memory).content == "Branches are named after tickets"
    assert len(engine.questions()) == 1


def test_an_edit_that_cannot_be_kept_leaves_the_question_open(engine, ask):
    review, memory = ask("seed", "Branches are named after tickets")

    with pytest.raises(ContentRefused):
        engine.decide(review, "edit", "")

    assert [each.review.id for each in engine.questions()] == [review]
    assert engine.get(memory).content == "Branches are named after tickets"


def test_an_answer_that_is_none_is_refused_by_name(engine, ask):
    name, _ = ask("seed", "Tests are in tests")

    with pytest.raises(UnknownName, match="perhaps"):
        engine.decide(name, "perhaps")

    assert len(engine.questions()) == 1


def test_an_edit_may_settle_a_contradiction_by_itself(engine, ask):
    older = engine.remember("The port is 8080", created_by="agent:coder").id
    _, newer = ask("stale", "The port is whatever the shop needs")
    question = m.Review(
        m.new_id(), engine.settings.user, engine.project.id, "contradiction", (newer, older), "", m.utc_now()
    )
    engine.store.reviews.ask(question)

    decision = engine.decide(question.id, "edit", "The port is 9090")

    assert (decision.decision, state(engine, older)) == ("edited", "superseded")


def test_pointless_questions_are_dropped_without_a_word(engine, ask):
    review, memory = ask("stale", "Branches are named after tickets")
    engine.forget(memory)

    assert engine.questions() == ()
    with pytest.raises(ReviewNotFound):
        engine.decide(review, "accept")


def test_a_conflict_settled_elsewhere_is_asked_no_more(engine):
    older = engine.remember("Use tabs").id
    newer = engine.remember("Use spaces", created_by="agent:coder").id
    question = m.Review(
        m.new_id(), engine.settings.user, engine.project.id, "contradiction", (newer, older), "", m.utc_now()
    )
    engine.store.reviews.ask(question)
    engine.resolve(newer, older, "both")

    assert engine.questions() == ()


def test_an_agent_may_look_and_not_decide(engine, ask):
    review, _ = ask("stale", "Branches are named after tickets")
    agent = Engine(replace(engine.context, actor="agent:coder"))

    assert len(agent.questions()) == 1
    with pytest.raises(OutOfScope):
        agent.decide(review, "accept")


def test_the_headline_says_how_many_of_what(engine, ask):
    ask("seed", "Branches are named after tickets")
    ask("seed", "Commits say why")
    ask("stale", "Tests run on port 6380")

    assert headline(engine.questions()) == (
        "2 conventions were found in your project; 1 memory may no longer be true."
    )
    assert headline(()) == "Nothing to review."
    with pytest.raises(UnknownName):
        engine.questions("colour")
