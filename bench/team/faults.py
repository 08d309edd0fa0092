"""Faults: clients write without pause while the database is killed, cut off, replaced by its replica, and restored.

Each client writes under a key and repeats a write that was not acknowledged under the same key, as the team server does. At the
end every acknowledged write must be there, and each only once.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg

import recollect.model as m
from bench.local_postgres import OWNER, SERVER, LocalPostgres
from recollect.errors import RecollectError
from recollect.model.team import Identity, Role
from recollect.store.postgres.store import PostgresStore
from recollect.store.postgres.team import PostgresTeam

CLIENTS = 4
EVERYTHING = m.View("ada", all_projects=True, all_sessions=True, states=m.ALL_STATES)


@dataclass
class Writers:
    """Clients that write until they are stopped, and what was acknowledged to them."""

    backend: PostgresTeam
    identity: Identity
    acknowledged: dict[str, str] = field(default_factory=dict)  # key → id
    repeated: int = 0
    longest: float = 0.0  # seconds that one write took, with all its repetitions

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(number,)) for number in range(CLIENTS)]

    def __enter__(self) -> "Writers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, more: int) -> None:
        """Wait until so many more writes were acknowledged."""
        wanted = len(self.acknowledged) + more
        while len(self.acknowledged) < wanted:
            time.sleep(0.02)

    def _write(self, number: int) -> None:
        store, count = self.backend.store(self.identity), 0
        while not self._stop.is_set():
            count += 1
            key, begun = f"{number}-{count}", time.monotonic()
            while (name := _write_once(store, key)) is None:
                self.repeated += 1
                time.sleep(0.02)
            self.acknowledged[key] = name
            self.longest = max(self.longest, time.monotonic() - begun)


def _write_once(store: Any, key: str) -> str | None:
    """Write a memory under the key and return its id; None if it is not known whether it was written."""
    now = m.utc_now()
    content = f"Write {key} is kept."
    memory = m.Memory(
        id=m.new_id(now),
        user_id=store.user_id,
        project_id="shop",
        scope=m.Scope.PROJECT,
        kind="fact",
        content=content,
        summary=content,
        fingerprint=m.fingerprint(content),
        created_at=now,
        updated_at=now,
        valid_from=now,
        provenance=(m.Provenance(m.Source.OBSERVED, now),),
    )
    try:
        with store.transaction():
            if (answer := store.once(key)) is not None:
                return str(answer)
            store.log("add", "agent:bench", now, memory.id, {})
            store.put(memory)
            store.keep_answer(key, memory.id, now)
    except RecollectError:
        return None
    return memory.id


def killed(server: LocalPostgres, writers: Writers) -> None:
    server.kill()
    server.start()


def cut(server: LocalPostgres, writers: Writers) -> None:
    """Close every connection of the clients from the other side, in the middle of what they do."""
    with psycopg.connect(server.url("postgres", "postgres"), autocommit=True) as db:
        db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", (SERVER,))


def _measure(fault: Callable[[LocalPostgres, Writers], None], times: int) -> dict[str, float]:
    server = LocalPostgres(durable=True)
    try:
        server.create()
        server.start()
        server.prepare(partitions=2)
        return _under_fault(server, server.url(SERVER), fault, times)
    finally:
        server.stop()


def _under_fault(
    server: LocalPostgres, url: str, fault: Callable[[LocalPostgres, Writers], None], times: int
) -> dict[str, float]:
    backend = PostgresTeam(url)
    identity = Identity(m.new_id(), "ada", "Ada", Role.OWNER)
    with Writers(backend, identity) as writers:
        for _ in range(times):
            writers.wait_for(20)
            fault(server, writers)
        writers.wait_for(20)
    figures = _verified(backend.store(identity), writers)
    backend.close()
    return figures


def _verified(store: PostgresStore | Any, writers: Writers) -> dict[str, float]:
    kept = list(store.iter_memories(EVERYTHING))
    ids, contents = {memory.id for memory in kept}, [memory.content for memory in kept]
    return {
        "acknowledged": len(writers.acknowledged),
        "repeated": writers.repeated,
        "lost": sum(name not in ids for name in writers.acknowledged.values()),
        "twice": len(contents) - len(set(contents)),
        "problems": len(store.check()),
        "longest_s": round(writers.longest, 2),
    }


def promoted() -> dict[str, float]:
    """A streaming replica is promoted after its primary was killed. Commits wait for the replica."""
    primary, replica = LocalPostgres(durable=True), LocalPostgres(durable=True)
    try:
        primary.create()
        primary.start()
        primary.prepare(partitions=2)
        replica.run(
            "pg_basebackup",
            "-D",
            replica.data,
            "-R",
            "-C",
            "-S",
            "replica",
            "-U",
            "postgres",
            "-h",
            primary.folder,
        )
        replica.start()
        with psycopg.connect(primary.url("postgres", "postgres"), autocommit=True) as db:
            db.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            db.execute("SELECT pg_reload_conf()")
        url = f"postgresql://{SERVER}@/recollect?host={primary.folder},{replica.folder}&target_session_attrs=read-write"

        def promote(_: LocalPostgres, writers: Writers) -> None:
            primary.kill()
            replica.run("pg_ctl", "promote", "-D", replica.data)

        return _under_fault(primary, url, promote, 1)
    finally:
        replica.stop()
        primary.stop()


def restored() -> dict[str, float]:
    """A dump of a database is restored to an empty server."""
    server, empty = LocalPostgres(durable=True), LocalPostgres()
    try:
        for each in (server, empty):
            each.create()
            each.start()
        server.prepare(partitions=2)
        figures = _under_fault(server, server.url(SERVER), lambda *_: None, 3)
        before = _digests(server)
        server.run(
            "pg_dump", "-Fc", "-U", "postgres", "-h", server.folder, "-f", server.folder / "dump", "recollect"
        )
        with psycopg.connect(empty.url("postgres", "postgres"), autocommit=True) as db:
            for role in (OWNER, SERVER):
                db.execute(f"CREATE ROLE {role} LOGIN")
            db.execute(f"CREATE DATABASE recollect OWNER {OWNER}")
        empty.run(
            "pg_restore", "-U", "postgres", "-h", empty.folder, "-d", "recollect", server.folder / "dump"
        )
        backend = PostgresTeam(empty.url(SERVER))
        ready = backend.ready()
        backend.close()
        return {
            **figures,
            "tables": len(before),
            "tables_that_differ": sum(before[table] != digest for table, digest in _digests(empty).items()),
            "ready": float(ready),
        }
    finally:
        server.stop()
        empty.stop()


def _digests(server: LocalPostgres) -> dict[str, str]:
    from recollect.store.postgres.access import ACCESS

    with psycopg.connect(server.url("postgres"), options="-c search_path=recollect") as db:
        query = "SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM {} t"
        return {table: str(db.execute(query.format(table)).fetchone()[0]) for table in ACCESS}  # type: ignore[index]


def run(times: int = 3) -> dict[str, dict[str, float]]:
    return {
        "database killed and restarted": _measure(killed, times),
        "connections cut": _measure(cut, times * 2),
        "replica promoted": promoted(),
        "backup restored": restored(),
    }


def show(figures: dict[str, dict[str, float]]) -> None:
    print(
        f"{'fault':32} {'acknowledged':>12} {'repeated':>9} {'lost':>5} {'twice':>6} {'problems':>9} {'longest s':>10}"
    )
    for name, row in figures.items():
        print(
            f"{name:32} {row['acknowledged']:12.0f} {row['repeated']:9.0f} {row['lost']:5.0f} {row['twice']:6.0f}"
            f" {row['problems']:9.0f} {row['longest_s']:10.2f}"
        )
    backup = figures["backup restored"]
    print(
        f"restored: {backup['tables_that_differ']:.0f} of {backup['tables']:.0f} tables differ; ready: {bool(backup['ready'])}"
    )
