import subprocess

import pytest

from fakes import FakeEmbedder
from team_people import Person
from team_server import running


@pytest.fixture
def team(home, postgres_team):
    """A team server on PostgreSQL, without anybody in it."""
    with running(postgres_team, home, FakeEmbedder()) as team:
        yield team


@pytest.fixture
def person(tmp_path, monkeypatch, home):
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")

    def make(name):
        folder = tmp_path / name / "shop"
        folder.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", folder], check=True)
        subprocess.run(
            ["git", "-C", folder, "remote", "add", "origin", "https://example.com/team/shop.git"], check=True
        )
        made = tmp_path / name / "home"
        made.mkdir(mode=0o700)
        return Person(made, folder)

    return make


@pytest.fixture
def ada(person, team):
    ada = person("ada")
    owner = team.new_team()
    result = ada.run("login", team.address, "--token", owner.token, "--yes")
    assert result.code == 0, result.err
    return ada


@pytest.fixture
def ben(person, team, ada):
    ben = person("ben")
    code = ada.run("team", "invite", "Ben", "--json").json["code"]
    assert ben.run("login", team.address, "--code", code, "--yes").code == 0
    assert ada.run("team", "quarantine", "Ben", "--off").code == 0
    return ben
