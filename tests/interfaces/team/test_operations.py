"""What people and agents do on a team server, through its HTTP interface."""

import json
from dataclasses import replace

import pytest

import recollect.model as m
from recollect.errors import LimitReached, MemoryNotFound, OutOfScope, Refused, TokenRefused
from recollect.model.team import Role
from recollect.remote.client import TeamClient
from recollect.remote.wire import Place
from team_server import join


def test_what_an_agent_of_one_person_records_another_person_finds(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")

    ada.call("remember", content="Tests need a running Redis", kind="gotcha", actor="agent:claude")

    found = ben.call("search", query="why do the tests need redis")
    assert [hit.memory.content for hit in found.results] == ["Tests need a running Redis"]
    assert found.results[0].memory.created_by == "agent:claude"


def test_what_a_person_says_stays_private_until_they_share_it(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    receipt = ada.call("remember", content="I dislike the payment service")

    assert ben.call("search", query="payment service").results == ()
    with pytest.raises(MemoryNotFound):
        ben.call("get", name=receipt.id)

    ada.call("edit", name=receipt.id, visibility="team")
    assert ben.call("get", name=receipt.id).content == "I dislike the payment service"


def test_what_a_person_may_not_see_does_not_crowd_out_what_they_may(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    bank = Place(("remote:example.com/team/bank",), "bank")
    records = [{"content": f"The vault {number} opens at nine for guard {number}"} for number in range(90)]
    ada.call("adopt", place=bank, records=records, visibility="project")
    ada.call("restrict_project", project="bank", people=["Ada"])
    mine = ben.call("remember", content="Somebody opens the shop when the vault of the bank is open")

    found = ben.call("search", query="vault opens nine", all_projects=True, meaning=False)

    assert [hit.memory.id for hit in found.results] == [mine.id]
    assert len(ada.call("search", query="vault opens nine", all_projects=True, meaning=False).results) == 10


def test_indexes_of_teams_that_nobody_uses_make_room_for_others(team, monkeypatch):
    monkeypatch.setattr("recollect.interfaces.team.engines.MOST_INDEXED", 3)
    ada, eve = team.new_team("Shop"), team.new_team("Bank", "Eve")
    for number in range(3):
        ada.call("remember", content=f"Port {number} of the shop is open")
        eve.call("remember", content=f"Guard {number} of the bank sleeps")

    for person, query, count in ((ada, "port", 3), (eve, "guard", 3), (ada, "port", 3), (eve, "guard", 3)):
        assert len(person.call("search", query=query, meaning=False).results) == count
        sizes = {tenant: index.size for tenant, (_, index) in team.app.engines._indexes.items()}
        assert sizes[person.tenant] == 3
    assert sizes == {ada.tenant: 3, eve.tenant: 3}  # emptied when the next one asks
    ada.call("count")
    assert team.app.engines._indexes[eve.tenant][1].size == 0


def test_questions_without_an_answer_become_gaps_beside_the_requests(team, monkeypatch):
    monkeypatch.setattr("recollect.interfaces.team.engines.PROCESSED_AT_ONCE", 1)
    ada = team.new_team()
    questions = ["Which port does the billing gateway use", "Who signs the quarterly ledger export"]
    for question in questions:
        ada.call("search", query=question)

    for _ in questions:  # one at a time
        team.app.engines.process_searches()

    assert {gap.context for gap in ada.call("gaps")} == set(questions)


def test_two_teams_see_nothing_of_each_other(team):
    ada, eve = team.new_team("Shop"), team.new_team("Bank", "Eve")
    receipt = ada.call("remember", content="The vault opens at nine", visibility="team")

    assert eve.call("search", query="vault opens at nine").results == ()
    with pytest.raises(MemoryNotFound):
        eve.call("get", name=receipt.id)


def test_the_server_redacts_and_limits_whatever_a_client_sends(team):
    ada = team.new_team()
    key = "AKIA" + "Z7QX4JH2KLMNPR5T"

    receipt = ada.call("remember", content=f"The deploy key is {key}", visibility="team")
    assert key not in ada.call("get", name=receipt.id).content
    with pytest.raises(Refused, match="2"):
        ada.call("remember", content="x" * 3000)
    with pytest.raises(OutOfScope):
        ada.call("remember", content="Everywhere", scope="global", actor="agent:claude")


def test_an_agent_writes_at_most_so_many_memories_in_a_session(team):
    ada = team.new_team()
    assert team.app.engines._settings.session_limit == 50
    team.app.engines._settings = replace(team.app.engines._settings, session_limit=2)

    with pytest.raises(LimitReached, match="2 memories"):
        for text in ("Port 80 is open", "The queue is Redis", "Builds need Node 22"):
            ada.call("remember", content=text, actor="agent:claude", session="s1")


def test_a_repeated_write_is_written_once(team):
    ada = team.new_team()

    first = ada.call("remember", content="Deploys run on Fridays", key="k1")
    again = ada.call("remember", content="Deploys run on Fridays", key="k1")

    assert first == again
    assert ada.call("get", name=first.id).strength == 1
    with pytest.raises(Refused, match="another request"):
        ada.call("remember", content="Deploys run on Mondays", key="k1")


def test_a_token_of_an_agent_acts_as_that_agent_whatever_it_claims(team):
    ada = team.new_team()
    issued = ada.call("create_token", name="ci", agent="ci", actions=["read", "write"])
    robot = TeamClient(team.address, issued.secret)

    receipt = robot.call(
        "remember", {"content": "The build needs Node 22"}, Place(("remote:x/y",), "y"), "user"
    )

    memory = robot.call("get", {"name": receipt.id}, Place(("remote:x/y",), "y"))
    assert (memory.created_by, memory.visibility) == ("agent:ci", m.Visibility.PROJECT)
    with pytest.raises(OutOfScope):
        robot.call("pin", {"name": receipt.id}, Place(("remote:x/y",), "y"))
    with pytest.raises(OutOfScope):
        robot.call("invite", {"name": "Mallory"})
    robot.close()


def test_a_token_is_bound_to_its_projects_and_actions(team):
    ada = team.new_team()
    ada.call("remember", content="Shop rule", visibility="team")
    shop = ada.call("projects")[0].id
    issued = ada.call("create_token", name="reader", actions=["read"], projects=[shop])
    client = TeamClient(team.address, issued.secret)

    place = Place(("remote:example.com/team/shop",), "shop")
    assert client.call("count", {}, place) == 1
    with pytest.raises(OutOfScope):
        client.call("count", {}, Place(("remote:example.com/team/bank",), "bank"))
    with pytest.raises(OutOfScope):
        client.call("remember", {"content": "No"}, place)
    client.close()


def test_an_invitation_works_once_and_a_revoked_token_ends(team):
    ada = team.new_team()
    invite = ada.call("invite", name="Ben")
    token = join(team.address, invite.code)["token"]

    with pytest.raises(TokenRefused):
        join(team.address, invite.code)

    ben = TeamClient(team.address, token)
    assert ben.call("whoami", {}).name == "Ben"
    ada.call("remove_member", person="Ben")
    with pytest.raises(TokenRefused):
        ben.call("whoami", {})
    with pytest.raises(Refused, match="last owner"):
        ada.call("leave")
    ben.close()


def test_a_reader_changes_nothing_and_a_member_is_no_admin(team):
    ada = team.new_team()
    rita, mo = team.add(ada, "Rita", Role.READER), team.add(ada, "Mo")

    with pytest.raises(OutOfScope, match="reader"):
        rita.call("remember", content="A thing")
    with pytest.raises(OutOfScope, match="admin"):
        mo.call("invite", name="Mallory")
    assert [person.name for person in rita.call("members")] == ["Ada", "Rita", "Mo"]


def test_the_findings_of_a_running_session_are_told_to_another_person(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    at = m.utc_now()
    session = m.Session("s1", "", None, at, "claude", "claude-code")
    finding = m.Finding("f1", "s1", "", "gotcha", "The payment tests need port 9090 free", at)

    assert ada.call("publish", session=session, findings=[finding]) == 1
    assert ada.call("publish", session=session, findings=[finding]) == 0

    told = ben.call("material", moment="prompt", text="run the payment tests", session="s2")
    assert [found.content for found in told.findings] == ["The payment tests need port 9090 free"]
    assert ada.call("material", moment="prompt", text="run the payment tests", session="s1").findings == ()


def test_a_member_undoes_a_change_while_others_share_memories_with_tags(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    ada.call("remember", content="Tests need Redis", tags=("redis",), visibility="team")
    his = ben.call("remember", content="Prices are in cents", tags=("money",), visibility="team").id
    ben.call("forget", name=his)

    ben.call("undo", name=ben.call("changes")[0].id)

    assert ben.call("get", name=his).state == "active"
    assert {tag.name for tag in ben.call("tags")} >= {"redis", "money"}


def test_conflicts_between_people_keep_both(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    first = ada.call("remember", content="Always use tabs in Go files", visibility="team", correction=True)

    second = ben.call("remember", content="Never use tabs in Go files", visibility="team", correction=True)

    assert second.conflicts_with == (first.id,)
    assert second.supersedes == ()
    assert ada.call("get", name=first.id).state is m.State.ACTIVE
    assert len(ada.call("conflicts")) == len(ben.call("conflicts")) == 1


def test_an_export_goes_through_pages_from_the_last_memory_or_by_offset(team, monkeypatch):
    monkeypatch.setattr("recollect.remote.administration.PAGE", 2)
    ada = team.new_team()
    ada.call("adopt", records=[{"content": f"Port {number} is open"} for number in range(5)])

    def pages(**where):
        page = ada.call("export", **where)
        yield [memory.content for memory in page.memories]
        if page.next is not None:
            yield from pages(**({"after": page.after} if "after" in where else {"offset": page.next}))

    expected = [
        ["Port 0 is open", "Port 1 is open"],
        ["Port 2 is open", "Port 3 is open"],
        ["Port 4 is open"],
    ]
    assert list(pages(after="")) == list(pages()) == expected


def test_health_metrics_and_document_need_no_token_and_tell_no_content(team):
    ada = team.new_team()
    ada.call("remember", content="Quarterly numbers are in the vault", visibility="team")
    anyone = TeamClient(team.address, "")

    assert json.loads(anyone.request("GET", "/health"))["status"] == "ok"
    assert json.loads(anyone.request("GET", "/ready")) == {"ready": True}
    metrics = anyone.request("GET", "/metrics").decode()
    assert 'recollect_requests_total{operation="remember",status="200"} 1' in metrics
    assert "vault" not in metrics
    paths = json.loads(anyone.request("GET", "/api/v1/openapi.json"))["paths"]
    assert {"/api/v1/remember", "/api/v1/search", "/api/v1/join", "/api/v1/sign-in"} <= set(paths)
    assert {"/api/v1/events", "/health", "/ready", "/metrics"} <= set(paths)
    anyone.close()


def test_a_conflict_names_the_other_person(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    ada.call("remember", content="Always use tabs in Go files", visibility="team", kind="convention")
    ben.call("remember", content="Never use tabs in Go files", visibility="team", kind="convention")

    told = ada.call("material", moment="start", session="s1")

    assert len(told.conflicts) == 1
    assert told.names == {ben.id: "Ben"}


def test_a_memory_can_be_hidden_for_oneself(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    receipt = ada.call("remember", content="Deploys run on Fridays", visibility="team", kind="convention")

    ben.call("hide", name=receipt.id)

    assert ben.call("search", query="when do deploys run").results == ()
    assert ben.call("list") == ben.call("material", moment="start").always == ()
    assert len(ada.call("list")) == 1


def test_what_agents_of_a_person_in_quarantine_write_reaches_nobody_else(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben", quarantine=True)
    session = m.Session("s1", "", None, m.utc_now(), "claude", "claude-code")
    finding = m.Finding("f1", "s1", "", "gotcha", "The payment tests need port 9090 free", m.utc_now())

    ben.call("remember", content="Push straight to main", kind="convention", actor="agent:claude")
    ben.call("publish", session=session, findings=[finding])

    assert ada.call("list", state="all") == ()
    assert ada.call("material", moment="prompt", text="payment tests", session="s2").findings == ()
    assert len(ben.call("list")) == 1


def test_what_agents_of_two_people_find_becomes_a_memory(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    at = m.utc_now()
    for person, session in ((ada, "s1"), (ben, "s2")):
        running = m.Session(session, "", None, at, "claude", "claude-code")
        finding = m.Finding("f", session, "", "gotcha", "The payment tests need port 9090 free", at, 0.1)
        person.call("publish", session=running, findings=[finding])
        person.call("publish", session=running, findings=[finding])

    (memory,) = ada.call("list")

    assert memory.content == "The payment tests need port 9090 free"
    assert (memory.created_by, memory.visibility) == ("agent:team", m.Visibility.PROJECT)
