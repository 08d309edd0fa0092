"""Attacks on the team server: requests that no client would send, of an agent and of another member."""

import json
import random
import time
from pathlib import Path
from typing import Any

from bench.attack.case import CASE_SECONDS, Result, cases, mutated

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_LEFT_OUT = frozenset({"erase_me", "leave", "create_token", "revoke_token"})  # would end the attack


def team_server(folder: Path, seconds: float) -> Result:
    """Every operation with hostile arguments, as an agent and as a member of the team.

    Each is answered without a fault of the server, what a person said stays as it is, and no secret is in the database.
    """
    from tests.team_server import running

    import recollect.model as m
    from bench.local_postgres import SERVER, LocalPostgres
    from recollect.embed.open import NoEmbedder
    from recollect.remote.client import TeamClient
    from recollect.remote.operations import OPERATIONS
    from recollect.store.postgres.team import PostgresTeam

    result, pick, accepted = Result(), random.Random(11), 0
    secret = "ghp_" + "".join(pick.choice(_LETTERS) for _ in range(36))
    database = LocalPostgres()
    database.create()
    database.start()
    clients: list[TeamClient] = []
    try:
        database.prepare(partitions=2)
        backend = PostgresTeam(database.url(SERVER))
        home = folder / "home"
        home.mkdir(mode=0o700)
        with running(backend, home, NoEmbedder()) as team:
            ada = team.new_team()
            ben = team.add(ada, "Ben")
            issued = ada.call("create_token", name="x", agent="x", actions=["read", "write"])
            clients.append(TeamClient(team.address, issued.secret))
            kept = [
                ada.call("remember", content="The shop uses PostgreSQL.", visibility="team").id,
                ada.call("remember", content="Deploys run on Tuesdays only.").id,
            ]
            ada.call("pin", name=kept[0])
            before = [_fixed(m.as_json(ada.call("get", name=name))) for name in kept]
            shaped = _shaped(f"Deploy with {secret}", m.to_text(m.utc_now()))
            names = sorted(OPERATIONS.keys() - _LEFT_OUT)
            for number in cases(seconds, 5_000, least=2 * len(names)):
                name = names[number % len(names)]
                arguments = {
                    field: shaped.get(field) or pick.choice((kept[0], kept[1], f"Deploy with {secret}", "s1"))
                    for field in OPERATIONS[name].arguments.model_fields
                    if OPERATIONS[name].arguments.model_fields[field].is_required() or pick.random() < 0.3
                }
                body = {"arguments": mutated(arguments, pick), "place": {"keys": ["remote:x/y"], "name": "y"}}
                client = pick.choice((clients[0], ben.client))
                accepted += _sent(result, client, name, body)
            after = [_fixed(m.as_json(ada.call("get", name=name))) for name in kept]
        result.add("leaked", "what a person said was changed", int(before != after))
        for table in _tables_with(database.url("postgres"), secret):
            result.add("leaked", f"a secret is in the table {table}")
        backend.close()
    finally:
        for client in clients:
            client.close()
        database.stop()
    result.need(accepted > result.tries // 50, "nearly every request was refused")
    result.note = f"{accepted} accepted"
    return result


def _shaped(text: str, at: str) -> dict[str, Any]:
    """Return arguments that are objects, with the text in every place for one."""
    session = dict.fromkeys(("agent", "host", "branch", "summary", "transcript"), text)
    finding = dict.fromkeys(("content", "branch", "fingerprint", "promoted_to"), text)
    record = dict.fromkeys(("content", "summary", "branch", "season", "created_by"), text)
    draft = dict.fromkeys(
        ("content", "branch", "season", "created_by", "session", "snippet", "evidence"), text
    )
    lists = {"file_paths": [text], "tags": [text], "steps": [text]}
    return {
        "session": {**session, "id": text, "user_id": text, "project_id": text, "started_at": at},
        "findings": [{**finding, **lists, "id": "f", "session": text, "kind": "gotcha", "created_at": at}],
        "records": [{**record, **lists, "kind": "fact"}],
        "draft": {**draft, **lists, "source": "observed"},
    }


def _sent(result: Result, client: Any, name: str, body: dict[str, Any]) -> bool:
    """Send a request; return whether it was accepted."""
    from recollect.errors import Offline, RecollectError

    result.tries += 1
    begun = time.monotonic()
    try:
        client.request("POST", f"/api/v1/{name}", json.dumps(body).encode())
        return True
    except Offline as error:
        figure = "hung" if time.monotonic() - begun > CASE_SECONDS / 10 else "crashed"
        result.add(figure, f"{name}: {json.dumps(body)[:200]}: {error.message}")
    except RecollectError as error:
        if error.message.endswith("on the server."):
            result.add("crashed", f"{name}: {json.dumps(body)[:200]}: {error.message}")
    return False


def _fixed(memory: dict[str, Any]) -> dict[str, Any]:
    """Return what neither an agent nor another member may change: all but how often it was said, found and found useful."""
    counted = (
        "strength",
        "reinforcements",
        "updated_at",
        "access_count",
        "last_accessed_at",
        "confidence",
        "importance",
    )
    return {name: value for name, value in memory.items() if name not in counted}


def _tables_with(url: str, secret: str) -> list[str]:
    """Return the tables of the database that the secret is in."""
    import psycopg

    from recollect.store.postgres.access import ACCESS

    query = "SELECT 1 FROM {0} t WHERE t::text LIKE %s LIMIT 1"
    with psycopg.connect(url, options="-c search_path=recollect") as db:
        return [table for table in ACCESS if db.execute(query.format(table), (f"%{secret}%",)).fetchone()]
