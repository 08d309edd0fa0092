"""Clients and servers of different versions, as during an upgrade.

`fixtures/requests-0.2.0.json` is what a client and a server of that version said to each other, recorded with
`python -m bench.team.record_requests`. `python -m bench.team --only versions` runs an earlier version itself.
"""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from recollect import __version__
from recollect.errors import ClientTooOld, RecollectError, TeamError
from recollect.remote.client import TeamClient
from recollect.remote.operations import OPERATIONS
from recollect.remote.outbox import Outbox
from recollect.remote.wire import ACTOR_HEADER, PREFIX, VERSION_HEADER, Place
from team_server import join

RECORDED = json.loads(
    (Path(__file__).parent / "fixtures" / "requests-0.2.0.json").read_text(encoding="utf-8")
)
PLACE = {"keys": ["remote:example.com/acme/shop"], "name": "shop", "branch": "main"}
ID = re.compile(r"[0-9a-z]{18}")


class Replay:
    """Sends recorded requests again. What had an id then has another one now."""

    def __init__(self, team):
        self.team = team
        self.clients = {"ada": team.new_team().client}
        self.ids = {}

    def send(self, request):
        """Return the answer of this server to a recorded request."""
        body = json.dumps({"place": PLACE, "arguments": self.now(request["arguments"])}).encode()
        headers = {ACTOR_HEADER: quote(request["actor"]), VERSION_HEADER: "0.2.0"}
        client = self.clients[request["who"]]
        answer = json.loads(client.request("POST", f"{PREFIX}/{request['operation']}", body, headers))
        if request["operation"] == "invite":
            name = request["arguments"]["name"].lower()
            self.clients[name] = TeamClient(
                self.team.address, join(self.team.address, answer["code"])["token"]
            )
        return answer

    def now(self, value):
        """Return a recorded value with the ids of today."""
        if isinstance(value, dict):
            return {self.now(name): self.now(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self.now(each) for each in value]
        return (
            ID.sub(lambda found: self.ids.get(found[0], found[0]), value) if isinstance(value, str) else value
        )

    def lacks(self, then, now, where=""):
        """Return what a client of that version would miss in an answer."""
        if isinstance(then, dict) and isinstance(now, dict):
            then = {self.now(name): each for name, each in then.items()}
            missing = [f"{where}.{name}" for name in then if name not in now]
            return missing + [
                each
                for name in then
                if name in now
                for each in self.lacks(then[name], now[name], f"{where}.{name}")
            ]
        if isinstance(then, list) and isinstance(now, list):
            pairs = zip(then, now, strict=False)
            return [
                each for number, pair in enumerate(pairs) for each in self.lacks(*pair, f"{where}[{number}]")
            ]
        if isinstance(then, str) and isinstance(now, str) and ID.fullmatch(then) and ID.fullmatch(now):
            self.ids.setdefault(then, now)
        are_numbers = isinstance(then, int | float) and isinstance(now, int | float)
        is_alike = then is None or now is None or are_numbers or type(then) is type(now)
        return [] if is_alike else [f"{where}: {type(now).__name__} instead of {type(then).__name__}"]

    def close(self):
        for client in self.clients.values():
            client.close()


@pytest.fixture
def replay(team):
    replay = Replay(team)
    yield replay
    replay.close()


def test_a_client_of_the_last_version_gets_what_it_knows(replay):
    missing = []
    for request in RECORDED:
        answer = replay.send(request)
        missing += replay.lacks(request["answer"], answer, request["operation"])

    assert missing == []


def test_answers_of_a_server_of_the_last_version_are_understood():
    for request in RECORDED:
        OPERATIONS[request["operation"]].result.validate_python(request["answer"])


def test_almost_every_operation_of_that_version_was_recorded():
    known = {request["operation"] for request in RECORDED}

    assert known <= set(OPERATIONS)  # none was taken away
    assert set(OPERATIONS) - known == {
        "decide",
        "leave",
        "my_records",
        "erase_member",
        "withdraw_invite",
        "verify_audit",
        "export_links",
        "adopt_links",
        "describe",  # this and the next came later
        "undescribed",
    }


def test_a_field_that_is_gone_and_one_of_another_type_are_noticed(replay):
    then = {"id": "x", "tags": ["a"], "count": 1, "memory": {"kind": "fact"}}

    assert replay.lacks(then, {"id": "y", "tags": "a", "count": 2.5, "memory": {}}) == [
        ".tags: str instead of list",
        ".memory.kind",
    ]


@pytest.mark.parametrize("path", ["whoami", "join", "search"])
def test_a_client_that_is_too_old_is_told_so(team, path):
    ada = team.new_team()

    with pytest.raises(ClientTooOld, match=r"Your Recollect 0\.1\.7 is too old") as refused:
        ada.client.request("POST", f"{PREFIX}/{path}", b"{}", {VERSION_HEADER: "0.1.7"})

    assert "0.2 or newer" in refused.value.hint


@pytest.mark.parametrize("version", ["", "0.2.0", "0.10.1", "1.0", "nonsense"])
def test_clients_of_this_version_and_later_and_programs_are_answered(team, version):
    ada = team.new_team()

    assert ada.client.request("POST", f"{PREFIX}/whoami", b'{"arguments": {}}', {VERSION_HEADER: version})


def test_a_client_of_another_interface_is_told_which_one_there_is(team):
    ada = team.new_team()

    with pytest.raises(TeamError, match="speaks v1 of its interface"):
        ada.client.request("POST", "/api/v2/whoami", b"{}")
    with pytest.raises(RecollectError, match="no operation 'dream'") as refused:
        ada.client.request("POST", f"{PREFIX}/dream", b"{}")
    assert "the server needs an upgrade" in refused.value.hint


def test_whoami_shows_both_versions(ada):
    assert f"Recollect {__version__} here, {__version__} on the server." in ada.run("whoami").out


def test_what_waits_for_the_server_stays_until_the_client_is_upgraded(home):
    outbox = Outbox(home, home / "recollect.db")
    outbox.add("remember", {"content": "Tests need Redis"}, Place(), "agent:claude", "k1")
    sent = []

    def refuse(*call):
        raise ClientTooOld("Too old.", "")

    outbox.deliver(refuse)
    assert outbox.waiting()
    outbox.deliver(lambda *call: sent.append(call))

    assert [call[1] for call in sent] == [{"content": "Tests need Redis"}]
    assert not outbox.waiting()
