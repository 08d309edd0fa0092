import pytest

from fakes import FakeEmbedder
from team_server import running


@pytest.fixture
def team(home, postgres_team):
    """A team server on PostgreSQL, without anybody in it."""
    with running(postgres_team, home, FakeEmbedder()) as team:
        yield team
