"""Faults: clients of a team server write without pause while a part of it fails.

The server or the database is killed, connections are cut, the disk is full, a replica takes over, a backup is restored. Each client
writes under a key and repeats a write that was not acknowledged under the same key, as the spool does. At the end every
acknowledged write must be there, and each only once.
"""

import contextlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

import recollect.model as m
from bench.local_postgres import OWNER, SERVER, LocalPostgres
from bench.team.server_process import ServerProcess
from recollect.errors import RecollectError
from recollect.interfaces.hooks.program import DEADLINE
from recollect.model.team import Identity, Role, Token
from recollect.remote.client import TeamClient
from recollect.remote.secrets import new_secret
from recollect.remote.wire import Place
from recollect.store.postgres.access import ACCESS
from recollect.store.postgres.team import PostgresTeam

CLIENTS = 4
BACKUP = "recollect_backup"  # a role that reads everything
SHOP = Place(("remote:example.com/team/shop",), "shop")
DISK_MB = 400


@dataclass
class Writers:
    """Clients that write until they are stopped, and what was acknowledged to them."""

    address: str
    token: str
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

    def wait_for(self, more: int, seconds: float = 120.0) -> None:
        """Wait until so many more writes were acknowledged."""
        wanted, ends = len(self.acknowledged) + more, time.monotonic() + seconds
        while len(self.acknowledged) < wanted:
            if time.monotonic() > ends:
                raise RuntimeError("The clients do not recover.")
            time.sleep(0.02)

    def _write(self, number: int) -> None:
        client, count = TeamClient(self.address, self.token), 0
        while not self._stop.is_set():
            count += 1
            key, begun = f"{number}-{count}", time.monotonic()
            while (name := self._write_once(client, key)) is None and not self._stop.is_set():
                self.repeated += 1
                time.sleep(0.02)
            if name is not None:
                self.acknowledged[key] = name
                self.longest = max(self.longest, time.monotonic() - begun)
        client.close()

    def _write_once(self, client: TeamClient, key: str) -> str | None:
        """Write a memory under the key and return its id; None if it is not known whether it was written."""
        arguments = {
            "content": f"Write {key} of run {self.token[-6:]} is kept.",
            "kind": "fact",
            "visibility": "team",
        }
        try:
            return str(client.call("remember", arguments, SHOP, "user", key).id)
        except RecollectError:
            return None


@dataclass
class Team:
    """A team server in a process of its own on a database, and its owner."""

    database: str
    folder: Path

    def __post_init__(self) -> None:
        backend = PostgresTeam(self.database)
        owner = backend.directory.create_team("Faults", "Ada", m.utc_now())
        self.token, hashed = new_secret()
        backend.directory.put_token(Token(m.new_id(), owner.tenant, owner.id, "t", hashed, m.utc_now()))
        backend.close()
        self.identity = Identity(owner.tenant, owner.id, "Ada", Role.OWNER)
        self.process = ServerProcess(self.database, self.folder)
        self.process.kill()
        self.process.start()  # on the same port, without limits

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.process.port}"


Fault = Callable[[LocalPostgres, Team, Writers], None]


def server_killed(_: LocalPostgres, team: Team, writers: Writers) -> None:
    team.process.kill()
    team.process.start()


def database_killed(server: LocalPostgres, _: Team, writers: Writers) -> None:
    server.kill()
    server.start()


def connections_cut(server: LocalPostgres, _: Team, writers: Writers) -> None:
    """Close every connection of the server to its database from the other side, in the middle of what they do."""
    with psycopg.connect(server.url("postgres", "postgres"), autocommit=True) as db:
        db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", (SERVER,))


def disk_full(server: LocalPostgres, _: Team, writers: Writers) -> None:
    """Fill the disk of the database, let the clients try for a while, and make room again."""
    filler = server.folder / "filler"
    _fill(filler)
    before = writers.repeated
    ends = time.monotonic() + 60
    while writers.repeated < before + 50 and time.monotonic() < ends:
        _fill(filler)  # also what was freed meanwhile
        time.sleep(0.05)
    if writers.repeated == before:
        raise RuntimeError("The disk was never full.")
    filler.unlink()
    if not server.is_running:  # it could not write its log
        server.start()


