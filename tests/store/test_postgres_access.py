"""Who may see and do what in a team's database, as the database itself decides it."""

import threading
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from psycopg import errors

from bench.local_postgres import OWNER, SERVER
from bench.team.isolation import Trial
from fakes import FakeClock, FakeEmbedder
from recollect.config import load_settings
from recollect.context.context import Context
from recollect.engine import Engine
from recollect.errors import MemoryNotFound, OutOfScope, StoreError
from recollect.model import (
    Finding,
    Message,
    Provenance,
    Reinforcement,
    Session,
    Source,
    View,
    Visibility,
    new_id,
)
from recollect.model.team import Identity, Role
from recollect.store.postgres.access import ACCESS
from recollect.store.postgres.schema import migrate
from samples import EVERYTHING, MINE, NOW, keep, memory, unit

BOB = View("bob", "shop")
PEOPLE = {"owner": Role.OWNER, "admin": Role.ADMIN, "member": Role.MEMBER, "reader": Role.READER}


@pytest.fixture
def ada(open_postgres_as):
    return open_postgres_as("ada", Role.MEMBER)


@pytest.fixture
def bob(open_postgres_as):
    return open_postgres_as("bob", Role.MEMBER)


@pytest.fixture
def server(postgres):
    """A connection of the server's role that has set nothing."""
    with psycopg.connect(postgres.url(SERVER), autocommit=True, options="-c search_path=recollect") as db:
        yield db


class TestWithoutATenant:
    def test_every_table_is_empty(self, server, ada):
        keep(ada, memory(visibility=Visibility.TEAM, tags=("one",)))

        tables = [
            row[0]
            for row in server.execute(
                "SELECT relname FROM pg_class WHERE relkind = 'p' AND relnamespace = 'recollect'::regnamespace"
            )
        ]
        assert set(tables) == set(ACCESS)
        assert {
            table: server.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables
        } == dict.fromkeys(tables, 0)

    def test_nothing_can_be_written(self, server):
        for table in ("memories", "tenants", "people", "settings"):
            with pytest.raises(
                (errors.InsufficientPrivilege, errors.UndefinedObject, errors.NotNullViolation)
            ):
                server.execute(f"INSERT INTO {table} (tenant) VALUES ('x')")
        assert server.execute("DELETE FROM memories").rowcount == 0

    def test_a_role_alone_opens_nothing(self, server, ada):
        keep(ada, memory(visibility=Visibility.TEAM))
        server.execute("SELECT set_config('recollect.role', 'service', false)")

        assert server.execute("SELECT count(*) FROM memories").fetchone() == (0,)


class TestTheServersRole:
    def test_it_owns_nothing_and_cannot_bypass_the_policies(self, server):
        found = server.execute(
            "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,"
            " (SELECT count(*) FROM pg_class WHERE relowner = r.oid)"
            " FROM pg_roles r WHERE rolname = current_user"
        ).fetchone()

        assert found == (False, False, False, False, 0)
        for statement in (
            f"SET ROLE {OWNER}",
            "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE memories NO FORCE ROW LEVEL SECURITY",
            "CREATE POLICY more ON memories USING (true)",
            "CREATE TABLE recollect.more (x int)",
            "TRUNCATE memories",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                server.execute(statement)

    def test_partitions_and_functions_cannot_be_reached(self, server):
        partitions = [
            row[0]
            for row in server.execute(
                "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'"
                " AND relnamespace = 'recollect'::regnamespace"
            )
        ]
        assert len(partitions) == 2 * len(ACCESS)
        for partition in partitions:
            with pytest.raises(errors.InsufficientPrivilege):
                server.execute(f"SELECT * FROM {partition}")
        assert server.execute("SELECT has_function_privilege('guard_memory()', 'EXECUTE')").fetchone() == (
            False,
        )

    def test_every_table_and_partition_has_forced_security_and_compares_the_tenant(self, server):
        unforced = server.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('p', 'r') AND relnamespace = 'recollect'::regnamespace"
            " AND relname <> 'schema_version' AND NOT (relrowsecurity AND relforcerowsecurity)"
        ).fetchall()
        comparing = server.execute(
            "SELECT tablename FROM pg_policies WHERE schemaname = 'recollect' AND policyname = 'tenant'"
            " AND permissive = 'RESTRICTIVE' AND cmd = 'ALL' AND qual LIKE '%recollect.tenant%'"
        ).fetchall()

        assert unforced == []
        assert {row[0] for row in comparing} == set(ACCESS)

    def test_a_role_that_could_go_around_the_policies_is_refused(self, postgres):
        with pytest.raises(StoreError, match="bypass"):
            migrate(postgres.url(OWNER), "postgres")
        with pytest.raises(StoreError, match="no role"):
            migrate(postgres.url(OWNER), "nobody_at_all")

    def test_migrating_again_changes_nothing(self, postgres, server):
        before = server.execute("SELECT count(*) FROM pg_policies").fetchone()

        assert migrate(postgres.url(OWNER), SERVER) > 0

        assert server.execute("SELECT count(*) FROM pg_policies").fetchone() == before


