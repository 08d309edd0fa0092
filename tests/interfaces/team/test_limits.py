"""How much people, agents and teams may ask of a server."""

import http.client
import json
from dataclasses import replace

import pytest

from fakes import FakeEmbedder
from recollect.errors import QuotaReached, TooManyRequests
from recollect.interfaces.team.limits import Rates
from team_people import Person
from team_server import FAST, running


@pytest.fixture
def serve(home, postgres_team):
    """Starts a server with limits."""
    opened = []

    def start(**limits):
        context = running(postgres_team, home, FakeEmbedder(), rates=replace(FAST, **limits))
        opened.append(context)
        return context.__enter__()

    yield start
    for context in opened:
        context.__exit__(None, None, None)


def post(member, operation, **arguments):
    """Send a request; return its status and headers."""
    host = member.client.address.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=30)
    body = json.dumps({"arguments": arguments})
    connection.request("POST", f"/api/v1/{operation}", body, {"authorization": f"Bearer {member.token}"})
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.headers


def test_a_person_may_write_so_much_a_day_on_all_servers_together(serve):
    first = serve(person_day=3)
    second = serve(person_day=3)
    ada = first.new_team()
    ben = first.add(ada, "Ben")  # two writes of Ada's
    elsewhere = second._member(ada.id, "Ada", ada.tenant, ada.token)

    elsewhere.call("remember", content="The third")

    with pytest.raises(QuotaReached, match=r"You have reached the limit of 3 writes a day"):
        ada.call("remember", content="The fourth")
    ben.call("remember", content="The first of Ben's")
    assert ada.call("search", query="third").results  # reading goes on


def test_an_agent_and_a_team_have_limits_of_their_own(serve):
    team = serve(agent_day=1, tenant_day=4)
    ada, eve = team.new_team("Shop"), team.new_team("Bank", "Eve")

    ada.call("remember", content="Port 80 is open", actor="agent:claude")
    with pytest.raises(QuotaReached, match="Your agent claude has"):
        ada.call("remember", content="The queue is Redis", actor="agent:claude")
    ada.call("remember", content="Builds need Node 22", actor="agent:codex")
    ada.call("remember", content="Deploys run on Fridays")
    with pytest.raises(QuotaReached, match="The team has"):
        ada.call("remember", content="One too many")
    eve.call("remember", content="Another team goes on")


def test_answers_say_what_is_left_and_when_to_come_back(serve):
    team = serve(person_day=2)
    ada = team.new_team()

    status, headers = post(ada, "remember", content="The first")
    assert (status, headers["RateLimit-Limit"], headers["RateLimit-Remaining"]) == (200, "2", "1")
    post(ada, "remember", content="The second")
    status, headers = post(ada, "remember", content="The third")

    assert status == 429
    assert 0 < int(headers["Retry-After"]) <= 24 * 3600 + 1


def test_too_many_requests_at_once_are_refused_and_the_others_go_on(serve):
    team = serve(person=0.001, burst=2000)
    ada, eve = team.new_team("Shop"), team.new_team("Bank", "Eve")

    assert post(ada, "whoami")[1]["RateLimit-Remaining"] == "1"
    assert post(ada, "whoami")[0] == 200
    status, headers = post(ada, "whoami")

    assert (status, headers["Retry-After"]) == (429, "1")
    with pytest.raises(TooManyRequests):
        ada.call("search", query="anything")
    assert eve.call("whoami").name == "Eve"


def test_usage_is_shown(serve, person):
    team = serve(person_day=5000)
    owner = team.new_team()
    ada: Person = person("ada")
    ada.run("login", team.address, "--token", owner.token, "--yes")  # records two consents
    ada.run("remember", "The shop runs on port 8080")

    assert ada.run("team", "usage", "--json").json["you"] == {"writes": 3, "limit": 5000}
    assert "of 5,000 writes" in ada.run("team", "usage").out
    assert Rates().person_day == 10_000
