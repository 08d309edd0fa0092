"""People who disagree, agents who agree, and what a team runs into."""

import pytest

import recollect.model as m
from recollect.errors import OutOfScope
from recollect.model.team import Identity, Role
from recollect.remote.client import TeamClient
from team_server import Place

TABS, NO_TABS = "Always use tabs in Go files", "Never use tabs in Go files"


@pytest.fixture
def people(team):
    """An owner and two members, who disagree about tabs."""
    ada = team.new_team()
    ben, mo = team.add(ada, "Ben"), team.add(ada, "Mo")
    first = ben.call("remember", content=TABS, visibility="team", kind="convention")
    second = mo.call("remember", content=NO_TABS, visibility="team", kind="convention")
    assert second.conflicts_with == (first.id,)
    return ada, ben, mo, first.id, second.id


def test_both_see_the_conflict_with_the_name_of_the_other(ada, ben):
    ada.run("remember", TABS, "--visibility", "team", "--kind", "convention")
    ben.run("remember", NO_TABS, "--visibility", "team", "--kind", "convention")

    assert "Ben" in ada.run("conflicts").out
    assert "Ada" in ben.run("conflicts").out


def test_nobody_settles_a_conflict_against_another_person_but_an_admin(people):
    ada, ben, mo, first, second = people

    for member, mine in ((ben, first), (mo, second)):
        with pytest.raises(OutOfScope):
            member.call("resolve", first=first, second=second, keep=mine)
        with pytest.raises(OutOfScope):
            member.call("resolve", first=first, second=second, keep="both")
        for ends in ((first, second), (second, first)):
            with pytest.raises(OutOfScope):
                member.call("unlink", source=ends[0], target=ends[1], relation="contradicts")
    with pytest.raises(OutOfScope):
        mo.call("wrong", name=first, because="no", instead=NO_TABS)
    assert {ada.call("get", name=name).state for name in (first, second)} == {m.State.ACTIVE}
    assert len(ben.call("conflicts")) == 1

    ada.call("resolve", first=first, second=second, keep=first)

    assert ben.call("conflicts") == mo.call("conflicts") == ()
    assert ada.call("get", name=second).state is not m.State.ACTIVE


def test_each_may_withdraw_or_correct_their_own_side(people):
    _, ben, mo, first, second = people

    mo.call("forget", name=second)
    assert ben.call("conflicts") == ()
    mo.call("restore", name=second)
    ben.call("edit", name=first, content="Use gofmt for Go files")

    assert ben.call("get", name=first).content == "Use gofmt for Go files"
    assert mo.call("get", name=second).state is m.State.ACTIVE
    assert ben.call("conflicts") == mo.call("conflicts") == ()


def test_only_those_who_can_settle_an_uncertain_conflict_are_asked(team):
    ada = team.new_team()
    ben, mo = team.add(ada, "Ben"), team.add(ada, "Mo")
    ben.call("remember", content="The checkout retries five times", visibility="team")
    mo.call("remember", content="The checkout retries three times, never five", visibility="team")
    mo.call("remember", content="The importer retries five times", visibility="team")
    mo.call("remember", content="The importer retries three times, never five", visibility="team")

    (question,) = mo.call("questions")

    assert {memory.content.split()[1] for memory in question.memories} == {"importer"}
    assert len(ben.call("conflicts")) == len(mo.call("conflicts")) == 2


def test_each_may_give_way_to_the_other(people):
    _, ben, mo, first, second = people

    mo.call("resolve", first=first, second=second, keep=first)

    assert ben.call("conflicts") == mo.call("conflicts") == ()
    assert mo.call("get", name=second).superseded_by == first