def _fill(filler: Path) -> None:
    """Write to the file until the disk is full."""
    file = os.open(filler, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with contextlib.suppress(OSError):
        while True:
            os.write(file, b"x" * 4096)
    os.close(file)


def _measure(fault: Fault, times: int, **settings: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as home:
        server = LocalPostgres(durable=True, **settings)
        try:
            server.create()
            server.start()
            server.prepare(partitions=2)
            return _under_fault(server, Team(server.url(SERVER), Path(home)), fault, times)
        finally:
            server.stop()


def _under_fault(server: LocalPostgres, team: Team, fault: Fault, times: int) -> dict[str, float]:
    try:
        with Writers(team.address, team.token) as writers:
            for _ in range(times):
                writers.wait_for(20)
                fault(server, team, writers)
            writers.wait_for(20)
    finally:
        team.process.stop()
    return _verified(team, writers)


def _verified(team: Team, writers: Writers) -> dict[str, float]:
    backend = PostgresTeam(team.database)
    store: Any = backend.store(team.identity)
    view = m.View(team.identity.user, all_projects=True, all_sessions=True, states=m.ALL_STATES)
    kept = list(store.iter_memories(view))
    ids, contents = {memory.id for memory in kept}, [memory.content for memory in kept]
    figures = {
        "acknowledged": len(writers.acknowledged),
        "repeated": writers.repeated,
        "lost": sum(name not in ids for name in writers.acknowledged.values()),
        "twice": len(contents) - len(set(contents)) + sum(memory.strength > 1 for memory in kept),
        "problems": len(store.check()) + (store.verify_audit().problem is not None),
        "longest_s": round(writers.longest, 2),
    }
    backend.close()
    return figures


def full_disk(times: int) -> dict[str, float]:
    """The database is on a small disk of its own, which only root can make."""
    if os.geteuid() != 0:
        return {"skipped": 1.0}
    folder = Path(tempfile.mkdtemp(prefix="recollect-disk-", dir="/tmp"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=0755", "tmpfs", folder], check=True)
    server = LocalPostgres(folder, durable=True, min_wal_size="32MB", max_wal_size="64MB")
    try:
        with tempfile.TemporaryDirectory() as home:
            server.create()
            server.start()
            server.prepare(partitions=2)
            return _under_fault(server, Team(server.url(SERVER), Path(home)), disk_full, times)
    finally:
        server.stop()
        subprocess.run(["umount", folder], check=True)
        folder.rmdir()


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
            "-c",
            "fast",
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

        def promote(_: LocalPostgres, team: Team, writers: Writers) -> None:
            primary.kill()
            replica.run("pg_ctl", "promote", "-D", replica.data)

        with tempfile.TemporaryDirectory() as home:
            return _under_fault(primary, Team(url, Path(home)), promote, 1)
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
        with tempfile.TemporaryDirectory() as home:
            team = Team(server.url(SERVER), Path(home))
            figures = _under_fault(server, team, lambda *_: None, 3)
            identity = team.identity
        before = _digests(server)
        with psycopg.connect(
            server.url("postgres", "postgres"), autocommit=True
        ) as db:  # as docs/team.md says
            db.execute(f"CREATE ROLE {BACKUP} LOGIN BYPASSRLS")
            db.execute(f"GRANT pg_read_all_data TO {BACKUP}")
        server.run("pg_dump", "-Fc", "-d", server.url(BACKUP), "-f", server.folder / "dump")
        with psycopg.connect(empty.url("postgres", "postgres"), autocommit=True) as db:
            for role in (OWNER, SERVER):
                db.execute(f"CREATE ROLE {role} LOGIN")
            db.execute(f"CREATE DATABASE recollect OWNER {OWNER}")
        empty.run("pg_restore", "--exit-on-error", "-d", empty.url(OWNER), server.folder / "dump")
        after = _digests(empty)
        return {
            **figures,
            "problems": figures["problems"] + _problems(empty, identity),
            "tables": len(before),
            "tables_that_differ": sum(before[table] != digest for table, digest in after.items()),
            **_contract(empty),
        }
    finally:
        server.stop()
        empty.stop()


def _problems(server: LocalPostgres, identity: Identity) -> int:
    """Return how many problems a check of the store and of its audit log finds."""
    backend = PostgresTeam(server.url(SERVER))
    store: Any = backend.store(identity)
    found = len(store.check()) + (store.verify_audit().problem is not None) + (not backend.ready())
    backend.close()
    return found


def _contract(server: LocalPostgres) -> dict[str, float]:
    """Run the contract tests of the store on a server that runs already; return how many passed and failed."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "tests/store/test_postgres_contract.py",
        ],
        env={**os.environ, "RECOLLECT_TEST_POSTGRES": str(server.folder)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    counted = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout)}
    failed = counted.get("failed", 0) + counted.get("error", 0)
    return {
        "contract_passed": counted.get("passed", 0),
        "contract_failed": failed or float(done.returncode != 0),
    }


def suspended(prompts: int = 10) -> dict[str, float]:
    """The server answers nobody: hooks of an agent go on without memory, within their usual deadline."""
    with tempfile.TemporaryDirectory() as folder:
        server = LocalPostgres()
        try:
            server.create()
            server.start()
            server.prepare(partitions=2)
            team = Team(server.url(SERVER), Path(folder))
            person = _Agent(Path(folder))
            person.run("login", team.address, "--token", team.token, "--yes")
            person.run("daemon", "start")
            try:
                person.prompt()
                usual = [person.prompt() for _ in range(prompts)]
                os.kill(team.process.pid, signal.SIGSTOP)
                alone = [person.prompt() for _ in range(prompts)]
                os.kill(team.process.pid, signal.SIGCONT)
            finally:
                person.run("daemon", "stop")
            team.process.stop()
        finally:
            server.stop()
    return {
        "prompts": prompts,
        "deadline_s": DEADLINE,
        "usual_median_s": statistics.median(usual),
        "usual_longest_s": max(usual),
        "median_s": statistics.median(alone),
        "longest_s": max(alone),
    }


class _Agent:
    """A person's coding agent, in a home of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "shop"
        self._folder.mkdir()
        subprocess.run(["git", "init", "-q", self._folder], check=True)
        (folder / "home").mkdir(mode=0o700)
        self._environment = {
            **os.environ,
            "RECOLLECT_HOME": str(folder / "home"),
            "RECOLLECT_EMBEDDER": "none",
        }

    def run(self, *arguments: str, given: str = "") -> None:
        subprocess.run(
            [sys.executable, "-m", "recollect", *arguments],
            input=given,
            text=True,
            check=True,
            capture_output=True,
            cwd=self._folder,
            env=self._environment,
        )

    def prompt(self) -> float:
        """Send a prompt through the hook program; return the seconds that the agent waited, with the program's start."""
        body = {"session_id": "s1", "cwd": str(self._folder), "prompt": "why do the payment tests need redis"}
        begun = time.monotonic()
        self.run("hook", "claude-code", "UserPromptSubmit", given=json.dumps(body))
        return time.monotonic() - begun


def _digests(server: LocalPostgres) -> dict[str, str]:
    with psycopg.connect(server.url("postgres"), options="-c search_path=recollect") as db:
        query = "SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM {} t"
        return {table: str(db.execute(query.format(table)).fetchone()[0]) for table in ACCESS}  # type: ignore[index]


def run(times: int = 3) -> dict[str, dict[str, float]]:
    return {
        "server killed and restarted": _measure(server_killed, times),
        "database killed and restarted": _measure(database_killed, times),
        "connections cut": _measure(connections_cut, times * 2),
        "disk full": full_disk(times),
        "replica promoted": promoted(),
        "backup restored": restored(),
        "server suspended": suspended(),
    }


def show(figures: dict[str, dict[str, float]]) -> None:
    print(
        f"{'fault':32} {'acknowledged':>12} {'repeated':>9} {'lost':>5} {'twice':>6} {'problems':>9} {'longest s':>10}"
    )
    for name, row in figures.items():
        if "prompts" in row:
            continue
        if "skipped" in row:
            print(f"{name:32} skipped: it needs root")
            continue
        print(
            f"{name:32} {row['acknowledged']:12.0f} {row['repeated']:9.0f} {row['lost']:5.0f} {row['twice']:6.0f}"
            f" {row['problems']:9.0f} {row['longest_s']:10.2f}"
        )
    backup = figures["backup restored"]
    print(
        f"restored: {backup['tables_that_differ']:.0f} of {backup['tables']:.0f} tables differ;"
        f" {backup['contract_passed']:.0f} contract tests passed, {backup['contract_failed']:.0f} failed"
    )
    hooks = figures["server suspended"]
    print(
        f"server suspended: a prompt waits {hooks['median_s']:.2f} s (longest {hooks['longest_s']:.2f}), with the start of the"
        f" program; with the server {hooks['usual_median_s']:.2f} s (longest {hooks['usual_longest_s']:.2f});"
        f" deadline {hooks['deadline_s']} s"
    )
