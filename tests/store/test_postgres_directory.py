"""People, invitations, tokens, consents and erasure in a team's database."""

import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.errors import Refused
from recollect.model import Message, Session, View, Visibility, new_id
from recollect.model.team import Invite, Role, Token
from samples import EVERYTHING, NOW, keep, memory, unit

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def directory(postgres_team):
    return postgres_team.directory


@pytest.fixture
def ada(directory):
    """The first owner of a team."""
    return directory.create_team("Shop", "Ada", NOW)


def token(person, **fields):
    return Token(new_id(), person.tenant, person.id, "laptop", f"hash {new_id()}", NOW, **fields)


def invite(person, **fields):
    values = {"name": "Bob", "role": Role.MEMBER, "code_hash": f"code {new_id()}", "expires_at": LATER}
    return Invite(
        id=new_id(), tenant=person.tenant, invited_by=person.id, created_at=NOW, **{**values, **fields}
    )


def test_a_team_begins_with_its_owner(directory, ada):
    assert directory.people(ada.tenant) == [ada]
    assert directory.team_name(ada.tenant) == "Shop"
    assert ada.tenant in directory.tenants()
    assert ada.role is Role.OWNER


def test_an_invitation_works_once_however_many_accept_it(directory, ada):
    made = invite(ada)
    directory.invite(made)
    assert directory.invites(ada.tenant) == [made]
    people = []
    threads = [
        threading.Thread(target=lambda: people.append(directory.accept(made.code_hash, NOW)))
        for _ in range(4)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    [bob] = [person for person in people if person is not None]
    assert (bob.name, bob.role, bob.is_flagged) == ("Bob", Role.MEMBER, True)
    assert directory.invites(ada.tenant) == []
    assert directory.accept("unknown", NOW) is None


def test_an_invitation_expires(directory, ada):
    made = invite(ada)
    directory.invite(made)

    assert directory.accept(made.code_hash, LATER) is None


def test_a_token_says_who_somebody_is_until_it_is_revoked_or_expires(directory, ada):
    plain = token(ada)
    narrow = token(
        ada, agent="ci", actions=frozenset({"read"}), projects=frozenset({"shop"}), expires_at=LATER
    )
    for each in (plain, narrow):
        directory.put_token(each)

    known = directory.identify(narrow.hash, NOW)

    assert (known.tenant, known.user, known.name, known.role) == (ada.tenant, ada.id, "Ada", Role.OWNER)
    assert (known.agent, known.actions, known.projects) == ("ci", {"read"}, {"shop"})
    assert directory.identify(narrow.hash, LATER) is None
    assert directory.identify("unknown", NOW) is None
    assert directory.revoke(ada.tenant, plain.id, NOW)
    assert not directory.revoke(ada.tenant, plain.id, NOW)
    assert directory.identify(plain.hash, NOW) is None
    directory.touch(ada.tenant, narrow.id, LATER)
    assert directory.tokens(ada.tenant, ada.id) == [
        replace(narrow, last_used_at=LATER),
        replace(plain, revoked_at=NOW),
    ]
    assert directory.tokens(ada.tenant, "somebody") == []


def test_someone_who_leaves_is_nobody_at_once_and_the_last_owner_cannot(directory, ada):
    made = invite(ada)
    directory.invite(made)
    bob = directory.accept(made.code_hash, NOW)
    his = token(bob)
    directory.put_token(his)
    assert directory.identify(his.hash, NOW).is_new

    directory.flag(ada.tenant, bob.id, False)
    assert not directory.identify(his.hash, NOW).is_new
    directory.remove(ada.tenant, bob.id, LATER)

    assert directory.identify(his.hash, LATER) is None
    left = {person.id: person.left_at for person in directory.people(ada.tenant)}
    assert left == {ada.id: None, bob.id: LATER}
    for attempt in (
        lambda: directory.remove(ada.tenant, ada.id, LATER),
        lambda: directory.set_role(ada.tenant, ada.id, Role.MEMBER),
        lambda: directory.erase(ada.tenant, ada.id, LATER),
        lambda: directory.set_role(ada.tenant, bob.id, Role.SERVICE),
    ):
        with pytest.raises(Refused):
            attempt()


def test_consents_hidden_memories_and_quotas_are_a_persons_own(directory, ada, postgres_team):
    tenant = ada.tenant
    directory.consent(tenant, ada.id, "embeddings", True, NOW)
    directory.consent(tenant, ada.id, "embeddings", True, LATER)
    assert directory.consents(tenant, ada.id) == {"embeddings": NOW}
    directory.consent(tenant, ada.id, "embeddings", False, LATER)
    assert directory.consents(tenant, ada.id) == {}

    store = postgres_team.store(_identity(ada))
    kept = keep(store, memory(user_id=ada.id))
    directory.hide(tenant, ada.id, kept.id, True)
    assert store.hidden() == {kept.id}
    directory.hide(tenant, ada.id, kept.id, False)
    assert store.hidden() == frozenset()

    assert directory.count_use(tenant, ada.id, "2026-01-01", "writes") == 1
    assert directory.count_use(tenant, ada.id, "2026-01-01", "writes", 4) == 5
    assert directory.count_use(tenant, "", "2026-01-01", "writes") == 1


def test_projects_are_listed_with_their_members(directory, ada, postgres_team):
    from recollect.model import Project

    postgres_team.store(_identity(ada)).put_project(Project("p1", "Shop", "/shop", ""), ["remote:shop"])
    directory.restrict(ada.tenant, "p1", frozenset({ada.id}))

    [shop] = directory.projects(ada.tenant)

    assert (shop.id, shop.name, shop.members) == ("p1", "Shop", {ada.id})
    directory.restrict(ada.tenant, "p1", None)
    assert directory.projects(ada.tenant)[0].members is None


def test_erasing_a_person_leaves_nothing_but_an_opaque_id_in_the_audit_log(
    directory, ada, postgres_team, postgres
):
    made = invite(ada)
    directory.invite(made)
    bob = directory.accept(made.code_hash, NOW)
    hers, his = postgres_team.store(_identity(ada)), postgres_team.store(_identity(bob))
    from recollect.model import Change, Link, Relation

    mine = keep(hers, memory("Hers.", user_id=ada.id, visibility=Visibility.TEAM))
    gone = keep(
        his, memory("Zebrafish are his.", user_id=bob.id, visibility=Visibility.TEAM, tags=("zebrafish",))
    )
    his.put_vector(gone.id, "fake", unit(1, 0))
    hers.put_link(Link(mine.id, gone.id, Relation.RELATES_TO, NOW))
    his.put_session(Session("s1", bob.id, "shop", NOW))
    his.messages.put([Message("s1", 0, "user", "zebrafish", NOW, bob.id, "shop")], None, None)
    change = Change(new_id(), ada.id, "shop", NOW, "user", "edit", "")
    with hers.changes.recorded(change):
        hers.put(replace(gone, content="Zebrafish swim.", fingerprint="x"))
    quoting = Link(mine.id, gone.id, Relation.CONTRADICTS, NOW, reason="'zebrafish' is over")
    hers.put_link(quoting)
    with hers.changes.recorded(replace(change, id=new_id(), action="unlink")):
        hers.drop_link(mine.id, gone.id, Relation.CONTRADICTS)
    tagged = replace(change, id=new_id(), action="tag")
    with hers.changes.recorded(tagged):
        hers.put(replace(mine, tags=("hers",)))
    directory.request_erasure(ada.tenant, bob.id, NOW, LATER)
    assert directory.due_erasures(ada.tenant, NOW) == []
    assert directory.due_erasures(ada.tenant, LATER) == [bob.id]

    erased = directory.erase(ada.tenant, bob.id, LATER)

    assert (
        erased.rows["memories"]
        == erased.rows["messages"]
        == erased.rows["sessions"]
        == erased.rows["people"]
        == 1
    )
    assert erased.rows["undo images"] == 2
    assert hers.changes.touched(tagged.id) == [mine.id]
    assert [each.id for each in hers.newest(replace(EVERYTHING, user_id=ada.id))] == [mine.id]
    assert hers.links(mine.id) == []
    assert [person.name for person in directory.people(ada.tenant)] == ["Ada"]
    assert directory.due_erasures(ada.tenant, LATER) == []
    assert hers.verify_audit().problem is None
    assert _texts_with(postgres, ada.tenant, "ebrafish") == []
    assert _texts_with(postgres, ada.tenant, "Bob") == []
    assert hers.match(View(ada.id, "shop"), "zebrafish", 5) == []


def test_an_invitation_of_somebody_who_was_erased_no_longer_works(directory, ada):
    first = invite(ada, role=Role.ADMIN)
    directory.invite(first)
    bob = directory.accept(first.code_hash, NOW)
    his, hers = invite(bob, code_hash="his"), invite(ada, code_hash="hers")
    for each in (his, hers):
        directory.invite(each)

    directory.erase(ada.tenant, bob.id, NOW)  # without `remove`, as when it is due

    assert directory.accept(his.code_hash, NOW) is None
    assert directory.accept(hers.code_hash, NOW) is not None


def test_an_erasure_can_be_withdrawn_while_it_waits(directory, ada):
    made = invite(ada)
    directory.invite(made)
    bob = directory.accept(made.code_hash, NOW)
    directory.request_erasure(ada.tenant, bob.id, NOW, LATER)
    assert [each.user for each in directory.erasures(ada.tenant)] == [bob.id]

    assert directory.withdraw_erasure(ada.tenant, bob.id)

    assert directory.due_erasures(ada.tenant, LATER) == []
    assert not directory.withdraw_erasure(ada.tenant, bob.id)
    with pytest.raises(Refused, match="last owner"):
        directory.request_erasure(ada.tenant, ada.id, NOW, LATER)


def _identity(person):
    from recollect.model.team import Identity

    return Identity(person.tenant, person.id, person.name, person.role)


def _texts_with(postgres, tenant, text):
    """The tables in which a row of the tenant has the text anywhere: read past the policies."""
    import psycopg

    from recollect.store.postgres.access import ACCESS

    with psycopg.connect(postgres.url("postgres"), options="-c search_path=recollect") as db:
        return [
            table
            for table in ACCESS
            if db.execute(
                f"SELECT 1 FROM {table} t WHERE tenant = %s AND t::text LIKE %s LIMIT 1",
                (tenant, f"%{text}%"),
            ).fetchone()
        ]
