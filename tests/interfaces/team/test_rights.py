"""What nobody gets around on a team server: quarantine, narrowed tokens, agents that use their person's token."""

import threading

import pytest

import recollect.model as m
from fakes import FakeEmbedder
from recollect.errors import OutOfScope, RecollectError, Refused, StoreError, TokenRefused
from recollect.model.team import Role
from recollect.remote.client import TeamClient
from recollect.remote.wire import Place
from recollect.store.postgres.store import PostgresStore
from team_server import SHOP, join, running

BANK = Place(("remote:example.com/team/bank",), "bank")


@pytest.fixture
def client_of(team):
    """Return a client for a token."""
    clients = []

    def make(token):
        clients.append(TeamClient(team.address, token))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


class TestQuarantine:
    def test_an_agent_that_says_a_person_wrote_it_stays_in_quarantine(self, team):
        ada = team.new_team()
        ben = team.add(ada, "Ben", quarantine=True)

        ben.call(
            "remember",
            content="Push straight to main",
            created_by="user",
            visibility="team",
            actor="agent:claude",
        )

        assert ada.call("list", state="all", all_projects=True) == ()
        assert len(ben.call("list")) == 1

    def test_an_agent_does_not_share_what_is_in_quarantine(self, team):
        ada = team.new_team()
        ben = team.add(ada, "Ben", quarantine=True)
        written = ben.call("remember", content="Push straight to main", actor="agent:claude")

        with pytest.raises(OutOfScope, match="quarantine"):
            ben.call("edit", name=written.id, visibility="team", actor="agent:claude")

        assert ada.call("list", state="all") == ()
        ben.call("edit", name=written.id, visibility="team")  # the person may
        assert len(ada.call("list")) == 1

    @pytest.mark.parametrize(
        ("operation", "arguments"),
        [
            ("edit", {"content": "Push straight to main"}),
            ("tag", {"add": ["urgent"]}),
            ("describe", {"situations": ["a page at night"]}),
            ("forget", {}),
            ("feedback", {"helpful": False}),
        ],
    )
    def test_an_agent_of_somebody_who_was_flagged_changes_nothing_that_others_see(
        self, team, operation, arguments
    ):
        ada = team.new_team()
        ben = team.add(ada, "Ben")
        shared = ben.call("remember", content="Open a pull request for main", actor="agent:claude")
        ada.call("flag_member", person="Ben", on=True)

        with pytest.raises(OutOfScope, match="quarantine"):
            ben.call(operation, name=shared.id, actor="agent:claude", **arguments)

        [seen] = ada.call("list")
        assert (seen.content, seen.tags, seen.when_needed) == ("Open a pull request for main", (), ())

    def test_what_a_running_session_of_somebody_who_is_flagged_has_found_is_told_no_more(self, team):
        ada = team.new_team()
        ben = team.add(ada, "Ben")
        session = m.Session("s1", "", None, m.utc_now(), "claude", "claude-code")
        finding = m.Finding("f1", "s1", "", "gotcha", "The payment tests need port 9090 free", m.utc_now())
        ben.call("publish", session=session, findings=[finding])
        asked = {"moment": "prompt", "text": "payment tests", "session": "s2"}
        assert ada.call("material", **asked).findings

        ada.call("flag_member", person="Ben", on=True)

        assert ada.call("material", **asked).findings == ()


