import pytest
from doings import Doings


@pytest.fixture
def doings():
    return Doings()


@pytest.fixture
def shelf(engine):
    return engine.store.episodes


@pytest.fixture
def owner(engine):
    return engine.episodes.owner
