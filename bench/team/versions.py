"""Two versions at once, as during an upgrade: an earlier one from git's history, and this one.

The earlier version creates the database, and its server runs. This version migrates the database and starts a server of its own
beside it. People with commands of each version then do the same things through each server, and see what the others did.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from bench.local_postgres import OWNER, SERVER, LocalPostgres, end_with_parent

HERE = Path(__file__).parents[2]
REMOTE = "https://example.com/acme/shop.git"
START_SECONDS = 60
TELL_SECONDS = 10.0


@dataclass
class Version:
    """The sources of a version, and how its programs are run."""

    name: str
    sources: Path

    def environment(self, home: Path, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
        path = os.pathsep.join((str(self.sources / "src"), str(self.sources)))
        return kept | {"PYTHONPATH": path, "RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "none", **more}

    def serve(self, home: Path, database: str) -> "tuple[subprocess.Popen[str], str]":
        """Start a server; return it and its address."""
        process = subprocess.Popen(
            [sys.executable, "-m", "recollect", "team", "serve", "--port", "0"],
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(home, RECOLLECT_TEAM_DATABASE=database),
            preexec_fn=end_with_parent,
        )
        assert process.stderr is not None
        address = process.stderr.readline().split()[-1]
        subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)
        return process, address

    def run(
        self, home: Path, folder: Path, *arguments: str, **more: str
    ) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "recollect", *arguments]
        environment = self.environment(home, **more)
        return subprocess.run(
            command, capture_output=True, text=True, cwd=folder, env=environment, timeout=120
        )


@dataclass
class Client:
    """A person with the commands of one version, who uses a server of another."""

    version: Version
    home: Path
    folder: Path
    failures: list[str]
    commands: int = 0

    def run(self, *arguments: str) -> Any:
        """Run a command; return its JSON, and note a failure."""
        self.commands += 1
        done = self.version.run(self.home, self.folder, *arguments, "--json")
        if done.returncode:
            words = " ".join(arguments)
            self.failures.append(f"{self.version.name}: {words}: {done.stdout[-200:]}{done.stderr[-300:]}")
            return {}
        return json.loads(done.stdout)


@dataclass
class _Trial:
    folder: Path
    failures: list[str] = field(default_factory=list)
    clients: list[Client] = field(default_factory=list)

    def expect(self, is_true: bool, what: str) -> None:
        if not is_true:
            self.failures.append(what)

    def log_in(self, version: Version, address: str, token: str) -> Client:
        number = len(self.clients)
        folder = self.folder / f"shop-{number}"
        folder.mkdir()
        subprocess.run(["git", "init", "-q", folder], check=True)
        subprocess.run(["git", "-C", folder, "remote", "add", "origin", REMOTE], check=True)
        home = self.folder / f"home-{number}"
        client = Client(version, home, folder, self.failures)
        self.clients.append(client)
        client.run("login", address, "--token", token, "--yes")
        return client

    def use(self, client: Client, mark: str) -> str:
        """Do what people do; return the id of a memory that stays."""
        said = client.run("remember", f"The {mark} service listens on port 8{len(mark)}80", "--visibility", "team", "--tag", mark)  # fmt: skip
        name = str(said.get("id", ""))
        other = client.run("remember", f"Deploys of {mark} wait for a second review", "--visibility", "team")
        found = client.run("search", f"on which port does the {mark} service listen")
        self.expect(_has(found, name), f"{client.version.name}: {mark} is not found")
        client.run("show", name)
        client.run("edit", name, f"The {mark} service listens on port 9090")
        client.run("tag", name, "ports")
        client.run("pin", name)
        client.run("feedback", name, "--helpful")
        client.run("link", name, str(other.get("id", "")))
        client.run("forget", str(other.get("id", "")))
        client.run("undo")
        for command in (("list",), ("conflicts",), ("audit",), ("gaps",), ("changes",)):
            client.run(*command)
        client.run("recall", f"Start the {mark} service")
        for command in (
            ("members",),
            ("usage",),
            ("projects",),
            ("token", "list"),
            ("analytics",),
            ("retention",),
        ):
            client.run("team", *command)
        made = client.run("team", "token", "create", mark, "--days", "3")
        client.run("team", "token", "revoke", str(made.get("id", "")))
        client.run("team", "export", str(client.home / "all.json"))
        client.run("whoami")
        return name


def _has(found: Any, name: str) -> bool:
    return any(hit["memory"]["id"] == name for hit in found.get("results", ()))


def sources_of(revision: str, folder: Path) -> Version:
    """Return an earlier version from git's history."""
    packed = subprocess.run(
        ["git", "-C", HERE, "archive", revision, "src", "bench", "pyproject.toml"],
        check=True,
        capture_output=True,
    ).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return Version(revision, folder)


