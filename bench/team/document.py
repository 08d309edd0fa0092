"""The OpenAPI document: schemathesis makes requests from it, valid and invalid ones.

No answer may be a server error, and each must have a status, a type and a shape that the document promises.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import recollect.model as m
from bench.local_postgres import SERVER, LocalPostgres
from bench.team.interface import RunningServer, server_of
from recollect.interfaces.team.openapi import document
from recollect.model.team import Role, Token
from recollect.remote.client import TeamClient
from recollect.remote.operations import OPERATIONS
from recollect.remote.secrets import new_secret
from recollect.remote.wire import PREFIX, Place
from recollect.store.postgres.team import PostgresTeam

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
LAST = (
    "revoke_token",
    "leave",
    "erase_me",
    "remove_member",
    "consent",
)  # the requests after these may be refused: schemathesis takes ids of tokens from answers, and an order of its own
_COUNTED = re.compile(r'recollect_requests_total\{operation="(\w+)",status="(\d+)"\} (\d+)')


def run(examples: int = 20) -> dict[str, Any]:
    server = LocalPostgres()
    try:
        server.create()
        server.start()
        server.prepare(partitions=2)
        backend = PostgresTeam(server.url(SERVER))
        with tempfile.TemporaryDirectory() as home, RunningServer(server_of(backend, Path(home))) as running:
            address, token = f"http://127.0.0.1:{running.port}", _token(backend)
            described = _with_ids(document(), _ids(address, token))
            figures = _checked(address, token, examples, _only(described, is_last=False))
            ending = _checked(address, token, examples, _only(described, is_last=True))
            figures = {name: value + ending[name] for name, value in figures.items()}
            figures["statuses"] = _statuses(address, _token(backend))
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


def _ids(address: str, token: str) -> dict[str, list[str]]:
    """Write some memories; return ids by the name of the argument that takes them."""
    client, shop = TeamClient(address, token), Place(("remote:example.com/team/shop",), "shop")
    texts = [f"The {name} listens on port {port}" for port, name in enumerate(("shop", "bank", "till"), 8080)]
    memories = [client.call("remember", {"content": text}, shop).id for text in texts]
    for memory in memories:
        client.call("forget", {"name": memory}, shop)
        client.call("restore", {"name": memory}, shop)
    person = client.call("invite", {"name": "Ben"}).name
    changes = [change.id for change in client.call("changes", {"all_projects": True}, shop)]
    client.close()
    return {
        **dict.fromkeys(("name", "source", "target", "first", "second", "ids", "used"), memories),
        "person": [person],
        "project": ["shop"],
        "undo name": changes,
    }


def _with_ids(described: dict[str, Any], ids: dict[str, list[str]]) -> dict[str, Any]:
    """Return the document with real ids for arguments that take ids, so that requests do something.

    The items of a tuple are left out: schemathesis takes them for a list of JSON Schema's older versions.
    """
    made: dict[str, Any] = json.loads(json.dumps(described), object_hook=_without_tuples)
    del made["paths"][f"{PREFIX}/events"]  # which does not end
    for path, route in made["paths"].items():
        if path.rpartition("/")[2] not in OPERATIONS:
            continue
        body = route["post"]["requestBody"]["content"]["application/json"]["schema"]
        fields = body["properties"]["arguments"].get("properties", {})
        for key in ids.keys() & fields.keys():
            known = ids.get(f"{path.rpartition('/')[2]} {key}", ids[key])
            holder, place = (fields[key], "items") if "items" in fields[key] else (fields, key)
            holder[place] = {"type": "string", "enum": known}
    return made


def _only(described: dict[str, Any], *, is_last: bool) -> dict[str, Any]:
    """Return the document with the operations after which the token may be invalid, or with all others."""
    chosen = {path: route for path, route in described["paths"].items() if path.endswith(LAST) == is_last}
    return {**described, "paths": chosen}


def _without_tuples(value: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in value.items() if key != "prefixItems"}


def _checked(address: str, token: str, examples: int, described: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()"]
    options = ["--checks", ",".join(CHECKS), "--max-examples", str(examples), "--no-color"]
    options += ["--phases", "examples,fuzzing"]
    header = ["-H", f"Authorization: Bearer {token}"]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "openapi.json").write_text(json.dumps(described))
        done = subprocess.run(
            [*command, "run", "openapi.json", "--url", address, *options, *header],
            capture_output=True,
            text=True,
            cwd=folder,
        )
    cases = re.search(r"(\d+) generated", done.stdout)
    return {
        "cases": int(cases[1]) if cases else 0,
        "failed": int(done.returncode != 0 or cases is None),
        "output": done.stdout[-6000:] + done.stderr[-1000:] if done.returncode or not cases else "",
    }


def _statuses(address: str, token: str) -> dict[str, int]:
    """Return how many requests the server has answered with each status, and how many operations with 200."""
    client = TeamClient(address, token)
    counted: Counter[str] = Counter()
    for _, status, count in _COUNTED.findall(client.request("GET", "/metrics").decode()):
        counted[status] += int(count)
        counted["operations done"] += status == "200"
    client.close()
    return dict(sorted(counted.items()))


def show(figures: dict[str, Any]) -> None:
    statuses = figures["statuses"]
    if not figures["cases"]:
        print("document: not run. Install schemathesis: pip install -e '.[bench]'")
        return
    errors = sum(count for status, count in statuses.items() if status.startswith("5"))
    print(
        f"document: {figures['cases']:,} cases by schemathesis, {errors} server errors,"
        f" {'some answers unlike the document' if figures['failed'] else 'every answer as the document says'};"
        f" {statuses['operations done']} of {len(OPERATIONS)} operations were done at least once; "
        + ", ".join(f"{status}: {count:,}" for status, count in statuses.items() if status.isdigit())
    )
    if figures["output"]:
        print(figures["output"])
