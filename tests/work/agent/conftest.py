import threading

import pytest

from recollect.engine import Engine
from recollect.llm.protocol import Verification
from recollect.work.agent.memory_agent import MemoryAgent


class AgreeingSidecar:
    """Finds everything relevant, or what it is told to; may be made to hang."""

    name = "scripted"

    def __init__(self):
        self.contexts = []
        self.gate = threading.Event()
        self.gate.set()

    def verify(self, context, hits):
        self.gate.wait(30)
        self.contexts.append(context)
        return Verification(tuple(hit.memory.id for hit in hits))


@pytest.fixture
def sidecar():
    return AgreeingSidecar()


@pytest.fixture
def engine(home, folder, clock, embedder):
    with Engine.open(folder, home, clock=clock, embedder=embedder) as opened:
        yield opened


@pytest.fixture
def agent(engine, sidecar):
    with MemoryAgent(engine, sidecar) as opened:
        yield opened
        sidecar.gate.set()


@pytest.fixture
def turn(agent):
    """Say something, let the agent look, and take what it has found."""
    said = []

    def say(text, session=""):
        said.append({"role": "user", "content": text})
        agent.submit(said, session)
        assert agent.settle(20)
        return [hit.memory.content for hit in agent.take_pending().hits]

    return say
