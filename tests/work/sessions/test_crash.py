"""A session killed at any moment has, once recovered, the findings of what had been acknowledged, each once."""

import random

import pytest
from talk import Talk

from child import start
from fakes import FakeClock, FakeEmbedder
from recollect.engine import Engine

MESSAGES = 200

CHILD = """
import sys
from fakes import FakeClock, FakeEmbedder
from recollect.engine import Engine
from test_crash import long_session

folder, home = sys.argv[1:]
with Engine.open(folder, home, embedder=FakeEmbedder(), clock=FakeClock()) as engine:
    engine.sessions.start("s1", agent="coder")
    print("ready", flush=True)
    for number, event in enumerate(long_session()):
        engine.sessions.record("s1", [event])
        print(number, flush=True)
"""


def long_session():
    """Two hundred events with something to learn every few turns. The ids are the same in every process."""
    talk = Talk("/repo")
    for number in range(MESSAGES // 10):
        talk.user(f"Please add step {number} to the build.").assistant(f"Step {number} is in.")
        talk.user(f"No, use tool{number} instead of other{number} in this project.").assistant("Changed.")
        talk.run(f"make part{number}", f"error: part {number} needs zlib{number}", True)
        talk.edit(f"/repo/part{number}.mk").run(f"make part{number}", "ok")
    return [(f"event-{place}", event) for place, (_, event) in enumerate(talk.events)]


def told(engine):
    return sorted((each.content, each.messages) for each in engine.sessions.findings("s1"))


def uninterrupted(tmp_path_factory, count):
    place = tmp_path_factory.mktemp("whole")
    (place / "shop").mkdir()
    with Engine.open(place / "shop", place / "home", embedder=FakeEmbedder(), clock=FakeClock()) as engine:
        engine.sessions.start("s1", agent="coder")
        engine.sessions.record("s1", long_session()[:count])
        engine.sessions.end("s1")
        return told(engine), sorted(each.content for each in engine.list())


class Killed(BaseException):
    pass


def test_killed_between_a_memory_and_its_mark_it_is_not_said_twice(home, folder):
    clock = FakeClock()
    with Engine.open(folder, home, embedder=FakeEmbedder(), clock=clock) as engine:
        remember = engine.memory.add_finding

        def remember_and_die(draft):
            remember(draft)
            raise Killed

        engine.sessions.start("s1", agent="coder")
        engine.sessions.record("s1", long_session()[:20])
        engine.memory.add_finding = remember_and_die
        with pytest.raises(Killed):
            engine.sessions.end("s1")
        engine.memory.add_finding = remember
        clock.advance(hours=1)

        engine.sessions.recover()

        assert {memory.strength for memory in engine.list()} == {1}


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_session_is_recovered_with_the_findings_of_what_was_acknowledged(
    home, folder, tmp_path_factory, seed
):
    process = start(CHILD, folder, home)
    assert process.stdout.readline() == "ready\n"
    last = random.Random(seed).randrange(5, MESSAGES - 20)
    while int(process.stdout.readline()) < last:
        pass
    process.kill()
    process.communicate()

    clock = FakeClock()
    clock.advance(hours=1)
    with Engine.open(folder, home, embedder=FakeEmbedder(), clock=clock) as engine:
        kept = len(engine.store.events.unprocessed("s1"))
        engine.sessions.recover()
        engine.sessions.recover()
        findings, memories = told(engine), sorted(each.content for each in engine.list())

    assert kept > last
    assert (findings, memories) == uninterrupted(tmp_path_factory, kept)
    assert len(findings) == len(set(findings)) > 0
