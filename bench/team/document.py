"""The OpenAPI document: schemathesis makes requests from it, valid and invalid ones; none may be a server error.

It is no dependency of the tests, because it brings some thirty packages: `pip install schemathesis` first.
"""

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import recollect.model as m
from bench.local_postgres import SERVER, LocalPostgres
from bench.team.interface import RunningServer, server_of
from recollect.model.team import Role, Token
from recollect.remote.secrets import new_secret
from recollect.store.postgres.team import PostgresTeam


def run(examples: int = 20) -> dict[str, Any]:
    if importlib.util.find_spec("schemathesis") is None:
        return {"skipped": "schemathesis is not installed"}
    server = LocalPostgres()
    try:
        server.create()
        server.start()
        server.prepare(partitions=2)
        backend = PostgresTeam(server.url(SERVER))
        with tempfile.TemporaryDirectory() as home, RunningServer(server_of(backend, Path(home))) as running:
            figures = _checked(f"http://127.0.0.1:{running.port}", _token(backend), examples)
        backend.close()
    finally:
        server.stop()
    return figures


def _token(backend: PostgresTeam) -> str:
    """Return a token that may do everything."""
    directory = backend.directory
    owner = directory.create_team("Document", "Ada", m.utc_now())
    directory.set_role(owner.tenant, owner.id, Role.OWNER)
    secret, hashed = new_secret()
    directory.put_token(Token(m.new_id(), owner.tenant, owner.id, "t", hashed, m.utc_now()))
    return secret


def _checked(address: str, token: str, examples: int) -> dict[str, Any]:
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()"]
    options = [
        "--checks",
        "not_a_server_error",
        "--max-examples",
        str(examples),
        "--no-color",
        "--phases",
        "examples,fuzzing",
    ]
    header = ["-H", f"Authorization: Bearer {token}"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command, "run", f"{address}/api/v1/openapi.json", *options, *header],
            capture_output=True,
            text=True,
            cwd=folder,
        )
    cases = re.search(r"(\d+) generated", done.stdout)
    failed = re.search(r"(\d+) found", done.stdout) if done.returncode else None
    return {
        "operations": len(set(re.findall(r"POST /api/v1/\w+", done.stdout))),
        "cases": int(cases[1]) if cases else 0,
        "server_errors": int(failed[1]) if failed else int(done.returncode != 0),
        "output": done.stdout[-3000:] + done.stderr[-1000:] if done.returncode or not cases else "",
    }


def show(figures: dict[str, Any]) -> None:
    if "skipped" in figures:
        print(f"document: skipped: {figures['skipped']}")
        return
    print(f"document: {figures['cases']:,} cases by schemathesis, {figures['server_errors']} server errors")
    if figures["output"]:
        print(figures["output"])
