"""What one turn submits is ready for the next; nothing twice; nobody waits."""

import asyncio
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from recollect.engine import Engine
from recollect.memory.sidecar import LocalSidecar
from recollect.store.sqlite.connection import connect
from recollect.work.agent.memory_agent import QUEUE, MemoryAgent
from recollect.work.agent.tracker import FORGET_AFTER

GOTCHA = "The payment webhook retries must be idempotent."
ASK = "Add retries to the payment webhook handler please"
ELSEWHERE = "Draw walrus pictures beside frozen harbours tonight"


@pytest.fixture(autouse=True)
def knowing(engine):
    engine.remember(GOTCHA, kind="gotcha")


def test_what_a_turn_submits_is_pending_at_the_next(turn):
    assert turn(ASK) == [GOTCHA]


def test_nothing_is_surfaced_twice_within_a_topic(turn):
    turn(ASK)

    assert turn(f"{ASK} and log each payment webhook retry") == []


def test_a_topic_change_brings_it_back(turn):
    turn(ASK)
    turn(ELSEWHERE)

    assert turn(f"{ASK} again") == [GOTCHA]


def test_turn_fifty_one_brings_it_back(turn, agent):
    assert turn(ASK) == [GOTCHA]
    for number in range(2, FORGET_AFTER + 1):
        assert turn(f"{ASK}, webhook payment retry number {number}") == []

    assert turn(f"{ASK} once more for the payment webhook") == [GOTCHA]


def test_a_new_session_starts_clean(turn):
    turn(ASK, "one")

    assert turn(ASK, "two") == [GOTCHA]


def test_a_turn_that_is_not_worth_it_is_not_looked_into(turn, sidecar):
    assert turn("ok thanks") == []
    assert sidecar.contexts == []


def test_what_is_pending_says_why_it_was_looked_for(agent):
    agent.submit([{"role": "user", "content": ASK}])
    agent.settle(20)

    pending = agent.take_pending()

    assert pending.reasons == ("a new request",)
    assert not agent.take_pending()


def test_a_file_that_the_agent_opens_brings_what_is_known_of_it(agent, engine, sidecar):
    sidecar.verify = LocalSidecar(engine.embedder).verify
    engine.remember("Carts are written with SETNX: two tabs may race", file_paths=["shop/carts.py"])
    request = "Add a discount code to carts, at most one of them, and show it on every receipt and invoice"
    asked = [{"role": "user", "content": request}]
    call = {"type": "tool_use", "name": "read_file", "input": {"path": "shop/carts.py"}}

    agent.submit(asked, "s1")
    agent.settle()
    first = agent.take_pending()
    agent.submit([*asked, {"role": "assistant", "content": [call]}], "s1")
    agent.settle()
    opened = agent.take_pending()
    agent.submit([*asked, {"role": "assistant", "content": [call, call]}], "s1")
    agent.settle()

    assert "SETNX" not in first.text
    assert "SETNX" in opened.text
    assert "opened file" in opened.reasons
    assert not agent.take_pending()


def test_a_memory_that_was_taken_up_counts_as_used(agent, engine):
    said = [{"role": "user", "content": ASK}]
    agent.submit(said)
    agent.settle(20)
    shown = agent.take_pending().hits[0].memory
    said += [{"role": "assistant", "content": f"As #{shown.id[-6:]} says, I made it idempotent."}]

    agent.submit([*said, {"role": "user", "content": "go on with the payment thing now"}])
    agent.settle(20)

    assert engine.get(shown.id).access_count == 1
    assert engine.get(shown.id).confidence > shown.confidence


def test_being_shown_is_not_being_used(turn, engine):
    turn(ASK)
    turn("go on with the payment thing now")

    assert engine.list()[0].access_count == 0


def test_a_full_queue_drops_the_oldest_and_counts_it(agent, sidecar):
    sidecar.gate.clear()
    agent.submit([{"role": "user", "content": ASK}])
    while agent._queue:  # until the worker has taken the first and hangs on it
        threading.Event().wait(0.001)

    for number in range(QUEUE + 5):
        agent.submit([{"role": "user", "content": f"{ASK} {number}"}])

    assert agent.dropped == 5
    sidecar.gate.set()


def test_there_is_one_agent_in_a_process(agent, engine, sidecar):
    assert MemoryAgent(engine, sidecar) is agent


def test_a_closed_agent_takes_nothing_and_makes_room_for_another(agent, engine, sidecar):
    agent.close()

    assert agent.submit([{"role": "user", "content": ASK}]) is False
    assert MemoryAgent(engine, sidecar) is not agent
    MemoryAgent(engine, sidecar).close()


