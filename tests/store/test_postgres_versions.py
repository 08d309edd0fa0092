"""What a server of the version before needs of the database still holds after migrations: it goes on during an upgrade."""

import json
from pathlib import Path

import psycopg
import pytest

from recollect.store.postgres.schema import newest_version

BEFORE = json.loads((Path(__file__).parent / "fixtures" / "postgres-0.2.0.json").read_text(encoding="utf-8"))
COLUMNS = """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull AND NOT a.atthasdef
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'recollect' AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('p', 'r') AND NOT c.relispartition
"""


@pytest.fixture
def database(postgres):
    """A database with all tables, in a transaction that is taken back."""
    with psycopg.connect(postgres.url("postgres"), options="-c search_path=recollect") as db:
        yield db
        db.rollback()


def problems(db):
    """Return what stops a server of version 0.2.0 in this database."""
    found = {(table, column): (kind, needed) for table, column, kind, needed in db.execute(COLUMNS)}
    known = {(table, column): kind for table, columns in BEFORE.items() for column, kind in columns.items()}
    gone = [f"{table}.{column} is gone" for table, column in known.keys() - found.keys()]
    other = [
        f"{table}.{column} is {found[table, column][0]}"
        for (table, column), kind in known.items()
        if (table, column) in found and found[table, column][0] != kind
    ]
    needed = [
        f"{table}.{column} has no default"
        for (table, column), (_, is_needed) in found.items()
        if is_needed and table in BEFORE and (table, column) not in known
    ]
    return sorted((*gone, *other, *needed))


def test_a_server_of_the_last_version_finds_every_column_and_can_insert(database):
    assert problems(database) == []


def test_a_server_of_the_last_version_takes_the_newer_schema_for_ready(database):
    [(version,)] = database.execute("SELECT version FROM schema_version").fetchall()

    assert version == newest_version() >= 4  # the one of 0.2.0, which only asks for at least its own


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ("ALTER TABLE gaps DROP COLUMN context", "gaps.context is gone"),
        ("ALTER TABLE usage ALTER COLUMN count TYPE integer", "usage.count is integer"),
        (
            "ALTER TABLE gaps ADD COLUMN mood text NOT NULL DEFAULT ''; ALTER TABLE gaps ALTER mood DROP DEFAULT",
            "gaps.mood has no default",
        ),
    ],
)
def test_a_migration_that_would_stop_it_is_noticed(database, step, problem):
    database.execute(step)

    assert problems(database) == [problem]