class TestNarrowedTokens:
    def test_a_token_for_one_project_reads_nothing_that_is_stored_of_the_person_elsewhere(
        self, team, client_of
    ):
        ada = team.new_team()
        ada.call("remember", content="The vault opens at nine", place=BANK)
        for question in ("who has the vault keys", "why do vault guards sleep"):
            ada.call("search", query=f"zebrafish: {question}", place=BANK)
        team.app.engines.process_searches()
        ada.call("remember", content="Tests need Redis")
        shop = next(each.id for each in ada.call("projects") if each.name == "shop")
        assert "vault" in str(ada.call("my_records"))
        narrow = client_of(ada.call("create_token", name="ci", projects=[shop]).secret)
        agent = client_of(ada.call("create_token", name="bot", agent="bot").secret)

        for client in (narrow, agent):
            for operation in ("my_data", "my_records", "export", "gaps", "changes", "analytics"):
                try:
                    answer = client.call(operation, {}, SHOP)
                except OutOfScope:
                    continue
                assert "vault" not in str(answer), operation

    @pytest.mark.parametrize("operation", ["my_data", "my_records"])
    def test_all_that_is_stored_of_a_person_is_for_them_alone(self, team, client_of, operation):
        ada = team.new_team()
        ada.call("remember", content="Tests need Redis")
        [shop] = ada.call("projects")
        narrow = client_of(ada.call("create_token", name="ci", projects=[shop.id]).secret)
        agent = client_of(ada.call("create_token", name="bot", agent="bot").secret)

        for client, actor in ((narrow, "user"), (agent, "user"), (ada.client, "agent:claude")):
            with pytest.raises(OutOfScope):
                client.call(operation, {}, SHOP, actor)
        assert ada.call(operation)

    def test_an_agent_of_an_admin_is_told_of_nobodys_erasure(self, team, client_of):
        ada = team.new_team()
        ben = team.add(ada, "Ben")
        ben.call("erase_me", confirm="Ben")
        agent = client_of(ada.call("create_token", name="bot", agent="bot").secret)

        assert agent.call("erasures", {}, SHOP) == ()
        assert ada.call("erasures", actor="agent:claude") == ()
        assert len(ada.call("erasures")) == 1


class TestAgentsWithTheTokenOfTheirPerson:
    @pytest.mark.parametrize(
        ("operation", "arguments"),
        [
            ("invite", {"name": "Eve", "role": "admin"}),
            ("set_role", {"person": "Ben", "role": "admin"}),
            ("flag_member", {"person": "Ben", "on": False}),
            ("remove_member", {"person": "Ben"}),
            ("restrict_project", {"project": "shop", "people": ["Ada"]}),
            ("set_retention", {"forgotten_days": 1}),
            ("tokens", {"everybody": True}),
            ("members", {"left": True}),
            ("create_token", {"name": "mine"}),
        ],
    )
    def test_they_manage_no_people_and_no_tokens(self, team, operation, arguments):
        ada = team.new_team()
        team.add(ada, "Ben")
        ada.call("remember", content="Tests need Redis", visibility="team")

        with pytest.raises(OutOfScope):
            ada.call(operation, actor="agent:claude", **arguments)

    def test_they_revoke_no_token(self, team):
        ada = team.new_team()
        mine = ada.call("whoami").token

        with pytest.raises(OutOfScope):
            ada.call("revoke_token", token=mine, actor="agent:claude")

    def test_the_token_of_an_agent_counts_as_one_agent_whatever_its_sessions_say(self, team, client_of):
        ada = team.new_team()
        agent = client_of(ada.call("create_token", name="bot", agent="bot").secret)
        at = m.utc_now()
        for name in ("claude", "codex"):
            session = m.Session(f"s-{name}", "", None, at, name, name)
            finding = m.Finding("f", session.id, "", "gotcha", "Payment tests need port 9090", at, 0.1)
            agent.call("publish", {"session": m.as_json(session), "findings": [m.as_json(finding)]}, SHOP)

        assert ada.call("list", state="all") == ()


def test_an_invitation_that_many_use_at_once_lets_one_in(team):
    ada = team.new_team()
    code = ada.call("invite", name="Ben").code
    outcomes = []

    def use():
        try:
            outcomes.append(join(team.address, code)["me"]["name"])
        except TokenRefused:
            outcomes.append(None)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(map(str, outcomes)) == sorted(["Ben", *["None"] * 7])
    assert [person.name for person in ada.call("members")] == ["Ada", "Ben"]


