"""Erasure, export, consent and retention, where people meet them."""

import base64
import json
from datetime import timedelta

import pytest

import recollect.model as m
from fakes import FakeClock, FakeEmbedder
from recollect.config import load_settings
from recollect.engine import Engine
from recollect.errors import ContentRefused, OutOfScope, Refused, TokenRefused
from recollect.model.team import Identity, Role
from recollect.remote.wire import PREFIX
from team_people import Host
from team_server import running


@pytest.fixture
def clock():
    return FakeClock(m.utc_now())


@pytest.fixture
def team(home, postgres_team, clock):
    """A team server with a clock that can be moved."""
    with running(postgres_team, home, FakeEmbedder(), clock=clock) as team:
        yield team


def everything_in(postgres, tenant):
    """All rows of a tenant as text, read past the policies."""
    import psycopg

    from recollect.store.postgres.access import ACCESS

    with psycopg.connect(postgres.url("postgres"), options="-c search_path=recollect") as db:
        return "\n".join(
            str(row[0])
            for table in ACCESS
            for row in db.execute(f"SELECT t::text FROM {table} t WHERE tenant = %s", (tenant,))
        )


def test_erasure_waits_30_days_in_which_it_can_be_taken_back(team, ada, ben, clock):
    ben.run("remember", "Zebrafish are striped", "--visibility", "team")

    said = ben.run("team", "erase-me", "--confirm", "Ben")
    assert "will be erased on" in said.out
    assert ben.run("search", "zebrafish", "--json").json["results"]  # until then all goes on
    assert ben.run("team", "erase-me", "--cancel").code == 0
    clock.advance(days=31)
    team.app.jobs.run_once()
    assert ben.run("search", "zebrafish", "--json").json["results"]

    ben.run("team", "erase-me", "--confirm", "Ben")
    clock.advance(days=29)
    team.app.jobs.run_once()
    assert ben.run("search", "zebrafish", "--json").json["results"]
    clock.advance(days=2)
    team.app.jobs.run_once()

    assert ada.run("search", "zebrafish", "--json").json["results"] == []
    assert ben.run("whoami").code == 1
    [erased] = ada.run("team", "erasures", "--json").json["erasures"]
    assert erased["rows"]["memories"] == 1
    assert "memories: 1" in ada.run("team", "erasures").out


def test_erasure_at_once_leaves_nothing_but_an_opaque_id_and_the_audit_chain_holds(team, postgres):
    ada = team.new_team()
    ben = team.add(ada, "Benedikt")
    hers = ada.call("remember", content="Run the tests with make check", visibility="team", kind="convention")
    ben.call("remember", content="Zebrafish are striped", visibility="team", tags=["zebrafish"])
    ben.call("remember", content="Run the tests with make check", visibility="team", kind="convention")
    at = m.utc_now()
    session = m.Session("s1", "", None, at, "claude", "claude-code")
    ben.call("publish", session=session, findings=[m.Finding("f1", "s1", "", "gotcha", "Zebrafish bite", at)])
    ben.call("search", query="do zebrafish sleep at night")
    assert "ebrafish" in everything_in(postgres, ada.tenant)

    with pytest.raises(Refused, match="your name"):
        ben.call("erase_me", confirm="Ben", at_once=True)
    erasure = ben.call("erase_me", confirm="Benedikt", at_once=True)

    team.app.engines.process_searches()  # of a moment ago

    assert erasure.rows["memories"] >= 1
    left = everything_in(postgres, ada.tenant)
    assert "ebrafish" not in left
    assert "Benedikt" not in left
    assert ada.call("get", name=hers.id).content == "Run the tests with make check"
    with pytest.raises(TokenRefused):
        ben.call("whoami")
    service = team.backend.store(Identity(ada.tenant, "", "", Role.SERVICE))
    assert service.verify_audit().problem is None
    with pytest.raises(Refused, match="No erasure"):
        ada.call("keep_me")
    with pytest.raises(Refused, match="last owner"):
        ada.call("erase_me", confirm="Ada")


