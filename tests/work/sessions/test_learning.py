"""Transcripts and models as sources, under the same rules as everything else."""

import pytest
from talk import Talk, transcript

from recollect.engine import Engine
from recollect.errors import Refused
from recollect.llm.protocol import LearnedStatement

SAID = (
    ("user", "Please add a lint step to the build."),
    ("assistant", "I added it with npm."),
    ("user", "No, use pnpm instead of npm in this project."),
    ("assistant", "Done, it uses pnpm now."),
)


def test_a_transcript_becomes_a_session_with_its_findings_and_memories(engine, tmp_path):
    learning = engine.sessions.learn_from_files([transcript(tmp_path / "a.jsonl", *SAID)])

    (session,) = learning.sessions
    assert "pnpm" in engine.get(learning.promoted[0]).content
    assert engine.sessions.get(session).host == "claude-code"
    assert engine.search_messages("lint step")[0].message.session == session


def test_reading_it_twice_changes_nothing(engine, tmp_path):
    path = transcript(tmp_path / "a.jsonl", *SAID)
    first = engine.sessions.learn_from_files([path])
    before = engine.get(first.promoted[0])

    again = engine.sessions.learn_from_files([path])

    assert again.promoted == []
    assert engine.get(before.id) == before
    assert len(engine.store.messages.orders(engine.settings.user, "t1")) == 4


def test_a_file_that_is_no_transcript_is_named_and_the_rest_is_read(engine, tmp_path):
    (tmp_path / "b.txt").write_text("just a text\n")

    learning = engine.sessions.learn_from_files([tmp_path / "b.txt", transcript(tmp_path / "a.jsonl", *SAID)])

    assert learning.files == 1
    assert "b.txt" in learning.refused[0]


