import pytest
from talk import Talk

from recollect.engine import Engine


@pytest.fixture
def talk():
    return Talk()


@pytest.fixture
def engine(home, folder, clock, embedder):
    with Engine.open(folder, home, actor="user", clock=clock, embedder=embedder) as opened:
        yield opened