def test_nothing_of_a_person_is_left_in_what_others_did_with_it(team, postgres):
    ada = team.new_team()
    ben, cleo = team.add(ada, "Benedikt"), team.add(ada, "Cleo")
    his = ben.call("remember", content="Zebrafish are striped", visibility="team", kind="fact").id
    hers = ada.call("remember", content="Tests need Redis", visibility="team", kind="fact", key="hers").id
    ada.call("edit", name=his, importance=0.9)
    ada.call("tag", name=his, add=["fish"])
    ada.call("pin", name=his, on=True)
    ada.call("link", source=hers, target=his)
    ada.call("forget", name=his)
    ada.call("restore", name=his)
    cleo.call("feedback", name=his, helpful=True, key="again")
    cleo.call("hide", name=his)
    ada.call("wrong", name=his, because="Nobody has seen one")

    erasure = ben.call("erase_me", confirm="Benedikt", at_once=True)

    left = everything_in(postgres, ada.tenant)
    assert "ebrafish" not in left
    assert "Benedikt" not in left
    assert erasure.rows["answers to others"] >= 6
    with pytest.raises(Refused, match="done already"):
        cleo.call("feedback", name=his, helpful=True, key="again")
    again = ada.call("remember", content="Tests need Redis", visibility="team", kind="fact", key="hers")
    assert again.id == hers  # answers that tell nothing of the person stay


def test_everything_of_a_person_is_exported_as_json_and_as_markdown(ada, ben, tmp_path):
    ben.run("remember", "Zebrafish are striped", "--kind", "fact")
    ada.run("remember", "Hers alone", "--visibility", "team")
    ben.run("search", "what do zebrafish eat at night")

    assert ben.run("team", "export", str(tmp_path / "me.json"), "--mine").code == 0
    assert ben.run("team", "export", str(tmp_path / "me.md"), "--mine").code == 0

    data = json.loads((tmp_path / "me.json").read_text())
    assert [memory["content"] for memory in data["memories"]] == ["Zebrafish are striped"]
    assert "server" in data["me"]["consents"]
    assert len(data["tokens"]) == 1
    assert "hash" not in data["tokens"][0]
    page = (tmp_path / "me.md").read_text()
    assert "## shop\n\n- Zebrafish are striped" in page
    assert "## Tokens" in page
    assert "Hers alone" not in page + json.dumps(data)


def test_the_export_of_a_person_has_a_row_for_every_row_of_theirs(
    team, ada, ben, postgres, tmp_path, monkeypatch
):
    import psycopg

    monkeypatch.setattr("recollect.remote.administration.PAGE", 3)
    hers = ada.run("remember", "Tests need Redis", "--visibility", "team", "--json").json["id"]
    ben.run("remember", "Zebrafish are striped", "--kind", "fact")
    ben.run("team", "hide", hers)
    ben.run("search", "what do zebrafish eat at night")
    team.app.engines.process_searches()
    ben.run("team", "erase-me", "--confirm", "Ben")
    [him] = [each for each in ada.run("team", "members", "--json").json["members"] if each["name"] == "Ben"]

    ben.run("team", "export", str(tmp_path / "me.json"), "--mine")

    data = json.loads((tmp_path / "me.json").read_text())
    with psycopg.connect(postgres.url("postgres"), options="-c search_path=recollect") as db:
        query = "SELECT table_name FROM information_schema.columns WHERE column_name = 'user_id' AND table_schema = 'recollect'"
        tables = [name for (name,) in db.execute(query) if not name[-1].isdigit()]
        counts = {
            name: db.execute(f"SELECT count(*) FROM {name} WHERE user_id = %s", (him["id"],)).fetchone()[0]
            for name in tables
        }
    del data["me"]
    assert {name: len(rows) for name, rows in data.items()} == {name: n for name, n in counts.items() if n}
    assert {"memories", "audit", "hidden_memories", "gaps", "erasures", "consents", "people"} <= set(data)


def test_an_admin_erases_somebody_who_has_left_and_nobody_who_is_there(ada, ben):
    ben.run("remember", "Zebrafish are striped", "--visibility", "team")
    assert "No single person who has left" in ada.run("team", "erase", "Ben", "--confirm", "Ben").err
    assert ben.run("team", "members", "--left").code == 1
    ben.run("team", "leave")
    assert "Ben" in ada.run("team", "members", "--left").out
    assert "needs the name" in ada.run("team", "erase", "Ben", "--confirm", "Bert").err

    said = ada.run("team", "erase", "Ben", "--confirm", "Ben")

    assert "memories: 1" in said.out
    assert ada.run("search", "zebrafish", "--json").json["results"] == []
    assert ada.run("team", "members", "--left").err == "Nobody.\n"
    assert ada.run("team", "erasures", "--json").json["erasures"][0]["rows"]["memories"] == 1