def test_a_correction_wins_over_ones_own_words_and_agents_and_over_nobody_else(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    agents = ben.call("remember", content=TABS, kind="convention", actor="agent:claude")
    hers = ada.call("remember", content="Always deploy on Fridays", visibility="team", kind="convention")

    corrected = ben.call("remember", content=NO_TABS, kind="convention", visibility="team", correction=True)

    assert ben.call("get", name=agents.id).superseded_by == corrected.id
    corrected = ben.call(
        "remember", content="Never deploy on Fridays", kind="convention", visibility="team", correction=True
    )
    assert ada.call("get", name=hers.id).state is m.State.ACTIVE
    assert hers.id not in corrected.supersedes


def publish(person, session, agent, text="The payment tests need port 9090 free"):
    at = m.utc_now()
    running = m.Session(session, "", None, at, agent, "claude-code")
    person.call("publish", session=running, findings=[m.Finding("f", session, "", "gotcha", text, at, 0.1)])


def test_two_agents_that_agree_count_more_than_one_that_repeats(team):
    ada = team.new_team()
    for session in ("s1", "s2", "s3"):
        publish(ada, session, "claude")
    assert ada.call("list") == ()

    publish(ada, "s4", "codex")

    [memory] = ada.call("list")
    assert memory.content == "The payment tests need port 9090 free"
    assert "2 agents of one person" in memory.provenance[0].snippet


def ask(team, person, question, project=None):
    """A search of the person's that finds nothing, as the server notes it."""
    at = m.utc_now()
    store = team.backend.store(Identity(person.tenant, person.id, person.name, Role.MEMBER))
    store.put_gap(m.Gap(m.new_id(at), project, question, at))
    store.close()


def test_one_person_who_says_again_that_something_does_not_help_counts_once(team):
    ada = team.new_team()
    ben, cleo = team.add(ada, "Ben"), team.add(ada, "Cleo")
    hers = ada.call("remember", content="Deploys run on Fridays", visibility="team", kind="convention").id

    for _ in range(10):
        ben.call("feedback", name=hers, helpful=False)
        ben.call("feedback", name=hers, helpful=False, actor="agent:claude", session="s1")
    once = ada.call("get", name=hers).confidence
    cleo.call("feedback", name=hers, helpful=False)
    twice = ada.call("get", name=hers).confidence

    assert 1 > once > twice > 0


def test_analytics_say_what_many_run_into_and_nothing_about_few(team):
    ada = team.new_team()
    others = [team.add(ada, f"Person {number}") for number in range(5)]
    ada.call("remember", content="The staging database is reset at night", kind="gotcha", visibility="team")
    ada.call("remember", content="My own trap", kind="gotcha")
    for person in others[:4]:
        ask(team, person, "how do I get a raise")
    found = ada.call("analytics")
    assert [memory.content for memory in found.gotchas] == ["The staging database is reset at night"]
    assert (found.questions, found.unanswered) == ((), None)

    for person in others:
        ask(team, person, "Where is the  staging password")
    found = others[0].call("analytics")

    assert [(each.question.split()[-1], each.people) for each in found.questions] == [("password", 5)]
    assert "raise" not in str(found.questions)
    assert found.unanswered == 9


def test_analytics_leave_out_projects_that_the_reader_may_not_see(team):
    ada = team.new_team()
    others = [team.add(ada, f"Person {number}") for number in range(6)]
    plans = Place(("remote:example.com/team/plans",), "plans")
    ada.call("remember", content="A plan", visibility="project", place=plans)
    [project] = [each.id for each in ada.call("projects") if each.name == "plans"]
    for person in others[:5]:
        ask(team, person, "when do we buy the competitor", project)
    ada.call("restrict_project", project="plans", people=[person.name for person in others[:5]])

    assert len(others[0].call("analytics").questions) == 1
    assert others[5].call("analytics").questions == ()


def test_analytics_are_shown(ada, ben):
    ada.run("remember", "The staging database is reset at night", "--kind", "gotcha", "--visibility", "team")

    said = ben.run("team", "analytics").out

    assert "The staging database is reset at night" in said
    assert "Fewer than five people" in said


FIXTURE = "The payment tests of the shop take all of their orders from a fixture file"
REDIS = "The payment tests of the shop run against a Redis container of their own"
AGENT = ("--created-by", "agent:claude")


def relate(person, new):
    """Answer as an agent does: its memory takes the place of the first that it was shown."""
    return person.run("link", new["id"], new["close_to"][0]["id"], "--relation", "supersedes", *AGENT)


def test_an_agent_is_shown_what_another_persons_agent_recorded_and_does_not_replace_it(ada, ben):
    old = ben.run("remember", FIXTURE, *AGENT, "--json").json["id"]

    new = ada.run("remember", REDIS, *AGENT, "--json").json
    said = relate(ada, new)

    assert new["close_to"] == [{"id": old, "said_by": "Ben", "text": FIXTURE}]
    assert said.code == 0 and "contradicts" in said.out
    (conflict,) = ben.run("conflicts", "--json").json["conflicts"]
    assert {conflict["a"]["id"], conflict["b"]["id"]} == {old, new["id"]}
    assert ben.run("show", old, "--json").json["memory"]["state"] == "active"


def test_an_agent_replaces_what_an_agent_of_the_same_person_recorded_and_that_is_undone(ada):
    old = ada.run("remember", FIXTURE, *AGENT, "--json").json["id"]

    new = ada.run("remember", REDIS, *AGENT, "--json").json
    said = relate(ada, new)
    listed = [memory["id"] for memory in ada.run("list", "--json").json["memories"]]
    ada.run("undo", ada.run("changes", "--json").json[0]["id"])

    assert said.out == f"{new['id']} took the place of {old}\n"
    assert listed == [new["id"]]
    assert ada.run("show", old, "--json").json["memory"]["state"] == "active"


# saying when a memory is needed


def needed(person, id):
    return person.run("show", id, "--json").json["memory"]["when_needed"]


def test_each_describes_what_is_their_own_and_an_admin_what_is_shared(ada, ben):
    private = ben.run("remember", REDIS, "--kind", "fact", "--json").json["id"]
    shared = ben.run("remember", FIXTURE, "--kind", "gotcha", "--visibility", "team", "--json").json["id"]
    hers = ada.run("remember", "Deploys run on Fridays", "--visibility", "team", "--json").json["id"]

    listed = ben.run("describe", "--json").json
    lines = (
        f"{private}: the suite hangs\n{shared[-6:]}: an order is missing | a test fails alone\n{hers}: x\n"
    )
    done = ben.run("describe", "-", *AGENT, stdin=lines)

    assert [memory["id"] for memory in listed["memories"]] == [shared, private]
    assert done.out == "Described 2 memories.\nNone is left.\n"
    assert "Line 3: " in done.err and "another person's" in done.err
    assert needed(ben, private) == ["the suite hangs"]
    assert needed(ada, shared) == ["an order is missing", "a test fails alone"]
    assert ben.run("search", "an order is missing", "--json").json["results"][0]["memory"]["id"] == shared
    assert "may not" in ben.run("describe", hers, "--when", "x").err
    assert ada.run("describe", shared, "--when", "y", *AGENT).code == 1
    assert ada.run("describe", shared, "--when", "the till is empty").code == 0
    assert needed(ben, shared) == ["the till is empty", "an order is missing", "a test fails alone"]
    assert needed(ben, hers) == []
    [change] = [each for each in ben.run("changes", "--json").json if shared in each["summary"]][:1]
    assert (change["actor"], change["action"]) == ("agent:claude", "describe")


def test_a_secret_in_a_situation_does_not_leave_the_machine(ada, monkeypatch):
    id = ada.run("remember", REDIS, "--json").json["id"]
    sent = []
    call = TeamClient.call
    monkeypatch.setattr(
        TeamClient, "call", lambda self, *arguments: sent.append(str(arguments)) or call(self, *arguments)
    )

    done = ada.run("describe", id, "--when", "the password is hunter2-correct-horse")
    edited = ada.run("edit", id, "--when", "its password is hunter2-correct-horse", "--tag", "redis")

    assert "Redacted 1 secret: password" in done.out
    assert "Redacted 1 secret: password" in edited.out
    assert "hunter2" not in "".join(sent)
    assert len(needed(ada, id)) == 1


@pytest.mark.parametrize(
    "command",
    [
        ("edit", "ID", "Tests need Redis, whose password is hunter2-correct-horse"),
        ("wrong", "ID", "--because", "its password is hunter2-correct-horse"),
        ("wrong", "ID", "--instead", "Tests need Redis, whose password is hunter2-correct-horse"),
        ("tag", "ID", "password=hunter2-correct-horse"),
    ],
    ids=["edit", "because", "instead", "tag"],
)
def test_a_secret_in_a_change_does_not_leave_the_machine(ada, monkeypatch, command):
    id = ada.run("remember", REDIS, "--json").json["id"]
    sent = []
    call = TeamClient.call
    monkeypatch.setattr(
        TeamClient, "call", lambda self, *arguments: sent.append(str(arguments)) or call(self, *arguments)
    )

    done = ada.run(*(id if word == "ID" else word for word in command))

    assert done.code == 0, done.err
    assert sent and "hunter2" not in "".join(sent)


def test_an_agent_describes_nothing_where_memory_is_off(ada):
    id = ada.run("remember", REDIS, "--json").json["id"]
    assert ada.run("off").code == 0

    refused = ada.run("describe", "-", *AGENT, stdin=f"{id}: the suite hangs")

    assert refused.code == 1 and "Memory is off" in refused.err
    assert ada.run("on").code == 0
    assert needed(ada, id) == []


def test_what_is_private_to_a_machine_is_described_there_and_listed_with_the_teams(team, ada):
    assert ada.run("team", "private-mode", "on").code == 0
    shared = ada.run("remember", FIXTURE, "--visibility", "team", "--json").json["id"]
    mine = ada.run("remember", "My zebra is called Otto", "--json").json["id"]

    listed = ada.run("describe", "--json").json
    done = ada.run("describe", "-", stdin=f"{mine}: who is at the door\n{shared}: an order is missing")

    assert ([memory["id"] for memory in listed["memories"]], listed["total"]) == ([mine, shared], 2)
    assert done.out == "Described 2 memories.\nNone is left.\n"
    assert needed(ada, mine) == ["who is at the door"]
    assert needed(ada, shared) == ["an order is missing"]
