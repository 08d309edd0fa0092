import shlex
import sys

import pytest

COMMAND = f"{shlex.quote(sys.executable)} -c pass"


@pytest.fixture
def command(monkeypatch):
    """A command of the user's is set up as sidecar."""
    monkeypatch.setenv("RECOLLECT_SIDECAR", "command")
    monkeypatch.setenv("RECOLLECT_SIDECAR_COMMAND", COMMAND)


def test_without_a_model_nothing_costs(run):
    told = run("cost")

    assert told.code == 0
    assert told.out.startswith("The sidecar is local: nothing is sent")
    assert run("cost", "--json").json["today"] == {"calls": 0, "failed": 0, "tokens": 0, "cost": 0.0}


def test_it_says_what_would_be_sent_and_where_to_until_one_agrees(run, command):
    before = run("cost")
    agreed = run("cost", "--agree")
    after = run("cost", "--json")

    assert before.out.startswith(f"Nothing is sent to {COMMAND} until you agree. It would get")
    assert "--agree" in before.out
    assert (agreed.code, after.json["may_send"]) == (0, True)
    assert "agreed" in run("audit").out


def test_there_is_nothing_to_agree_to_where_nothing_is_sent(run):
    told = run("cost", "--agree")

    assert told.code == 1
    assert "nothing is sent" in told.err


@pytest.mark.parametrize("purpose", ["verify", "extract", "relate", "modules", "summarise"])
def test_what_would_be_sent_can_be_seen_without_its_secrets(run, remember, purpose):
    remember("Connection refused on CI: Redis is not running")

    told = run("cost", "--show-prompt", purpose)

    assert told.code == 0
    assert "Answer with one JSON object" in told.out
    assert "hunter2" not in told.out
    assert ("Redis is not running" in told.out) == (purpose == "verify")


def test_a_command_is_shown_the_json_it_gets(run, command):
    told = run("cost", "--show-prompt", "relate", "--json").json

    assert told["place"] == COMMAND
    assert '"purpose": "relate"' in told["prompt"]


def test_showing_and_agreeing_exclude_each_other(run):
    assert run("cost", "--agree", "--show-prompt", "verify").code == 2
