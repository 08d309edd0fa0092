"""The schema of a team's database: migrations, partitions, row-level security, and the rights of the server's role.

The owner of the tables migrates; the server connects as another role, which owns nothing, has no right to a partition and
cannot bypass row-level security. `migrate` may run while servers are at work: steps only add, and a server of the
previous version goes on.
"""

from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from recollect.errors import StoreError, StoreTooNew
from recollect.store.postgres.access import ACCESS, policies

SCHEMA = "recollect"
PARTITIONS = 8  # of each table, by a hash of the tenant: enough to move some to another server
_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x7265636F6C6C  # of the advisory lock that one migration holds: "recoll"
Connection = psycopg.Connection[tuple[Any, ...]]


def newest_version() -> int:
    return len(_scripts())


def version_of(db: Connection) -> int:
    """Return the version of the schema; 0 if there is none."""
    known = db.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.schema_version",)).fetchone()
    if known is None or known[0] is None:
        return 0
    row = db.execute(f"SELECT version FROM {SCHEMA}.schema_version").fetchone()
    return int(row[0]) if row else 0


def migrate(url: str, server: str, partitions: int = PARTITIONS) -> int:
    """Bring the database to the newest version, as the owner of its tables; return the version it had.

    `server` is the role that the team server connects as. The number of `partitions` of each table is that of the first
    migration. Raise `StoreTooNew`, and `StoreError` if that role could bypass the policies.
    """
    with psycopg.connect(url, autocommit=False) as db:
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        _refuse_powerful(db, server)
        before = version_of(db)
        if before > newest_version():
            raise StoreTooNew(
                f"The database has version {before}, and this Recollect knows {newest_version()}.",
                "Upgrade Recollect on this server.",
            )
        db.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        db.execute(f"SET LOCAL search_path = {SCHEMA}")
        db.execute("CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)")
        for script in _scripts()[before:]:
            db.execute(script.read_text(encoding="utf-8"))
        _divide(db, _partitions(db) or partitions)
        _secure(db, server)
        db.execute("DELETE FROM schema_version")
        db.execute("INSERT INTO schema_version VALUES (%s)", (newest_version(),))
    return before


def _refuse_powerful(db: Connection, server: str) -> None:
    found = db.execute(
        "SELECT rolsuper OR rolbypassrls OR pg_has_role(oid, current_user, 'MEMBER') AND NOT rolsuper"
        " FROM pg_roles WHERE rolname = %s",
        (server,),
    ).fetchone()
    if found is None:
        raise StoreError(f"There is no role {server!r}.", f"Run: CREATE ROLE {server} LOGIN")
    if found[0]:
        raise StoreError(
            f"The role {server!r} could bypass the rules of who sees what.",
            "Give the server a role of its own that is no superuser, has no BYPASSRLS and is no member of the owner.",
        )


def _partitions(db: Connection) -> int:
    """Return how many partitions each table has; 0 before the first migration."""
    query = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'memories'::regclass"
    row = db.execute(query).fetchone()
    return int(row[0]) if row else 0


def _divide(db: Connection, partitions: int) -> None:
    """Create the partitions of tables that have none yet."""
    for table in ACCESS:
        for number in range(partitions):
            db.execute(
                f"CREATE TABLE IF NOT EXISTS {table}_{number} PARTITION OF {table}"
                f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number})"
            )


def _secure(db: Connection, server: str) -> None:
    """Make all policies and grants again, from the table in `access`. A forced parent does not cover its partitions."""
    role = sql.Identifier(server).as_string(db)
    db.execute(f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA} FROM PUBLIC, {role}")
    db.execute(f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {SCHEMA} FROM PUBLIC, {role}")
    db.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {role}")
    db.execute(f"GRANT SELECT ON schema_version TO {role}")
    for table in ACCESS:
        for name in (table, *(f"{table}_{number}" for number in range(_partitions(db)))):
            db.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    for policy, table in db.execute(
        "SELECT policyname, tablename FROM pg_policies WHERE schemaname = %s", (SCHEMA,)
    ).fetchall():
        db.execute(f"DROP POLICY {policy} ON {table}")
    for statement in policies():
        db.execute(statement.replace("{server}", role))


def _scripts() -> list[Path]:
    return sorted(_MIGRATIONS.glob("[0-9]*.sql"))