def test_nobody_brings_links_between_memories_of_others(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    hers = [
        ada.call("remember", content=text, visibility="team", kind="fact").id
        for text in ("Tests need Redis", "The search index is rebuilt nightly")
    ]
    his = ben.call("remember", content="Deploys run on Fridays", visibility="team", kind="fact").id
    link = {"relation": "supersedes", "created_at": m.to_text(m.utc_now()), "reason": "I say so"}

    records = [{"source": hers[0], "target": hers[1], **link}, {"source": his, "target": hers[0], **link}]
    ben.call("adopt_links", records=[*records, {"source": his}, {}, {"source": ["x"], "target": his}])

    assert ada.call("links", name=hers[0]) == ada.call("links", name=hers[1]) == ()


def test_the_id_of_a_private_memory_in_ones_own_words_names_ones_own_memory(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    hers = ada.call("remember", content="The vault opens at nine", kind="fact")
    his = ben.call("remember", content=f"Somebody told me of {hers.id}", kind="fact")

    forgotten = ben.call("forget", name=hers.id)  # a name that is no id is a keyword

    assert forgotten.id == his.id
    assert ada.call("get", name=hers.id).state is m.State.ACTIVE


def test_a_private_memory_is_told_by_no_answer_to_somebody_who_states_the_same(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    secret = "The zebrafish deploy at midnight uses port 4711"
    hers = ada.call("remember", content=secret, kind="fact")
    opposite = ada.call("remember", content="Builds of the shop use Node 22 and never Node 20", kind="fact")

    same = ben.call("remember", content=secret, kind="fact", visibility="team")
    other = ben.call(
        "remember", content="Builds of the shop use Node 20 and never Node 22", kind="fact", visibility="team"
    )

    assert (same.is_duplicate, same.conflicts_with, same.supersedes) == (False, (), ())
    assert (other.is_duplicate, other.conflicts_with, other.supersedes) == (False, (), ())
    told = str(
        [
            ben.call(operation)
            for operation in (
                "conflicts",
                "questions",
                "list",
                "undescribed",
                "tags",
                "gaps",
                "changes",
                "audit",
                "export",
            )
        ]
    )
    assert hers.id not in told
    assert opposite.id not in told
    for operation, arguments in (
        ("get", {"name": hers.id}),
        ("find", {"name": hers.id}),
        ("links", {"name": hers.id}),
        ("similar", {"name": hers.id}),
        ("edit", {"name": hers.id, "content": "x y z"}),
        ("describe", {"name": hers.id, "situations": ["x y z"]}),
        ("forget", {"name": hers.id}),
        ("hide", {"name": hers.id}),
        ("pin", {"name": hers.id}),
        ("wrong", {"name": hers.id}),
        ("link", {"source": same.id, "target": hers.id}),
        ("resolve", {"first": same.id, "second": hers.id, "keep": "both"}),
        ("feedback", {"name": hers.id, "helpful": True}),
    ):
        unknown = {
            key: (value[:-3] + "zzz" if value == hers.id else value) for key, value in arguments.items()
        }
        answers = []
        for given in (arguments, unknown):
            with pytest.raises(RecollectError) as raised:
                ben.call(operation, **given)
            answers.append((type(raised.value), raised.value.message.replace(hers.id[-3:], "zzz")))
        assert answers[0] == answers[1], operation


class TestInvitations:
    @pytest.mark.parametrize("how", ["removed", "no longer an admin", "gone by themselves"])
    def test_those_of_somebody_who_may_invite_no_more_are_withdrawn(self, team, how):
        ada = team.new_team()
        eve = team.add(ada, "Eve", Role.ADMIN)
        code = eve.call("invite", name="Eve again", role="admin").code
        kept = ada.call("invite", name="Ben").code

        if how == "removed":
            ada.call("remove_member", person="Eve")
        elif how == "gone by themselves":
            eve.call("leave")
        else:
            ada.call("set_role", person="Eve", role="member")

        with pytest.raises(TokenRefused):
            join(team.address, code)
        assert join(team.address, kept)["me"]["name"] == "Ben"

    def test_an_owner_who_becomes_an_admin_has_invited_no_owner(self, team):
        ada = team.new_team()
        eve = team.add(ada, "Eve", Role.OWNER)
        owner = eve.call("invite", name="Mallory", role="owner").code
        member = eve.call("invite", name="Ben").code

        ada.call("set_role", person="Eve", role="admin")

        with pytest.raises(TokenRefused):
            join(team.address, owner)
        assert join(team.address, member)["me"]["role"] == "member"

    def test_one_that_nobody_has_used_is_withdrawn(self, ada, ben, team):
        code = ada.run("team", "invite", "Cleo", "--json").json["code"]
        assert ben.run("team", "invite", "Cleo", "--withdraw").code == 1

        withdrawn = ada.run("team", "invite", "Cleo", "--withdraw")

        assert withdrawn.out == "The invitation of Cleo is withdrawn.\n"
        assert "No unused invitation" in ada.run("team", "invite", "Cleo", "--withdraw").err
        with pytest.raises(TokenRefused):
            join(team.address, code)

    def test_of_several_for_one_name_all_or_none_are_withdrawn(self, team):
        ada = team.new_team()
        eve = team.add(ada, "Eve", Role.ADMIN)
        owner = ada.call("invite", name="Cleo", role="owner")
        member = ada.call("invite", name="Cleo")  # the newest is the first in the list

        with pytest.raises(OutOfScope):
            eve.call("withdraw_invite", name="Cleo")

        kept = {each.id for each in team.backend.directory.invites(ada.tenant)}
        assert kept == {owner.id, member.id}
        ada.call("withdraw_invite", name="Cleo")
        assert team.backend.directory.invites(ada.tenant) == []


class TestRepeatedRequests:
    @pytest.mark.parametrize("operation", ["invite", "create_token"])
    def test_a_secret_is_made_once_and_its_request_can_be_sent_again_after_a_refusal(self, team, operation):
        ada = team.new_team()
        with pytest.raises(RecollectError):
            ada.call(operation, name="Ben", key="k1", **_refused(operation))
        assert ada.call(operation, name="Ben", key="k1")

        with pytest.raises(Refused, match="asked for already") as refused:
            ada.call(operation, name="Ben", key="k1")

        assert "withdraw the invitation or revoke the token" in refused.value.hint
        assert "make another" in refused.value.hint
        tenant, directory = ada.tenant, team.backend.directory
        made = directory.invites(tenant) if operation == "invite" else directory.tokens(tenant)
        assert [each.name for each in made].count("Ben") == 1

    @pytest.mark.parametrize(("operation", "step"), [("invite", "invite"), ("create_token", "put_token")])
    def test_the_key_of_a_secret_can_be_used_again_after_a_mistake_of_the_server(
        self, team, monkeypatch, operation, step
    ):
        ada = team.new_team()
        with monkeypatch.context() as patch:
            patch.setattr(team.backend.directory, step, lambda *_: {}["our mistake"])
            with pytest.raises(RecollectError, match="KeyError on the server"):
                ada.call(operation, name="Ben", key="k1")

        assert ada.call(operation, name="Ben", key="k1").name == "Ben"

    def test_a_failure_is_told_although_the_key_cannot_be_freed(self, team, monkeypatch):
        ada = team.new_team()

        def fail(*_):
            raise StoreError("The database does not answer.")

        with monkeypatch.context() as patch:
            patch.setattr(team.backend.directory, "invite", lambda *_: {}["our mistake"])
            patch.setattr(PostgresStore, "drop_answer", fail)
            with pytest.raises(RecollectError, match="KeyError on the server"):
                ada.call("invite", name="Ben", key="k1")

        with pytest.raises(Refused) as refused:
            ada.call("invite", name="Ben", key="k1")
        assert "make another" in refused.value.hint
        assert ada.call("invite", name="Ben").code

    def test_two_servers_write_once_what_is_sent_to_both_at_once(self, team, home, postgres_team):
        ada = team.new_team()
        with running(postgres_team, home, FakeEmbedder()) as other:
            second = TeamClient(other.address, ada.token)
            receipts = []

            def send(client):
                sent = client.call("remember", {"content": "Tests need Redis"}, SHOP, "agent:claude", "k1")
                receipts.append(sent.id)

            threads = [threading.Thread(target=send, args=(each,)) for each in (ada.client, second) * 4]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            second.close()

        [memory] = ada.call("list")
        assert receipts == [memory.id] * 8
        assert memory.strength == 1


def _refused(operation):
    return {"days": 1, "role": "service"} if operation == "invite" else {"actions": ["fly"]}