def test_a_reader_logs_in_hides_revokes_consent_and_erases_themselves(team, ada, person):
    rita = person("rita")
    code = ada.run("team", "invite", "Rita", "--role", "reader", "--json").json["code"]
    hers = ada.run("remember", "Tests need Redis", "--visibility", "team", "--json").json["id"]

    assert rita.run("login", team.address, "--code", code, "--yes").code == 0
    assert rita.run("remember", "Nothing").code == 1
    assert rita.run("team", "hide", hers).code == 0
    assert rita.run("search", "redis", "--json").json["results"] == []
    assert rita.run("team", "consent", "server", "--revoke").code == 0
    assert rita.run("team", "erase-me", "--confirm", "Rita", "--now").code == 0

    assert "Rita" not in ada.run("team", "members").out
    assert ada.run("search", "redis", "--json").json["results"]


def test_somebody_who_no_longer_agrees_has_nothing_more_stored(ada, ben):
    assert "server: since" in ben.run("team", "consent").out

    assert ben.run("team", "consent", "server", "--revoke").code == 0
    refused = ben.run("remember", "Zebrafish are striped")
    assert refused.code == 1
    assert "no longer agree" in refused.err
    assert ada.run("remember", "Others go on").code == 0

    ben.run("team", "consent", "server")
    assert ben.run("remember", "Zebrafish are striped").code == 0


def test_a_team_decides_how_long_it_keeps_what_it_stores(team, ada, ben, clock):
    old = ada.run("remember", "Zebrafish are striped", "--visibility", "team", "--json").json["id"]
    used = ada.run("remember", "Somebody changes this", "--visibility", "team", "--json").json["id"]
    pinned = ada.run("remember", "Never forget the pinned one", "--visibility", "team", "--json").json["id"]
    ada.run("pin", pinned)

    assert ben.run("team", "retention", "--unused", "90").code == 1
    assert (
        "for 90 days is forgotten" in ada.run("team", "retention", "--unused", "90", "--forgotten", "7").out
    )
    clock.advance(days=60)
    ada.run("edit", used, "--importance", "0.9")
    clock.advance(days=31)
    team.app.jobs.run_once()

    listed = {memory["id"] for memory in ada.run("list", "--json").json["memories"]}
    assert listed == {used, pinned}
    clock.advance(days=8)
    team.app.jobs.run_once()
    assert ada.run("show", old).code == 1


def test_answers_counts_and_old_invitations_are_not_kept_for_ever(team, clock, postgres):
    ada = team.new_team()
    ada.call("remember", content="Zebrafish are striped", key="a-key")
    ada.call("invite", name="Benedikt")
    team.backend.directory.count_use(ada.tenant, ada.id, clock().date().isoformat(), "writes")
    before = everything_in(postgres, ada.tenant)
    assert "Benedikt" in before and ",writes," in before and before.count("Zebrafish") == 2

    clock.advance(days=40)
    team.app.jobs.run_once()

    left = everything_in(postgres, ada.tenant)
    assert "Benedikt" not in left and ",writes," not in left and "a-key" not in left
    assert left.count("Zebrafish") == 2  # the memory and its summary


def test_a_job_that_fails_for_one_team_is_done_for_the_others(team, clock, monkeypatch):
    ada, eve = team.new_team("Shop"), team.new_team("Bank", "Eve")
    gone = [team.add(owner, "Ben") for owner in (ada, eve)]
    for person in gone:
        person.call("erase_me", confirm="Ben")
    erase = team.backend.directory.erase
    monkeypatch.setattr(
        team.backend.directory,
        "erase",
        lambda tenant, user, at: erase(tenant, user, at) if tenant == eve.tenant else {}["our mistake"],
    )
    clock.advance(days=31)

    team.app.jobs.run_once()

    assert [erasure.done_at is not None for erasure in eve.call("erasures")] == [True]
    assert [erasure.done_at for erasure in ada.call("erasures")] == [None]


def test_jobs_of_one_team_leave_the_others_alone(team, clock):
    ada, eve = team.new_team("Shop"), team.new_team("Bank", "Eve")
    eve.call("remember", content="The bank stays")
    ada.call("set_retention", forgotten_days=1, unused_days=1)
    ada.call("remember", content="The shop goes")
    clock.advance(days=3)

    team.app.jobs.run_once()

    assert [memory.content for memory in eve.call("list")] == ["The bank stays"]
    assert ada.call("list") == ()
    with pytest.raises(OutOfScope):
        team.add(ada, "Mo").call("set_retention", unused_days=1)
    assert clock() - m.utc_now() > timedelta(days=2)