class TestMemories:
    @pytest.mark.parametrize("role", PEOPLE)
    def test_a_private_memory_is_seen_by_its_author_only(self, ada, open_postgres_as, role):
        kept = keep(ada, memory(visibility=Visibility.PRIVATE, tags=("one",)))
        ada.put_vector(kept.id, "fake", unit(1, 0))
        other = open_postgres_as("bob", PEOPLE[role])

        assert other.get_many([kept.id]) == {}
        assert other.newest(EVERYTHING) == other.newest(replace(EVERYTHING, user_id="bob")) == []
        assert other.vector(kept.id, "fake") is None
        assert other.match(EVERYTHING, kept.content, 5) == []
        assert list(other.texts_since(-1)) == list(other.vectors_since("fake", -1)) == []
        assert other.tags(EVERYTHING) == []
        assert other.with_fingerprint(EVERYTHING, kept.fingerprint) == []

    @pytest.mark.parametrize("role", PEOPLE)
    @pytest.mark.parametrize("visibility", [Visibility.PROJECT, Visibility.TEAM])
    def test_what_is_shared_is_read_by_all_and_changed_by_admins(
        self, ada, open_postgres_as, role, visibility
    ):
        kept = keep(ada, memory(visibility=visibility, tags=("one",)))
        other = open_postgres_as("bob", PEOPLE[role])
        changed = replace(kept, content="Use npm.", tags=("two",))

        assert other.newest(BOB) == [kept]
        if PEOPLE[role].is_admin:
            other.put(changed)
            assert ada.get(kept.id) == changed
            other.delete(kept.id)
            assert ada.newest(MINE) == []
        else:
            for attempt in (lambda: other.put(changed), lambda: other.delete(kept.id)):
                with pytest.raises(OutOfScope):
                    attempt()
            assert ada.get(kept.id) == kept

    def test_a_member_may_use_and_confirm_what_others_share_and_nothing_else(
        self, ada, bob, open_postgres_as
    ):
        kept = keep(ada, memory(visibility=Visibility.TEAM))
        again = Reinforcement(NOW, "agent:coder", said="npm is not used here")
        confirmed = replace(
            kept, strength=2, importance=0.9, access_count=1, last_accessed_at=NOW, reinforcements=(again,)
        )

        bob.put(confirmed)

        assert bob.get(kept.id) == confirmed
        assert ada.get(kept.id) == replace(confirmed, reinforcements=(replace(again, said=""),))
        for change in (
            {"state": "deleted"},
            {"trust": 0.1},
            {"user_id": "bob"},
            {"visibility": Visibility.PRIVATE},
        ):
            with pytest.raises(OutOfScope):
                bob.put(replace(confirmed, **change))
        with pytest.raises(OutOfScope):
            open_postgres_as("carl", Role.READER).put(replace(kept, strength=3))

    def test_nobody_writes_in_somebody_elses_name(self, bob, open_postgres_as):
        for store in (bob, open_postgres_as("carl", Role.OWNER)):
            with pytest.raises(OutOfScope):
                store.put(memory(user_id="ada"))
        with pytest.raises(OutOfScope):
            open_postgres_as("rea", Role.READER).put(memory(user_id="rea"))

    def test_what_a_person_said_is_shown_to_them_alone(self, ada, bob):
        said = Provenance(
            Source.EXTRACTED, NOW, session="s1", snippet="my password manager is …", reason="said once"
        )
        kept = keep(ada, memory(visibility=Visibility.TEAM, provenance=(said,)))

        seen = bob.get(kept.id)
        bob.put(replace(seen, strength=2))

        assert seen.provenance == (replace(said, snippet=""),)
        assert ada.get(kept.id).provenance == (said,)

    def test_links_need_two_ends_that_are_seen(self, ada, bob):
        shared, private = (
            memory("Shared.", visibility=Visibility.TEAM),
            memory("Private.", visibility=Visibility.PRIVATE),
        )
        keep(ada, shared, private)
        from recollect.model import Link, Relation

        ada.put_link(Link(shared.id, private.id, Relation.RELATES_TO, NOW))

        assert bob.links(shared.id) == bob.all_links(EVERYTHING) == []
        assert len(ada.links(shared.id)) == 1
        assert bob.neighbours(EVERYTHING, [shared.id], 5) == []
        with pytest.raises(MemoryNotFound):
            bob.put_link(Link(shared.id, private.id, Relation.CONTRADICTS, NOW))

    def test_readers_of_the_change_feed_start_again_when_something_is_hidden_from_them(self, ada, bob):
        kept = keep(ada, memory(visibility=Visibility.TEAM))
        _, before = bob.change()

        ada.put(replace(kept, visibility=Visibility.PRIVATE))

        assert bob.change()[1] != before
        assert list(bob.texts_since(-1)) == []


