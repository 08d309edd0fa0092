"""Stores of every older schema version are migrated, and export what they exported before."""

import gzip
import io
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

import recollect.model as m
from recollect.memory.maintenance.undo import undo
from recollect.memory.transfer.export import export
from recollect.store import open_store

FIXTURES = Path(__file__).parent / "fixtures"
EVERYTHING = m.View("ada", all_projects=True, all_sessions=True, states=m.ALL_STATES)
EXPORTED_AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
UNDONE_AT = datetime(2026, 3, 20, 12, tzinfo=UTC)

VERSIONS = sorted(path.name.removesuffix(".db.gz") for path in FIXTURES.glob("*.db.gz"))
# Version 5 kept no digest of the memories a change created, so they count as changed since.
LEFT_ALONE = {("v05", "merge"): 2}
WITH_CHANGES = [version for version in VERSIONS if version >= "v05"]


@pytest.fixture
def open_version(home):
    opened = []

    def open_one(version):
        path = home / "recollect.db"
        path.write_bytes(gzip.decompress((FIXTURES / f"{version}.db.gz").read_bytes()))
        opened.append(open_store(path, "ada"))
        return opened[0]

    yield open_one
    for store in opened:
        store.close()


def exported(store):
    out = io.StringIO()
    export(store, EVERYTHING, out, EXPORTED_AT, messages=True, model="fake")
    return out.getvalue().replace('"when_needed":[],', "")  # a field that these stores did not have


def test_there_is_a_store_of_every_version_that_was_released():
    assert VERSIONS == ["v02", "v04", "v05", "v08", "v09", "v13"]


@pytest.mark.parametrize("version", VERSIONS)
def test_an_old_store_is_migrated_and_exports_the_same_bytes(open_version, version):
    store = open_version(version)

    assert store.check() == []
    assert store.verify_audit().problem is None
    assert exported(store) == (FIXTURES / f"{version}.export.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("version", WITH_CHANGES)
def test_changes_recorded_by_older_code_can_be_undone(open_version, version):
    store = open_version(version)

    for change in [*store.changes.newest("ada", "bank", 9), *store.changes.newest("ada", "shop", 9)]:
        undone = undo(store, change, "user", UNDONE_AT)
        assert len(undone.left_alone) == LEFT_ALONE.get((version, change.action), 0)

    assert store.check() == []
    assert exported(store) == (FIXTURES / f"{version}.undone.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("version", VERSIONS)
def test_settings_gaps_and_tags_of_an_old_store_belong_to_its_user(open_version, home, version):
    store = open_version(version)
    other = open_store(home / "recollect.db", "bob")

    assert store.setting(None, "agreed") == ["https://llm.example.org"]
    assert other.setting(None, "agreed") is None
    assert [gap.context for gap in store.gaps("shop", 9)] == ["how are invoices numbered"]
    assert other.gaps("shop", 9) == []
    other.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_settings_are_not_lost_if_somebody_else_migrates_the_store(home, version):
    path = home / "recollect.db"
    path.write_bytes(gzip.decompress((FIXTURES / f"{version}.db.gz").read_bytes()))
    db = apsw.Connection(str(path))
    db.execute("INSERT INTO settings VALUES ('shop', 'memory', 'false')")
    db.close()

    bob, ada = open_store(path, "bob"), open_store(path, "ada")

    assert bob.setting("shop", "memory") is False
    assert ada.setting("shop", "memory") is False
    assert ada.setting(None, "agreed") is None  # nobody knows who agreed
    bob.close()
    ada.close()


def test_the_mark_of_a_forgotten_project_goes_to_the_user_who_forgot_it(home):
    path = home / "recollect.db"
    path.write_bytes(gzip.decompress((FIXTURES / "v13.db.gz").read_bytes()))
    db = apsw.Connection(str(path))
    change = db.execute("SELECT id FROM changes WHERE user_id = 'ada' LIMIT 1").get
    mark = {"at": "2026-03-01T12:00:00.000000Z", "change": change}
    db.execute("INSERT OR REPLACE INTO settings VALUES ('mill', 'forgotten', ?)", (m.dumps(mark),))
    db.close()

    bob, ada = open_store(path, "bob"), open_store(path, "ada")

    assert ada.setting("mill", "forgotten") == mark
    assert bob.setting("mill", "forgotten") is None
    bob.close()
    ada.close()
