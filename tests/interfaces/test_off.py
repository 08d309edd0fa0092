"""`recollect off` means off, whichever way an agent asks; a person can still look, and turn it on."""

import os
import subprocess
import sys

import pytest

from recollect import ContextWindow, Engine
from recollect.errors import MemoryOff
from recollect.interfaces.anthropic_memory import AnthropicMemoryTool
from recollect.work.delivery.delivery import DeliveryRequest, Moment
from recollect.work.delivery.told import Told

REDIS = "Tests need a running Redis"


@pytest.fixture
def off(engine):
    """A project with a memory, in which memory was turned off."""
    engine.import_messages(
        [{"session": "s1", "order": 0, "author": "user", "text": REDIS, "created_at": "2025-12-30T12:00:00Z"}]
    )
    name = engine.remember(REDIS).id
    engine.preferences.set_switch("memory", False)
    return name


@pytest.fixture
def recollect(home, folder, monkeypatch):
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")

    def call(*arguments):
        words = [sys.executable, "-m", "recollect", *arguments]
        return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, env=os.environ)

    return call


@pytest.mark.parametrize(
    "arguments",
    [
        ["remember", "The printer jams on Mondays"],
        ["remember", "The printer jams", "--created-by", "agent:cursor"],
        ["recall", "mend the tests"],
        ["search", "tests"],
        ["similar", "ID"],
        ["session", "search", "tests"],
    ],
)
def test_commands_that_agents_use_are_refused_with_what_to_do(off, recollect, engine, arguments):
    done = recollect(*(off if word == "ID" else word for word in arguments))

    assert (done.returncode, done.stdout) == (1, "")
    assert "Memory is off in this project." in done.stderr
    assert "recollect on" in done.stderr
    assert len(engine.list()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["show", "ID"],
        ["export"],
        ["audit"],
        ["gaps"],
        ["conflicts"],
        ["pin", "ID"],
        ["forget", "ID"],
    ],
)
def test_a_person_can_still_look_and_tidy_up(off, recollect, arguments):
    done = recollect(*(off if word == "ID" else word for word in arguments))

    assert done.returncode == 0, done.stderr


def test_a_person_can_turn_it_on_again(off, recollect):
    assert recollect("on").returncode == 0

    assert recollect("remember", "The printer jams on Mondays").returncode == 0
    assert recollect("search", "printer").returncode == 0


def test_it_can_be_turned_off_everywhere_and_on_for_one_project(off, engine, tmp_path, home, embedder):
    engine.preferences.set_switch("memory", True)
    engine.preferences.set_switch("memory", False, everywhere=True)
    other = tmp_path / "other"
    other.mkdir()

    with Engine.open(other, home, embedder=embedder) as elsewhere, pytest.raises(MemoryOff):
        elsewhere.remember(REDIS)

    assert engine.search("tests").results


@pytest.mark.parametrize(
    "use",
    [
        lambda engine: engine.remember("The printer jams on Mondays"),
        lambda engine: engine.search("tests"),
        lambda engine: engine.recall("mend the tests"),
        lambda engine: engine.search_messages("tests"),
        lambda engine: engine.search_sessions("tests"),
        lambda engine: engine.similar(engine.list()[0].id),
    ],
    ids=["remember", "search", "recall", "messages", "sessions", "similar"],
)
@pytest.mark.parametrize("actor", ["user", "agent:own"])
def test_from_python_memory_is_refused(off, home, folder, embedder, clock, use, actor):
    with (
        Engine.open(folder, home, actor=actor, embedder=embedder, clock=clock) as engine,
        pytest.raises(MemoryOff),
    ):
        use(engine)


@pytest.mark.parametrize(
    "use",
    [
        lambda engine, name: engine.list(),
        lambda engine, name: engine.get(name),
        lambda engine, name: engine.feedback(name, True),
        lambda engine, name: engine.tag(name, add=["x"]),
        lambda engine, name: AnthropicMemoryTool(engine).call({"command": "view", "path": "/memories"}),
    ],
    ids=["list", "get", "feedback", "tag", "memory tool"],
)
def test_an_agent_that_is_written_in_python_sees_and_changes_nothing(off, home, folder, embedder, clock, use):
    with (
        Engine.open(folder, home, actor="agent:own", embedder=embedder, clock=clock) as engine,
        pytest.raises(MemoryOff),
    ):
        use(engine, off)


@pytest.mark.parametrize("moment", [moment for moment in Moment if moment is not Moment.ON_REQUEST])
def test_nothing_is_said_at_any_moment(off, engine, moment):
    request = DeliveryRequest(moment, "mend the tests", command="pytest", tool="Bash", session="s2")

    assert engine.delivery.compose(request, Told()).text == ""


def test_a_window_has_no_memories_in_it(off, engine):
    window = ContextWindow(engine, session="s2")

    messages = window.prepare("Why do the tests need a running Redis?")

    assert str(messages).count("Redis") == 1
