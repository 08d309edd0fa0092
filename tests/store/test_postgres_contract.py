import psycopg
import pytest
from contract import StoreContract

from bench.local_postgres import OWNER
from recollect.errors import ContentRefused, Refused
from samples import EVERYTHING, MINE, NOW, keep, memory


@pytest.fixture
def open_store_as(open_postgres_as):
    return open_postgres_as


@pytest.fixture
def execute(postgres, tenant):
    """SQL past the store, as the owner of the tables would do it: the policies hold for the owner too,
    and let nobody change the audit log, so one is added for the moment.
    """

    def run(sql, *params):
        with psycopg.connect(postgres.url(OWNER), options="-c search_path=recollect") as db:
            db.execute("SELECT set_config('recollect.tenant', %s, true)", (tenant,))
            db.execute("SELECT set_config('recollect.role', 'service', true)")
            db.execute("CREATE POLICY tampering ON audit USING (true)")
            assert db.execute(sql, params).rowcount == 1
            db.execute("DROP POLICY tampering ON audit")

    return run


class TestPostgres(StoreContract):
    """The contract, by the PostgreSQL store; below, what only this store can be asked."""

    @pytest.mark.parametrize("fields", [{"content": "a\0b"}, {"file_paths": ("a\0b",)}, {"branch": "\0"}])
    def test_a_nul_is_refused_and_nothing_is_changed(self, store, fields):
        with pytest.raises(ContentRefused):
            keep(store, memory(**fields))

        assert store.count(EVERYTHING) == 0
        assert store.audit(5) == []

    def test_a_backslash_before_u0000_is_a_text(self, store):
        kept = keep(store, memory("Never write \\u0000 in JSON.", file_paths=("a\\u0000b",)))

        assert store.newest(MINE, file="a\\u0000b") == [kept]

    def test_what_stays_on_each_machine_is_refused(self, store):
        for ask in (store.episodes.size, store.pruned.drop_before, store.backup, store.vacuum, store.decrypt):
            with pytest.raises(Refused):
                ask()
        assert store.backup_age(NOW) is None
        assert store.info().version > 0
