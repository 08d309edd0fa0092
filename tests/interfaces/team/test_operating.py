"""What whoever runs a team server relies on: logs, metrics, readiness, and a shutdown that loses nothing."""

import io
import json
import logging
import threading

import pytest

import recollect.model as m
from bench.local_postgres import OWNER, SERVER
from fakes import FakeEmbedder
from recollect.errors import Refused
from recollect.interfaces.team.jobs import Jobs
from recollect.interfaces.team.server import JsonFormatter
from recollect.remote.client import TeamClient
from recollect.store.postgres.team import PostgresTeam
from team_server import running

SECONDS = 60.0


@pytest.fixture
def log():
    """What the server logs, as lines."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("recollect.team")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_a_log_line_says_what_was_asked_by_whom_and_nothing_of_it(team, log):
    ada = team.new_team()

    ada.call("remember", content="The vault opens at nine", visibility="team")
    ada.call("search", query="when does the vault open")
    with pytest.raises(Refused):
        ada.call("remember", content="vault " * 1000)

    lines = [line for line in log() if line["event"] == "request"]
    assert [(line["operation"], line["status"]) for line in lines] == [
        ("remember", 200),
        ("search", 200),
        ("remember", 422),
    ]
    assert {(line["tenant"], line["user"]) for line in lines} == {(ada.tenant, ada.id)}
    assert all(line["ms"] >= 0 and line["client"] for line in lines)
    assert "vault" not in json.dumps(log())
    assert ada.token not in json.dumps(log())


def test_a_mistake_of_ours_is_logged_without_texts_and_answered_with_500(team, log, monkeypatch):
    ada = team.new_team()
    monkeypatch.setattr(team.app.quotas, "check", lambda *_: 1 / 0)

    with pytest.raises(Exception, match="ZeroDivisionError on the server"):
        ada.call("remember", content="The vault opens at nine")

    [line] = [line for line in log() if line["level"] == "error"]
    assert line["error"] == "ZeroDivisionError"
    assert "vault" not in json.dumps(log())


def test_metrics_count_requests_and_streams(team):
    ada = team.new_team()
    anyone = TeamClient(team.address, "")
    ada.call("remember", content="The vault opens at nine")

    with ada.client.stream() as (lines, _):
        assert next(lines).startswith(":")
        metrics = anyone.request("GET", "/metrics").decode()

    assert 'recollect_requests_total{operation="remember",status="200"} 1' in metrics
    assert 'recollect_request_seconds_count{operation="remember"} 1' in metrics
    assert "recollect_streams 1" in metrics
    assert ada.id not in metrics
    anyone.close()


def test_a_server_without_its_database_lives_and_is_not_ready(home, tmp_path):
    away = PostgresTeam(f"postgresql://nobody@/recollect?host={tmp_path}")
    with running(away, home, FakeEmbedder()) as team:
        anyone = TeamClient(team.address, "")

        assert json.loads(anyone.request("GET", "/health")) == {
            "status": "ok",
            "version": json.loads(anyone.request("GET", "/health"))["version"],
            "api": "v1",
        }
        with pytest.raises(Exception, match="offline"):
            anyone.request("GET", "/ready")
        anyone.close()
    away.close()


class SlowEmbedder(FakeEmbedder):
    """Takes as long as it is told."""

    def __init__(self):
        super().__init__()
        self.began, self.may_end = threading.Event(), threading.Event()

    def embed(self, texts):
        self.began.set()
        assert self.may_end.wait(SECONDS)
        return super().embed(texts)


def test_a_request_under_way_is_answered_when_the_server_stops(home, postgres_team):
    embedder = SlowEmbedder()
    with running(postgres_team, home, embedder) as team:
        ada = team.new_team()
        receipts = []
        writing = threading.Thread(
            target=lambda: receipts.append(ada.call("remember", content="The vault opens at nine"))
        )
        writing.start()
        assert embedder.began.wait(SECONDS)

        team.server.stop()
        embedder.may_end.set()
        writing.join(SECONDS)

        assert receipts[0].id
        team.stop()
        team.start()
        assert ada.call("get", name=receipts[0].id).content == "The vault opens at nine"


def test_the_tables_are_updated_while_the_server_runs(team, postgres, person):
    ada = team.new_team()
    before = ada.call("remember", content="Tests need Redis", visibility="team")

    said = person("admin").run(
        "team", "upgrade", "--database", postgres.url(SERVER), "--admin-database", postgres.url(OWNER)
    )

    assert said.out == "The tables are up to date.\n"
    assert [hit.memory.id for hit in ada.call("search", query="redis").results] == [before.id]
    assert ada.call("remember", content="Prices are in cents", visibility="team").id
    assert len(team.backend.directory.people(ada.tenant)) == 1


def test_a_mistake_in_noting_searches_does_not_end_the_server(team, monkeypatch):
    monkeypatch.setattr("recollect.interfaces.team.app.NOTED_SECONDS", 0.01)
    rounds, tried_again = [], threading.Event()

    def fail():
        rounds.append(len(rounds))
        if len(rounds) > 1:
            tried_again.set()
        raise KeyError("our mistake")

    monkeypatch.setattr(team.app.engines, "process_searches", fail)
    ada = team.new_team()

    assert tried_again.wait(10)
    assert ada.call("whoami").name == "Ada"


def test_jobs_are_run_soon_after_the_start(team, monkeypatch):
    monkeypatch.setattr("recollect.interfaces.team.jobs.FIRST_SECONDS", 0.0)
    ran = threading.Event()
    jobs = Jobs(team.backend, m.utc_now)
    monkeypatch.setattr(jobs, "run_once", ran.set)

    jobs.start()

    assert ran.wait(10)
    jobs.stop()