class TestProjects:
    def test_a_restricted_project_is_seen_by_its_members_and_admins(
        self, postgres_team, tenant, ada, bob, open_postgres_as
    ):
        kept = keep(ada, memory(visibility=Visibility.PROJECT))
        _, before = bob.change()

        postgres_team.directory.restrict(tenant, "shop", frozenset({"ada", "carl"}))

        assert bob.newest(EVERYTHING) == []
        assert bob.change()[1] != before
        assert open_postgres_as("carl", Role.READER).get(kept.id) == kept
        assert open_postgres_as("dora", Role.ADMIN).get(kept.id) == kept
        with pytest.raises(OutOfScope):
            bob.put(memory(user_id="bob"))
        postgres_team.directory.restrict(tenant, "shop", None)
        assert bob.newest(EVERYTHING) == [kept]

    def test_a_token_reaches_no_project_that_it_is_not_for(self, ada, open_postgres_as):
        here = keep(ada, memory("Here."))
        keep(ada, memory("There.", project_id="bank"))
        everywhere = keep(ada, memory("Everywhere.", project_id=None))
        token = open_postgres_as("ada", Role.MEMBER, projects=frozenset({"shop", 'odd "name", {x}'}))

        assert {each.id for each in token.newest(EVERYTHING)} == {here.id, everywhere.id}
        with pytest.raises(OutOfScope):
            token.put(memory(project_id="bank"))
        keep(token, memory("Odd.", project_id='odd "name", {x}'))

    def test_another_tenant_is_another_world(self, ada, postgres_team):
        kept = keep(ada, memory(visibility=Visibility.TEAM))
        other = postgres_team.store(Identity(new_id(), "ada", "Ada", Role.OWNER))

        assert other.get_many([kept.id]) == {}
        assert other.seq() == 0
        keep(other, kept)
        other.delete(kept.id)
        assert ada.get(kept.id) == kept


