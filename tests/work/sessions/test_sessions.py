"""A session from its first event to what the project remembers of it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from talk import Talk, transcript

import recollect.model as m
from recollect.engine import Engine
from recollect.errors import Refused, SessionNotFound
from recollect.work.sessions.events import clean_event, stored_event
from recollect.work.transcripts.event import Event

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"
SAID = (
    ("user", "Please add a lint step to the build."),
    ("assistant", "I added it with npm."),
    ("user", "No, use pnpm instead of npm in this project."),
)
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


def test_ending_again_keeps_what_was_found_and_not_promoted(engine):
    _mended(engine, "s1", "coder")
    found = engine.sessions.findings("s1")

    engine.sessions.end("s1")

    assert engine.sessions.findings("s1") == found != ()


def test_a_session_that_goes_on_keeps_what_was_found_before(engine, talk):
    _mended(engine, "s1", "coder")
    found = engine.sessions.findings("s1")

    learn(engine, corrected(talk), "s1")

    after = engine.sessions.findings("s1")
    assert set(found) < set(after)
    assert any("pnpm" in each.content for each in after)


def test_what_is_said_while_a_session_is_learnt_from_waits_for_its_next_end(engine, talk, monkeypatch):
    engine.sessions.start("s1")
    engine.sessions.record("s1", talk.user("Build the shop.").assistant("Built with npm.").events)
    resumed = Talk().user("From now on, run the linter before you commit.")
    transcript_of = engine.sessions.recorded.transcript

    def read(session):
        engine.sessions.record("s1", resumed.events, checkpoint=False)
        return transcript_of(session)

    monkeypatch.setattr(engine.sessions.recorded, "transcript", read)
    engine.sessions.end("s1")
    left = [event.text for event in engine.sessions.recorded.events("s1")]
    known = [memory.content for memory in engine.list()]
    engine.sessions.end("s1")

    assert (left, known) == (["From now on, run the linter before you commit."], [])
    assert [memory.content for memory in engine.list()] == ["Run the linter before you commit."]


def test_what_is_said_when_a_session_goes_on_weeks_later_is_kept_too(engine, talk, clock):
    learn(engine, corrected(talk))
    clock.advance(days=20)
    engine.sessions.end("s1")

    learn(engine, Talk().user("Where does the sitemap come from?"))

    assert engine.search_messages("sitemap")[0].message.order == 4


class Stubborn:
    """A model whose first answers are exceptions."""

    name = "stubborn"

    def __init__(self, failures):
        self.failures = failures

    def extract(self, transcript, gaps):
        self.failures -= 1
        if self.failures >= 0:
            raise ZeroDivisionError
        return []

    def summarise(self, text, lines):
        return None


def test_learning_that_fails_is_tried_once_more(engine, talk):
    model = Stubborn(failures=1)
    engine.sessions.sidecar = model

    ended = learn(engine, corrected(talk))

    assert "pnpm" in engine.get(ended.promoted[0]).content


def test_learning_that_fails_twice_is_left_for_recovery(engine, talk, clock):
    model = Stubborn(failures=2)
    engine.sessions.sidecar = model

    with pytest.raises(ZeroDivisionError):
        learn(engine, corrected(talk))
    over = engine.sessions.get("s1")
    clock.advance(minutes=31)
    (recovered,) = engine.sessions.recover()

    assert (over.ended_at is None, over.extracted_at) == (False, None)
    assert "pnpm" in engine.get(recovered.promoted[0]).content
    assert recovered.session.ended_at == over.ended_at


def test_a_summary_has_three_to_five_lines_of_what_was_asked_learnt_and_changed(engine, talk):
    corrected(talk).edit("package.json").edit("Makefile")

    summary = learn(engine, talk).session.summary

    lines = summary.splitlines()
    assert 3 <= len(lines) <= 5
    assert lines[0] == "- Asked: Please add a lint step to the build."
    assert "pnpm" in summary and "package.json" in lines[-1]


def test_a_summary_keeps_the_end_of_a_failure_that_says_what_helped(engine, talk):
    error = "RuntimeError: SPATIALITE is not set, cannot load the extension mod_spatialite"
    talk.user("Run the check of the spatial tests.").run("./check.sh", error, failed=True)
    talk.run("SPATIALITE=/usr/lib/mod_spatialite.so ./check.sh", "ok")

    summary = learn(engine, talk).session.summary

    assert "`SPATIALITE=/usr/lib/mod_spatialite.so`" in summary


def test_what_was_said_can_be_searched_and_found_again_from_the_memory(engine, talk):
    ended = learn(engine, corrected(talk))

    hits = engine.search_messages("lint step build")
    said = engine.sessions.source(engine.get(ended.promoted[0]))

    assert hits[0].message.text == "Please add a lint step to the build."
    assert CORRECTION in [message.text for message in said]


def test_messages_have_the_order_of_the_hosts_record_though_that_came_late(engine, talk, tmp_path):
    session = engine.sessions.start("t1", host="claude-code")
    talk.run("ls", "Makefile").user("Please add a lint step to the build.")
    engine.sessions.record("t1", talk.events)
    path = transcript(tmp_path / "t1.jsonl", *SAID)
    engine.store.put_session(replace(session, transcript=str(path)))

    engine.sessions.end("t1")

    said = engine.store.messages.session(engine.settings.user, "t1")
    assert [message.text for message in said] == [text for _, text in SAID]


def test_no_secret_of_a_session_reaches_the_disk(engine, talk, home):
    secret = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"
    talk.user(f"Use the token {secret} for the release.").run(f"curl -H 'Authorization: {secret}'", secret)

    learn(engine, talk)
    engine.store.close()

    assert secret[6:30].encode() not in b"".join(
        path.read_bytes() for path in home.rglob("*") if path.is_file()
    )


@pytest.mark.parametrize("field", ["tool", "call", "cwd", "branch", "agent"])
def test_no_field_of_an_event_keeps_a_secret(engine, field):
    event = Event("s1", 0, "assistant", "", **{"tool": "Bash", field: f"/x/{SECRET}"})

    assert SECRET[6:30] not in stored_event(event, "e1", NOW).event


def test_no_value_or_name_of_a_tools_input_keeps_a_secret():
    event = Event("s1", 0, "assistant", "", tool="Bash", input={SECRET: {SECRET: [SECRET, {"a": SECRET}]}})

    assert SECRET[6:30] not in stored_event(event, "e1", NOW).event


@pytest.mark.parametrize("before", range(23_950, 24_010, 10))
def test_a_long_answer_keeps_its_end_and_no_half_of_a_secret(before):
    text = " " * before + SECRET + " y" * 9000 + " error: redis is not reachable"

    kept = stored_event(Event("s1", 0, "tool", text, tool="Bash"), "e1", NOW).event

    assert SECRET[4:12] not in kept
    assert "error: redis is not reachable" in kept


def test_two_calls_whose_names_are_secret_stay_two():
    one, other = (Event("s1", 0, "tool", "ok", tool="Bash", call=SECRET + end) for end in "ab")

    assert clean_event(one).call != clean_event(other).call


def test_what_no_file_can_hold_is_kept_as_far_as_it_can(engine, talk):
    nested = "end"
    for _ in range(900):
        nested = {"deeper": nested}
    talk.user("half a character: \ud800, and none: \x00").assistant("Fine.")
    talk._add("assistant", "", tool="Bash", call="\ud800", input={"command": "ls \ud800", "more": nested})

    ended = learn(engine, talk)

    assert ended.session.extracted_at is not None
    assert engine.search_messages("half a character") != ()


def test_a_summary_that_is_handed_in_is_redacted(engine):
    engine.sessions.start("s1")

    assert SECRET not in engine.sessions.end("s1", f"- The token is {SECRET}.").session.summary


@pytest.mark.parametrize("name", [f"run-{SECRET}", "x" * 600, "a\x00b", "\ud800"])
def test_an_id_that_should_not_be_kept_is_refused(engine, name):
    with pytest.raises(Refused):
        engine.sessions.start(name)

    assert engine.sessions.newest() == ()


@pytest.mark.parametrize("name", ["ses_zRR-nGhH7O21q9IR03WZb22rcSE", "0199a5f2-6c1e-7bd1-9a55-3f2b8c9e1d4a"])
def test_an_id_as_hosts_make_them_is_no_secret(engine, name):
    assert engine.sessions.start(name).id == name
    assert clean_event(Event(name, 0, "assistant", "", tool="Bash", agent=name, call=name)).agent == name


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


def test_a_session_that_has_been_at_work_for_days_is_still_heard(engine, talk, clock):
    engine.sessions.start("mine")
    clock.advance(hours=30)
    engine.sessions.record("mine", corrected(talk).events)

    assert "pnpm" in engine.recall("set up the build", session="theirs", host="json").text


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


def test_a_finding_is_a_candidate_confirmed_once_it_was_used(engine, clock):
    _mended(engine, "s1", "coder")
    (name,) = _mended(engine, "s2", "qa").promoted
    promoted = engine.get(name)
    engine.retrieval.note_use([name], "s3")
    clock.advance(hours=25)

    engine.schedule.run_idle()

    assert promoted.standing is m.Standing.CANDIDATE
    assert engine.get(name).standing is m.Standing.CONFIRMED
    assert engine.get(name).importance == promoted.importance


def test_a_finding_that_nobody_uses_is_a_candidate_that_counts_for_less_once(engine, clock):
    _mended(engine, "s1", "coder")
    (name,) = _mended(engine, "s2", "qa").promoted
    promoted = engine.get(name)

    for _ in range(3):
        clock.advance(hours=25)
        engine.schedule.run_idle()

    after = engine.get(name)
    assert (promoted.standing, after.standing) == (m.Standing.CANDIDATE, m.Standing.CANDIDATE)
    assert after.importance == pytest.approx(0.8 * promoted.importance)


def _mended(engine, name, agent):
    """A failure and its cure: two points, and a third only where it is seen again."""
    talk = Talk("/repo")
    talk.user("Please run the tests of the queue.")
    talk.run("pytest tests/queue", "E   ConnectionError: redis is not reachable on port 6380\n1 failed", True)
    talk.edit("/repo/conftest.py").run("pytest tests/queue", "3 passed")
    return learn(engine, talk, name, agent=agent)


def test_with_learning_off_nothing_is_learnt_but_what_was_said_stays(engine, talk):
    engine.preferences.set_switch("auto", False)

    ended = learn(engine, corrected(talk))

    assert (ended.findings, ended.promoted) == (0, ())
    assert engine.search_messages("lint step") != ()


def test_with_memory_off_nothing_is_kept(engine, talk):
    engine.preferences.set_switch("memory", False)

    ended = learn(engine, corrected(talk))
    engine.preferences.set_switch("memory", True)

    assert (ended.findings, ended.promoted) == (0, ())
    assert engine.search_messages("lint step") == ()


def test_with_memory_off_the_hosts_record_and_what_waits_are_left_alone(engine, talk, clock, tmp_path):
    path = transcript(tmp_path / "t1.jsonl", *SAID)
    engine.sessions.start("t1", host="claude-code", transcript=str(path))
    engine.sessions.spool.append("s2", corrected(talk).events, clock())
    engine.preferences.set_switch("memory", False)

    engine.sessions.drain_spool()
    checked = engine.sessions.checkpoint("t1")
    ended = engine.sessions.end("t1")
    engine.preferences.set_switch("memory", True)

    assert (checked, ended.findings, ended.promoted, ended.session.summary) == (0, 0, (), "")
    assert engine.search_messages("lint step") == ()
    assert [each.id for each in engine.sessions.newest()] == ["t1"]


def test_with_memory_off_what_crashed_before_waits(engine, talk, clock):
    engine.sessions.start("s1")
    engine.sessions.record("s1", corrected(talk).events)
    clock.advance(hours=1)

    engine.preferences.set_switch("memory", False)
    assert engine.sessions.recover() == ()
    engine.preferences.set_switch("memory", True)

    assert len(engine.sessions.recover()) == 1


def test_a_fork_has_its_parents_findings_and_counts_with_it(engine, talk):
    _mended(engine, "s1", "coder")

    child = engine.sessions.fork("s1")

    assert (child.parent, child.summary) == ("s1", "")
    assert [each.fingerprint for each in engine.sessions.findings(child.id)] == [
        each.fingerprint for each in engine.sessions.findings("s1")
    ]
    assert engine.sessions.end(child.id).promoted == ()


def test_a_fork_keeps_what_it_inherited_and_may_promote_it(engine):
    _mended(engine, "s1", "coder")
    child = engine.sessions.fork("s1")
    (promoted,) = _mended(engine, "s2", "qa").promoted

    ended = engine.sessions.end(child.id)

    assert ended.promoted == (promoted,)
    assert engine.sessions.findings(child.id)[0].messages is None


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


@pytest.mark.parametrize(
    "act",
    [
        lambda sessions: sessions.end("s1"),
        lambda sessions: sessions.checkpoint("s1"),
        lambda sessions: sessions.recover("s1"),
        lambda sessions: sessions.fork("s1"),
        lambda sessions: sessions.findings("s1"),
        lambda sessions: sessions.find("s1"),
        lambda sessions: sessions.record("s1", []),
    ],
)
def test_nothing_of_a_session_crosses_into_another_project(
    engine, talk, home, tmp_path, clock, embedder, act
):
    engine.sessions.start("s1")
    engine.sessions.record("s1", corrected(talk).events)
    (tmp_path / "other").mkdir()

    with Engine.open(tmp_path / "other", home, clock=clock, embedder=embedder) as elsewhere:
        with pytest.raises(Refused, match="another project"):
            act(elsewhere.sessions)

        assert elsewhere.list() == ()


def test_what_waits_is_taken_in_by_its_own_project(engine, talk, home, tmp_path, clock, embedder):
    engine.sessions.spool.append("s1", corrected(talk).events, clock())
    (tmp_path / "other").mkdir()

    with Engine.open(tmp_path / "other", home, clock=clock, embedder=embedder) as elsewhere:
        assert elsewhere.sessions.drain_spool() == 0
    assert engine.sessions.drain_spool() == len(talk.events)


def test_what_comes_in_after_the_end_is_learnt_from_too(engine, talk, clock):
    _mended(engine, "s1", "coder")
    engine.sessions.spool.append("s1", corrected(talk).events, clock())

    engine.sessions.drain_spool()
    clock.advance(minutes=31)
    (recovered,) = engine.sessions.recover()

    assert "pnpm" in engine.get(recovered.promoted[0]).content


def test_a_session_that_is_refused_does_not_hold_up_those_that_wait_behind_it(engine, talk, clock):
    engine.sessions.spool.append("a" * 600, talk.user("one").events, clock())
    engine.sessions.spool.append("b", Talk().user("two").events, clock())

    engine.sessions.drain_spool()

    assert [each.id for each in engine.sessions.newest()] == ["b"]
    assert engine.sessions.drain_spool() == 0


def test_an_unknown_session_is_refused_by_name(engine):
    with pytest.raises(SessionNotFound, match="nope"):
        engine.sessions.end("nope")
