"""A person calls a memory wrong: one act, and one way back."""

from dataclasses import replace

import pytest

from recollect.engine import Engine
from recollect.errors import ContentRefused, OutOfScope, Refused
from recollect.model import State


@pytest.fixture
def mail(engine):
    return engine.remember("Mail is sent by a worker", tags=("mail",), file_paths=("mail.py",))


def test_what_is_wrong_is_no_longer_shown_and_says_why(engine, mail):
    found = engine.wrong(mail.id, because="cron has done it since May")

    memory = engine.get(mail.id)
    assert (memory.state, memory.state_reason) == (
        State.DEPRECATED,
        "user_flagged: cron has done it since May",
    )
    assert found.memory == memory
    assert engine.list() == ()


def test_no_secret_stays_in_the_reason(engine, mail):
    engine.wrong(mail.id, because="the token ghp_" + "a1B2c3D4e5F6" * 3 + " is old")

    assert "[REDACTED" in engine.get(mail.id).state_reason
    assert "a1B2" not in engine.get(mail.id).state_reason


def test_the_correction_keeps_the_kind_and_takes_its_place(engine, mail):
    found = engine.wrong(mail.id, instead="Mail is sent by cron")

    right = engine.get(found.correction.id)
    assert (right.kind, right.source, right.content) == (
        engine.get(mail.id).kind,
        "user_corrected",
        "Mail is sent by cron",
    )
    assert set(right.tags) >= {"mail"} and right.file_paths == ("mail.py",)
    assert engine.get(mail.id).superseded_by == right.id
    assert [(link.source, link.relation) for link in engine.links(mail.id)] == [(right.id, "supersedes")]
    assert engine.store.check() == []


def test_the_correction_of_a_pinned_memory_is_pinned(engine, mail):
    engine.pin(mail.id)

    found = engine.wrong(mail.id, instead="Mail is sent by cron")
    pinned = engine.get(found.correction.id).pinned
    engine.care.undo(found.change)

    assert pinned
    assert [(each.id, each.pinned) for each in engine.list()] == [(mail.id, True)]


def test_what_it_had_replaced_is_offered_and_comes_back_if_wanted(engine):
    old = engine.remember("Use tabs")
    offered = engine.wrong(engine.remember("Use spaces").id)
    engine.care.undo(offered.change)

    taken = engine.wrong(offered.memory.id, restore=True)

    assert [each.id for each in offered.previous] == [old.id]
    assert (offered.restored, taken.restored) == ((), (old.id,))
    assert [each.content for each in engine.list()] == ["Use tabs"]
    assert engine.conflicts() == ()


def test_what_was_made_of_it_waits_for_review(engine, mail):
    made = engine.remember("To resend mail, restart the process")
    engine.link(made.id, mail.id, "derived_from")

    found = engine.wrong(mail.id)

    assert found.review == (made.id,)
    (asked,) = engine.questions()
    assert (asked.review.kind, asked.review.memories) == ("derived", (made.id, mail.id))


def test_all_of_it_is_undone_at_once(engine, mail):
    engine.link(engine.remember("To resend mail, restart the process").id, mail.id, "derived_from")
    before = engine.list()
    found = engine.wrong(mail.id, because="no", instead="Mail is sent by cron")

    engine.care.undo(found.change)

    assert engine.list() == before
    assert engine.questions() == ()
    assert len([each for each in engine.care.changes() if each.action == "wrong"]) == 1


@pytest.mark.parametrize("instead", ["", "x" * 3000])
def test_a_correction_that_cannot_be_kept_changes_nothing(engine, mail, instead):
    with pytest.raises(ContentRefused):
        engine.wrong(mail.id, instead=instead or " ")

    assert engine.get(mail.id).state is State.ACTIVE
    assert [change.action for change in engine.care.changes()] == ["remember"]


def test_what_makes_no_sense_is_refused(engine, mail):
    with pytest.raises(Refused, match="says already"):
        engine.wrong(mail.id, instead="mail is sent by a  worker")
    with pytest.raises(Refused, match="both"):
        engine.wrong(mail.id, instead="Mail is sent by cron", restore=True)
    engine.wrong(mail.id)
    with pytest.raises(Refused, match="already deprecated"):
        engine.wrong(mail.id)


def test_an_agent_calls_nothing_wrong(engine, mail):
    agent = Engine(replace(engine.context, actor="agent:coder"))

    with pytest.raises(OutOfScope):
        agent.wrong(mail.id)


def test_a_correction_near_to_the_wrong_words_does_not_end_up_in_them(engine, mail):
    found = engine.wrong(mail.id, instead="Mail is sent by a worker at night")

    assert found.correction.id != mail.id
    assert [each.content for each in engine.list()] == ["Mail is sent by a worker at night"]