def run(before: str = "86296fa") -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "before").mkdir()
        old, new = sources_of(before, folder / "before"), Version("this", HERE)
        postgres = LocalPostgres(durable=True)
        servers = []
        try:
            postgres.create()
            postgres.start()
            _prepare(old, postgres, folder)
            database = postgres.url(SERVER)
            made = old.run(
                folder / "init", folder, "team", "init", "Shop", "--owner", "Ada", "--json",
                RECOLLECT_TEAM_DATABASE=database,
            )  # fmt: skip
            token = json.loads(made.stdout)["token"]
            trial = _Trial(folder)
            process, there = old.serve(folder / "server-old", database)
            servers.append(process)
            first = trial.log_in(old, there, token)
            kept = trial.use(first, "first")
            _prepare(new, postgres, folder, is_there=True)  # while the old server runs
            trial.use(first, "second")  # it goes on
            process, here = new.serve(folder / "server-new", database)
            servers.append(process)
            pairs = [
                trial.log_in(old, here, token),
                trial.log_in(new, there, token),
                trial.log_in(new, here, token),
            ]
            marks = ("old client", "new client", "both new")
            names = [
                trial.use(client, mark.replace(" ", "-")) for client, mark in zip(pairs, marks, strict=True)
            ]
            for client in (first, *pairs):  # everybody sees what was written through either server
                for name in (kept, *names):
                    trial.expect(client.run("show", name) != {}, f"{client.version.name} does not see {name}")
            _revoke_across(trial, first, pairs[2], there, here)
        finally:
            for process in servers:
                process.terminate()
                process.wait(20)
            postgres.stop()
    commands = sum(client.commands for client in trial.clients)
    return {"before": before, "commands": commands, "failures": trial.failures}


def _revoke_across(trial: _Trial, old: Client, new: Client, there: str, here: str) -> None:
    """A token that is revoked through the old server ends at the new one, and the other way round."""
    for maker, other, address in ((old, new, here), (new, old, there)):
        made = maker.run("team", "token", "create", "soon")
        gone = trial.log_in(other.version, address, str(made.get("secret", "")))
        maker.run("team", "token", "revoke", str(made.get("id", "")))
        ends = time.monotonic() + TELL_SECONDS
        while (done := gone.version.run(gone.home, gone.folder, "whoami")).returncode == 0:
            if time.monotonic() > ends:
                break
            time.sleep(0.2)
        trial.expect(done.returncode != 0, f"a revoked token still works at {address}")


def _prepare(version: Version, postgres: LocalPostgres, folder: Path, is_there: bool = False) -> None:
    """Create the roles and the database, and let the version migrate it."""
    import psycopg

    if not is_there:
        with psycopg.connect(postgres.url("postgres", "postgres"), autocommit=True) as db:
            db.execute(f"CREATE ROLE {OWNER} LOGIN")
            db.execute(f"CREATE ROLE {SERVER} LOGIN")
            db.execute(f"CREATE DATABASE recollect OWNER {OWNER}")
    script = (
        f"from recollect.store.postgres.schema import migrate; migrate({postgres.url(OWNER)!r}, {SERVER!r})"
    )
    environment = version.environment(folder / "migrating")
    subprocess.run([sys.executable, "-c", script], check=True, env=environment, capture_output=True)


def show(figures: dict[str, Any]) -> None:
    print(
        f"{figures['before']} and this version on one database: {figures['commands']} commands,"
        f" {len(figures['failures'])} failures"
    )
    for failure in figures["failures"]:
        print(f"  {failure}")