def test_it_works_from_asyncio_and_from_many_threads(agent):
    async def converse():
        agent.submit([{"role": "user", "content": ASK}])
        await asyncio.to_thread(agent.settle, 20)
        return agent.take_pending()

    found = asyncio.run(converse())
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda n: agent.submit([{"role": "user", "content": f"{ASK} {n}"}]), range(64)))

    assert found.hits[0].memory.content == GOTCHA
    assert all(taken)


def test_what_could_not_be_dealt_with_at_the_end_is_spooled_and_learnt_from_later(
    agent, engine, sidecar, clock
):
    sidecar.gate.clear()
    agent.submit([{"role": "user", "content": ASK}], "one")
    agent.submit(
        [{"role": "user", "content": ASK}, {"role": "user", "content": "No, use pnpm, not npm."}], "one"
    )

    agent.close(0.05)
    sidecar.gate.set()
    agent._worker.join(20)
    taken = engine.sessions.drain_spool()

    assert taken == 2
    assert "No, use pnpm, not npm." in [text for _, text in _said(engine, "one")]


def _said(engine, session):
    engine.sessions.checkpoint(session)
    return [
        (each.order, each.text) for each in engine.store.messages.span(engine.settings.user, session, 0, 99)
    ]


def test_a_conversation_is_learnt_from_as_it_goes(agent, engine):
    said = [
        {"role": "user", "content": "Please add a lint step to the build."},
        {"role": "assistant", "content": "I added it with npm."},
    ]
    agent.submit(said, "one")
    agent.submit([*said, {"role": "user", "content": "No, use pnpm instead of npm in this project."}], "one")
    agent.settle(20)

    assert any("pnpm" in finding.content for finding in engine.sessions.findings("one"))


def test_with_memory_off_nothing_is_looked_up(turn, engine):
    engine.preferences.set_switch("memory", False)

    assert turn(ASK) == []


def test_a_broken_embedder_costs_nothing_but_the_vectors(turn, embedder):
    embedder.broken = True

    assert turn(ASK) == [GOTCHA]


# The foreground never waits: the two calls stay under a millisecond whatever the background is stuck in.


class Stalled:
    """An embedder that hangs until it is let go."""

    model, dim, query_prefix = "fake", 64, ""

    def __init__(self):
        self.gate = threading.Event()

    def embed(self, texts):
        self.gate.wait(30)
        raise AssertionError("let go")

    def embed_each(self, batches):
        return map(self.embed, batches)


def percentile(agent, calls=2000):
    """Return the 99th percentile of both calls together, in milliseconds of this thread's CPU time."""
    times = []
    messages = [{"role": "user", "content": ASK}] * 50
    for _ in range(calls):
        begin = time.thread_time()
        agent.submit(messages)
        agent.take_pending()
        times.append((time.thread_time() - begin) * 1000)
    return sorted(times)[int(calls * 0.99)]


@pytest.mark.parametrize("trouble", ["busy", "sidecar", "embedder", "locked", "full"])
def test_nobody_waits_for_memory(trouble, home, folder, clock, embedder, sidecar):
    stalled = Stalled()
    with Engine.open(
        folder, home, clock=clock, embedder=stalled if trouble == "embedder" else embedder
    ) as engine:
        agent = MemoryAgent(engine, sidecar)
        lock = None
        if trouble in ("sidecar", "full"):
            sidecar.gate.clear()
        if trouble == "locked":
            lock = connect(home / "recollect.db", None)
            lock.execute("BEGIN IMMEDIATE")
        if trouble == "full":
            for _ in range(QUEUE * 2):
                agent.submit([{"role": "user", "content": ASK}])

        measured = ThreadPoolExecutor(1).submit(percentile, agent)
        waits_for_nothing = not wait([measured], timeout=60).not_done  # a single call that waits takes 30 s

        if lock is not None:
            lock.execute("ROLLBACK")
            lock.close()
        sidecar.gate.set()
        stalled.gate.set()
        agent.close(5)
    assert waits_for_nothing
    assert measured.result() < 1.0


def test_a_program_that_does_not_close_the_agent_exits_cleanly_and_loses_nothing(home, folder):
    script = """
import sys
from recollect import Engine, MemoryAgent
agent = MemoryAgent(Engine.open(sys.argv[1], sys.argv[2]))
agent.submit([{"role": "user", "content": "Which port does the staging database listen on?"}], "left-open")
"""

    command = [sys.executable, "-c", script, str(folder), str(home)]
    done = subprocess.run(command, capture_output=True, text=True)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with Engine.open(folder, home) as engine:
        engine.sessions.drain_spool()
        assert "staging database" in str(engine.store.events.unprocessed("left-open"))
