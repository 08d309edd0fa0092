"""What an agent that records by a command is shown, and how it answers; a person is shown nothing."""

import pytest

OLD = "Primary keys of all tables are bigint sequences"
NEW = "Every table takes ULIDs for its primary key"
AGENT = ("--created-by", "agent:coder")


@pytest.fixture(autouse=True)
def real_model(home, monkeypatch):
    monkeypatch.delenv("RECOLLECT_EMBEDDER")


def test_an_agent_is_shown_what_is_close_and_replaces_it_in_its_own_name(run, remember):
    old = remember(OLD, *AGENT)

    said = run("remember", NEW, *AGENT)
    new = said.out.split()[1]
    command = f"recollect link {new[-6:]} ID --relation supersedes --created-by agent:coder"
    answered = run(*command.replace("ID", old[-6:]).split()[1:])
    change = run("changes", "--json").json[0]
    run("undo", change["id"])

    assert f"[FACT] #{old[-6:]} (observed) ! {OLD}\n" in said.out
    assert f"`{command}`" in said.out.splitlines()[-1]
    assert answered.out == f"{new} took the place of {old}\n"
    assert (change["actor"], change["summary"]) == ("agent:coder", f"{new} replaced {old}.")
    assert run("show", old, "--json").json["memory"]["state"] == "active"


def test_the_json_of_an_agent_lists_what_is_close(run, remember):
    old = remember(OLD)

    said = run("remember", NEW, *AGENT, "--json").json

    assert said["close_to"] == [{"id": old, "said_by": "user", "text": OLD}]


def test_a_person_is_shown_nothing(run, remember):
    remember(OLD, *AGENT)

    said = run("remember", NEW)
    listed = run("remember", f"{NEW} since May", "--json").json

    assert said.out.splitlines() == [f"Remembered {said.out.split()[1]}"]
    assert listed["close_to"] == []