def test_sessions_of_other_projects_are_passed_over_on_request(engine, folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    here = transcript(tmp_path / "a.jsonl", *SAID, cwd=folder)
    there = transcript(tmp_path / "b.jsonl", *SAID, cwd=other, session="t2")

    learning = engine.sessions.learn_from_files([here, there], own_only=True)

    assert (learning.sessions, learning.elsewhere) == (["t1"], 1)


def test_a_session_held_nobody_knows_where_is_passed_over_too(engine, tmp_path):
    learning = engine.sessions.learn_from_files([transcript(tmp_path / "a.jsonl", *SAID)], own_only=True)

    assert (learning.sessions, learning.elsewhere, engine.list()) == ([], 1, ())


def test_a_session_that_is_anothers_costs_only_itself(engine, home, folder, tmp_path, clock, embedder):
    (tmp_path / "other").mkdir()
    with Engine.open(tmp_path / "other", home, clock=clock, embedder=embedder) as elsewhere:
        elsewhere.sessions.start("t1")
    path = transcript(tmp_path / "a.jsonl", *SAID)
    with path.open("a") as both:
        both.write(transcript(tmp_path / "b.jsonl", *SAID, session="t2").read_text())

    learning = engine.sessions.learn_from_files([path])

    assert (learning.sessions, learning.files) == (["t2"], 1)
    assert "t1 belongs to another project" in learning.refused[0]


def test_a_session_told_in_pieces_is_counted_once(engine, tmp_path):
    path = transcript(tmp_path / "a.jsonl", *SAID)
    between = transcript(tmp_path / "b.jsonl", ("user", "Why?"), session="t2").read_text()
    later = transcript(tmp_path / "c.jsonl", *SAID, ("user", "Thanks.")).read_text().splitlines(True)[-1]
    with path.open("a") as file:
        file.write(between + later)

    learning = engine.sessions.learn_from_files([path])

    assert (learning.sessions, learning.findings) == (["t1", "t2"], 1)


def test_a_session_that_breaks_the_rules_costs_only_itself(engine, tmp_path):
    class Broken(Model):
        def extract(self, transcript, gaps):
            return super().extract(transcript, gaps) if "yarn" in transcript else 1 / 0

    engine.sessions.sidecar = Broken()
    broken = transcript(tmp_path / "a.jsonl", *SAID)
    other = transcript(tmp_path / "b.jsonl", ("user", "Why is yarn here?"), session="t2")

    learning = engine.sessions.learn_from_files([broken, other])

    assert learning.sessions == ["t2"]
    assert "t1 could not be processed" in learning.refused[0]
    assert engine.sessions.get("t1").extracted_at is None


def test_what_a_sub_agent_says_in_a_file_of_its_own_takes_no_ones_place(engine, tmp_path):
    told = [("assistant", f"Part {number} is done.") for number in range(6)]
    below = transcript(tmp_path / "agent-7.jsonl", *told, agentId="7", isSidechain=True)
    above = transcript(tmp_path / "t1.jsonl", *SAID)

    engine.sessions.learn_from_files([below, above])

    said = engine.store.messages.session(engine.settings.user, "t1")
    assert [message.text for message in said] == [text for _, text in SAID]
    assert engine.sessions.get("t1").transcript != str(below)


def test_a_person_who_asks_is_answered_though_learning_by_itself_is_off(engine, tmp_path):
    engine.preferences.set_switch("auto", False)

    learning = engine.sessions.learn_from_files([transcript(tmp_path / "a.jsonl", *SAID)])

    assert "pnpm" in engine.get(learning.promoted[0]).content


def test_with_memory_off_nothing_is_learnt_from_files(engine, tmp_path):
    engine.preferences.set_switch("memory", False)

    with pytest.raises(Refused, match="off"):
        engine.sessions.learn_from_files([transcript(tmp_path / "a.jsonl", *SAID)])

    assert engine.sessions.newest() == ()


class Model:
    """Says what it was told to say."""

    name = "scripted"

    def __init__(self, *learnt):
        self.learnt = list(learnt)
        self.told = []

    def extract(self, transcript, gaps):
        self.told.append((transcript, gaps))
        return self.learnt

    def summarise(self, text, lines):
        return None


@pytest.fixture
def asked(engine, tmp_path):
    def learn(*learnt):
        model = Model(*learnt)
        engine.sessions.sidecar = model
        return model, engine.sessions.learn_from_files([transcript(tmp_path / "a.jsonl", *SAID)])

    return learn


def test_what_a_model_finds_is_a_finding_that_cites_its_messages(engine, asked):
    model, _ = asked(LearnedStatement("The build runs in a container called shop-ci.", "fact", 0.6, (), 1, 3))

    found = {each.content: each for each in engine.sessions.findings("t1")}

    assert found["The build runs in a container called shop-ci."].messages == (1, 3)
    assert "No, use pnpm instead of npm" in model.told[0][0]


def test_what_a_model_may_not_say_is_not_kept(engine, asked):
    secret = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"

    asked(
        LearnedStatement(f"The token is {secret}.", "fact"),
        LearnedStatement("x" * 3000, "fact"),
        LearnedStatement("A thing.", "prophecy"),
    )

    told = [each.content for each in engine.sessions.findings("t1")]
    assert not any(secret in text or len(text) > 2048 or text == "A thing." for text in told)


def test_a_model_that_does_not_answer_costs_nothing(engine, asked):
    model, learning = asked()
    model.learnt = None

    assert "pnpm" in engine.get(learning.promoted[0]).content


FIXED = (
    ("dbt run", "Could not find profile named 'warehouse'", True),
    ("dbt run --profiles-dir .dbt", "Completed successfully", False),
)


@pytest.mark.parametrize(
    ("recorded", "learnt"),
    [
        ("Run dbt with `--profiles-dir .dbt`, or the profile warehouse is not found.", 0),
        ("Run mypy with `--strict`, or the profile of types is not complete.", 1),
    ],
)
def test_what_the_agent_recorded_in_the_session_is_not_learnt_again(engine, folder, recorded, learnt):
    talk = Talk(cwd=str(folder))
    for command, output, failed in FIXED:
        talk.run(command, output, failed=failed)
    engine.sessions.start("s1", agent="claude-code", host="claude-code")
    with Engine.open(folder, engine.settings.home, actor="agent:claude-code") as agent:
        agent.remember(recorded, kind="procedure")
    engine.sessions.record("s1", talk.events)

    assert len(engine.sessions.end("s1").promoted) == learnt