class TestSessions:
    def test_a_session_and_its_findings_are_private_until_shared_and_messages_always(
        self, ada, bob, postgres_team, tenant
    ):
        ada.put_session(Session("s1", "ada", "shop", NOW, active_at=NOW))
        ada.put_finding(Finding("f1", "s1", "mark", "fact", "Something.", NOW))
        ada.messages.put([Message("s1", 0, "user", "hi", NOW, "ada", "shop")], None, None)
        assert bob.live_sessions("shop", NOW) == bob.findings("s1") == []

        ada.share_session("s1", True)

        assert [each.id for each in bob.live_sessions("shop", NOW)] == ["s1"]
        assert [each.id for each in bob.findings("s1")] == ["f1"]
        assert bob.messages.session("ada", "s1") == []
        bob.share_session("s1", False)  # not his
        assert bob.live_sessions("shop", NOW + timedelta(hours=1)) == []
        postgres_team.directory.restrict(tenant, "shop", frozenset({"ada"}))
        assert bob.findings("s1") == bob.live_sessions("shop", NOW) == []

    def test_the_audit_log_is_read_by_admins_and_each_persons_own_lines_by_them(
        self, ada, bob, open_postgres_as
    ):
        keep(ada, memory())
        keep(bob, memory("Other.", user_id="bob"))

        assert len(ada.audit(9)) == len(bob.audit(9)) == 1
        assert len(open_postgres_as("carl", Role.ADMIN).audit(9)) == 2
        assert open_postgres_as("carl", Role.ADMIN).verify_audit().problem is None
        with pytest.raises(OutOfScope):
            ada.verify_audit()


class TestTogether:
    def test_two_who_state_the_same_at_once_leave_one_memory_of_strength_two(self, open_postgres_as, home):
        engines = [
            Engine(
                Context(
                    load_settings(home), open_postgres_as("ada"), FakeEmbedder(), FakeClock(), project=None
                )
            )
            for _ in range(2)
        ]
        for engine in engines:
            object.__setattr__(engine.context.settings, "user", "ada")
        ready = threading.Barrier(2)

        def state(engine):
            ready.wait()
            engine.remember("Deploys run on Friday after the nightly build.")

        threads = [threading.Thread(target=state, args=(engine,)) for engine in engines]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        [kept] = engines[0].store.newest(EVERYTHING)
        assert kept.strength == 2

    def test_a_request_that_is_sent_again_finds_its_answer(self, ada, bob):
        with ada.transaction():
            assert ada.once("key") is None
            ada.keep_answer("key", '{"id": 1}', NOW)

        assert ada.once("key") == '{"id": 1}'
        assert bob.once("key") is None

    def test_reads_share_a_transaction_until_something_is_written(self, ada, bob):
        with ada.reading_together():
            before = _transactions(ada), _transactions(ada)
            keep(ada, memory())
            assert ada.count(EVERYTHING) == 1
            keep(bob, memory("Other.", user_id="bob", visibility=Visibility.TEAM))
            assert ada.count(EVERYTHING) == 2
            after = _transactions(ada)
        with pytest.raises(MemoryNotFound), ada.reading_together():
            ada.get("unknown")

        assert before[0] == before[1] != after
        assert ada.count(EVERYTHING) == 2

    def test_settings_that_are_read_together_are_those_of_the_moment(self, ada, bob):
        ada.set_setting(None, "memory", False)
        ada.set_setting("shop", "memory", True)
        with ada.reading_together():
            assert (ada.setting(None, "memory"), ada.setting("shop", "memory")) == (False, True)
            assert ada.setting(None, "auto") is None
            ada.set_setting(None, "memory", True)
            assert ada.setting(None, "memory") is True
        with bob.reading_together():
            assert bob.setting(None, "memory") is None

    def test_notices_name_ids_only(self, ada, postgres_team, tenant):
        notices, kept = [], []

        def listen():
            for notice in postgres_team.listen(lambda: bool(notices)):
                notices.extend([notice] if notice.tenant == tenant else [])

        thread = threading.Thread(target=listen)
        thread.start()
        while thread.is_alive():
            kept.append(keep(ada, memory(f"Secret {len(kept)}.")))
            thread.join(0.05)

        assert (notices[0].tenant, notices[0].project_id) == (tenant, "shop")
        assert 0 < notices[0].seq <= ada.seq()


def _transactions(store):
    """When the transaction began in which the store reads now."""
    with store._db.reading() as db:
        return db.execute("SELECT now()").fetchone()


def test_random_operations_show_nobody_a_row_too_many_or_too_few(postgres_team):
    outcome = Trial(postgres_team, teams=4, people=5, seed=7).run(300)

    assert (outcome.too_many, outcome.too_few) == ([], [])
    assert outcome.compared > 150 and outcome.refused > 20 and outcome.rows > 200
