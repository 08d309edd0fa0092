"""A session from its first event to what the project remembers of it."""

import pytest
from talk import Talk

import recollect.model as m
from recollect.engine import Engine
from recollect.errors import Refused, SessionNotFound

CORRECTION = "No, use pnpm instead of npm in this project."


def learn(engine, talk, name="s1", **how):
    engine.sessions.start(name, **{"agent": "coder", "host": "claude-code"} | how)
    engine.sessions.record(name, talk.events)
    return engine.sessions.end(name)


def corrected(talk):
    talk.user("Please add a lint step to the build.").assistant("I added it with npm.")
    return talk.user(CORRECTION).assistant("Done, it uses pnpm now.")


def test_what_the_user_corrected_is_remembered_as_a_candidate(engine, talk):
    ended = learn(engine, corrected(talk))

    (name,) = ended.promoted
    memory = engine.get(name)
    assert "pnpm" in memory.content
    assert (memory.standing, memory.session, memory.created_by) == (m.Standing.CANDIDATE, "s1", "agent:coder")
    assert memory.provenance[0].messages is not None
    assert memory.promoted_at is not None


def test_the_same_event_delivered_twice_counts_once(engine, talk):
    engine.sessions.start("s1")
    corrected(talk)

    assert engine.sessions.record("s1", talk.events) == len(talk.events)
    assert engine.sessions.record("s1", talk.events) == 0

    engine.sessions.end("s1")
    assert len(engine.store.messages.orders(engine.settings.user, "s1")) == 4


def test_ending_twice_learns_nothing_twice(engine, talk):
    first = learn(engine, corrected(talk))

    again = engine.sessions.end("s1")

    assert again.promoted == ()
    assert engine.get(first.promoted[0]).strength == 1
    assert again.session.summary == first.session.summary


def test_a_summary_has_three_to_five_lines_of_what_was_asked_learnt_and_changed(engine, talk):
    corrected(talk).edit("package.json").edit("Makefile")

    summary = learn(engine, talk).session.summary

    lines = summary.splitlines()
    assert 3 <= len(lines) <= 5
    assert lines[0] == "- Asked: Please add a lint step to the build."
    assert "pnpm" in summary and "package.json" in lines[-1]


def test_what_was_said_can_be_searched_and_found_again_from_the_memory(engine, talk):
    ended = learn(engine, corrected(talk))

    hits = engine.search_messages("lint step build")
    said = engine.sessions.source(engine.get(ended.promoted[0]))

    assert hits[0].message.text == "Please add a lint step to the build."
    assert CORRECTION in [message.text for message in said]


def test_no_secret_of_a_session_reaches_the_disk(engine, talk, home):
    secret = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"
    talk.user(f"Use the token {secret} for the release.").run(f"curl -H 'Authorization: {secret}'", secret)

    learn(engine, talk)
    engine.store.close()

    assert secret[6:30].encode() not in b"".join(
        path.read_bytes() for path in home.rglob("*") if path.is_file()
    )


def test_the_events_of_a_session_are_gone_once_it_was_learnt_from(engine, talk, execute):
    learn(engine, corrected(talk))

    assert execute("SELECT count(*) FROM session_events WHERE event IS NOT NULL") == [(0,)]


def test_findings_are_there_at_the_next_turn_for_other_agents_of_the_project(engine, talk):
    engine.sessions.start("mine")
    engine.sessions.start("theirs")

    engine.sessions.record("mine", corrected(talk).events)

    briefing = engine.recall("set up the build", session="theirs", host="json")
    assert "pnpm" in briefing.text
    assert "pnpm" not in engine.recall("set up the build", session="mine", host="json").text


def test_a_crashed_session_is_recovered_once_it_has_been_idle(engine, talk, clock):
    engine.sessions.start("s1", agent="coder")
    engine.sessions.record("s1", corrected(talk).events)

    assert engine.sessions.recover() == ()
    clock.advance(minutes=31)
    (recovered,) = engine.sessions.recover()

    assert "pnpm" in engine.get(recovered.promoted[0]).content
    assert recovered.session.ended_at == recovered.session.active_at
    assert engine.sessions.recover() == ()


def test_a_finding_of_two_sessions_by_two_agents_is_promoted(engine):
    first = _mended(engine, "s1", "coder")
    second = _mended(engine, "s2", "qa")

    assert (first.promoted, len(second.promoted)) == ((), 1)
    assert first.left[0][1].endswith("of 3 points")


def _mended(engine, name, agent):
    """A failure and its cure: two points, and a third only where it is seen again."""
    talk = Talk("/repo")
    talk.user("Please run the tests of the queue.")
    talk.run("pytest tests/queue", "E   ConnectionError: redis is not reachable on port 6380\n1 failed", True)
    talk.edit("/repo/conftest.py").run("pytest tests/queue", "3 passed")
    return learn(engine, talk, name, agent=agent)


def test_with_learning_off_nothing_is_learnt_but_what_was_said_stays(engine, talk):
    engine.set_switch("auto", False)

    ended = learn(engine, corrected(talk))

    assert (ended.findings, ended.promoted) == (0, ())
    assert engine.search_messages("lint step") != ()


def test_with_memory_off_nothing_is_kept(engine, talk):
    engine.set_switch("memory", False)

    ended = learn(engine, corrected(talk))

    assert (ended.findings, ended.promoted) == (0, ())
    assert engine.search_messages("lint step") == ()


def test_a_fork_has_its_parents_findings_and_counts_with_it(engine, talk):
    _mended(engine, "s1", "coder")

    child = engine.sessions.fork("s1")

    assert (child.parent, child.summary) == ("s1", "")
    assert [each.fingerprint for each in engine.sessions.findings(child.id)] == [
        each.fingerprint for each in engine.sessions.findings("s1")
    ]
    assert engine.sessions.end(child.id).promoted == ()


def test_a_finding_that_answers_a_gap_weighs_more(engine, clock):
    _mended(engine, "s1", "coder")
    gap = m.Gap(m.new_id(), engine.project.id, "redis is not reachable in the queue tests", clock())
    engine.store.put_gap(gap)

    _mended(engine, "s2", "coder")

    (before,), (after,) = engine.sessions.findings("s1"), engine.sessions.findings("s2")
    assert after.importance == pytest.approx(before.importance + 0.2)


def test_a_session_of_another_project_is_refused(engine, home, tmp_path, clock, embedder):
    engine.sessions.start("s1")
    other = tmp_path / "other"
    other.mkdir()
    with (
        Engine.open(other, home, clock=clock, embedder=embedder) as elsewhere,
        pytest.raises(Refused, match="another project"),
    ):
        elsewhere.sessions.start("s1")


def test_an_unknown_session_is_refused_by_name(engine):
    with pytest.raises(SessionNotFound, match="nope"):
        engine.sessions.end("nope")