def test_in_private_mode_private_memories_stay_on_the_machine_and_are_found_there(
    team, ada, person, postgres
):
    ben = person("ben")
    invited = ada.run("team", "invite", "Ben", "--json").json
    ben.run("login", team.address, "--code", invited["code"], "--private-mode", "--yes")
    ada.run("remember", "The zebra crossing is painted on Fridays", "--visibility", "team")

    mine = ben.run("remember", "My zebra is called Otto", "--json").json["id"]

    found = ben.run("search", "zebra", "--json").json["results"]
    assert {hit["memory"]["content"] for hit in found} == {
        "My zebra is called Otto",
        "The zebra crossing is painted on Fridays",
    }
    assert len(ben.run("list", "--json").json["memories"]) == 2
    assert "Otto" in ben.run("show", mine).out
    assert "Otto" in ben.run("recall", "what is my zebra called").out
    assert "Otto" not in ada.run("search", "zebra").out
    tenant = team.backend.directory.tenants()
    assert not any("Otto" in everything_in(postgres, each) for each in tenant)
    assert not any(b"Otto" in path.read_bytes() for path in ben.home.rglob("*") if path.is_file())

    ben.run("edit", mine, "--visibility", "team")
    assert "Otto" in ada.run("search", "zebra called").out
    assert len(ben.run("list", "--json").json["memories"]) == 2


def test_private_mode_tells_agents_what_is_private_also_without_the_server(team, ada, monkeypatch):
    monkeypatch.setattr("recollect.remote.client.PAUSE", 0.0)
    assert ada.run("team", "private-mode", "on").code == 0
    ada.run("remember", "Always call the zebra Otto in tests", "--kind", "preference")
    host = Host(ada)

    assert "Otto" in host.hook("SessionStart", source="startup")
    team.stop()

    assert "Otto" in host.hook("SessionStart", session="s2", source="startup")
    assert "Memory unavailable: offline" in ada.run("search", "zebra").err
    host.close()
    team.start()
    assert "On this machine: 1 memory, not found until" in ada.run("team", "private-mode", "off").out
    assert ada.run("list", "--json").json["memories"] == []


def test_vectors_are_made_on_the_client_if_the_person_says_so(home, postgres_team, person):
    on_server, on_client = FakeEmbedder(), FakeEmbedder()
    with running(postgres_team, home, on_server) as team:
        owner, ada = team.new_team(), person("ada")
        said = ada.run("login", team.address, "--token", owner.token, "--embeddings", "client", stdin="y\n")
        assert "Vectors are made on this machine." in said.err
        assert "embeddings" not in ada.run("team", "consent").out
        with Engine.open(ada.folder, settings=load_settings(ada.home), embedder=on_client) as engine:
            receipt = engine.remember("The vault opens at nine", visibility="team")
            found = engine.search("when does the vault open")
            engine.memory.describe(receipt.id, ["who has the keys"])

        assert [hit.memory.id for hit in found.results] == [receipt.id]
        assert on_server.texts == []
        assert "The vault opens at nine" in on_client.texts
        store = team.backend.store(Identity(owner.tenant, owner.id, "Ada", Role.OWNER))
        assert store.vector(receipt.id, on_client.model) is not None
        assert "who has the keys" in on_client.texts
        assert store.vector(receipt.id, on_client.model + m.WHEN_MODEL) is not None
        with pytest.raises(Refused, match="another"):
            owner.client.call("search", {"query": "vault"}, embedder=FakeEmbedder("another"))


def test_the_server_makes_no_vectors_for_somebody_who_does_not_agree_to_it(home, postgres_team):
    on_server = FakeEmbedder()
    with running(postgres_team, home, on_server) as team:
        ada = team.new_team()
        ada.call("consent", what="embeddings", on=False)

        said = ada.call("remember", content="The vault opens at nine", visibility="team")
        found = ada.call("search", query="vault")
        ada.call("edit", name=said.id, content="The vault opens at ten")

        assert [hit.memory.id for hit in found.results] == [said.id]
        assert on_server.texts == []

        ada.call("consent", what="embeddings")
        ada.call("search", query="vault")
        assert "vault" in " ".join(on_server.texts)


def test_a_vector_that_makes_no_sense_is_refused(team):
    ada = team.new_team()
    address = f"{PREFIX}/search"
    for row in ("?", "AAAA", base64.b64encode(b"\0" * 4 * FakeEmbedder().dim).decode()):
        vectors = {"model": FakeEmbedder().model, "rows": {"vault": row}}
        body = json.dumps({"arguments": {"query": "vault"}, "vectors": vectors}).encode()

        with pytest.raises(ContentRefused):
            ada.client.request("POST", address, body)
