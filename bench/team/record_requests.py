"""Record what a client and a server of one version say to each other: the tests of later versions repeat it.

`python -m bench.team.record_requests FILE` writes a list of requests, each with who sends it, its arguments and the answer.
Run it with the sources of the version that is recorded.
"""

import json
import sys
import tempfile
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import recollect.model as m
from bench.local_postgres import SERVER, LocalPostgres
from bench.team.synthetic import embedder_named
from recollect.config import load_settings
from recollect.interfaces.team.server import Listening, TeamServer, build
from recollect.model.team import Token
from recollect.remote.client import TeamClient
from recollect.remote.operations import OPERATIONS
from recollect.remote.secrets import new_secret
from recollect.remote.wire import Place
from recollect.store.postgres.team import PostgresTeam

SHOP = Place(("remote:example.com/acme/shop",), "shop", "main")


class Recorder:
    """Calls operations as people, and keeps what was said."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.clients: dict[str, TeamClient] = {}
        self.requests: list[dict[str, Any]] = []

    def call(self, who: str, name: str, /, actor: str = "user", **arguments: Any) -> Any:
        result = self.clients[who].call(name, arguments, SHOP, actor)
        self.requests.append(
            {
                "who": who,
                "operation": name,
                "actor": actor,
                "arguments": json.loads(m.dumps(arguments)),
                "answer": json.loads(OPERATIONS[name].result.dump_json(result)),
            }
        )
        return result

    def join(self, who: str, code: str) -> None:
        self.clients[who] = TeamClient(self.address, TeamClient(self.address, "").join(code, "laptop"))


def story(say: Recorder) -> None:
    """Use every operation that commands, hooks and MCP use."""
    say.call("ada", "whoami")
    say.call("ada", "consent", what="server")
    say.join("ben", say.call("ada", "invite", name="Ben").code)
    say.call("ada", "flag_member", person="Ben", on=False)
    say.call("ben", "members")
    redis = say.call(
        "ada", "remember", "agent:claude", content="The payment tests need Redis on port 6380", kind="gotcha",
        tags=("redis",), file_paths=("tests/pay.py",), created_by="agent:claude", session="s1",
    )  # fmt: skip
    mine = say.call("ben", "remember", content="Prices are stored in cents", kind="fact", visibility="team")
    tabs = say.call("ada", "remember", content="Always use tabs in Go files", kind="convention", visibility="team")  # fmt: skip
    spaces = say.call("ben", "remember", content="Never use tabs in Go files", kind="convention", visibility="team")  # fmt: skip
    say.call("ada", "conflicts")
    say.call("ben", "search", query="what do the payment tests need", limit=5, kind="gotcha")
    say.call("ben", "search", query="where is the moon")
    say.call("ben", "similar", name=redis.id, limit=3)
    say.call("ben", "get", name=redis.id)
    say.call("ben", "find", name=redis.id)
    say.call("ben", "get_many", ids=[redis.id, mine.id])
    say.call("ben", "list", tag="redis", limit=10)
    say.call("ben", "list", all_projects=True)
    say.call("ben", "count", kind="fact")
    say.call("ben", "edit", name=mine.id, content="Prices are stored in euro cents", tags=("money",))
    say.call("ben", "tag", name=mine.id, add=("cents",), remove=("money",))
    say.call("ben", "pin", name=mine.id, on=True)
    say.call("ben", "feedback", name=redis.id, helpful=True, session="s2")
    say.call("ben", "note_use", used=(redis.id,), session="s2")
    say.call("ben", "link", source=mine.id, target=redis.id)
    say.call("ben", "links", name=mine.id)
    say.call("ben", "unlink", source=mine.id, target=redis.id, relation="relates_to")
    say.call("ben", "hide", name=redis.id)
    say.call("ben", "hide", name=redis.id, on=False)
    say.call("ben", "forget", name=mine.id)
    say.call("ben", "restore", name=mine.id)
    say.call("ada", "resolve", first=tabs.id, second=spaces.id, keep=tabs.id)
    say.call("ada", "wrong", name=redis.id, because="It moved", instead="The payment tests need Redis on port 6390")  # fmt: skip
    draft = m.Draft("Run make lint before a commit", kind="convention", created_by="agent:claude", session="s1")  # fmt: skip
    say.call("ada", "learn", "agent:claude", draft=draft)
    say.call("ada", "said_before", session="s1", fingerprint="x")
    session = m.Session("s1", "", None, m.utc_now(), "claude", "claude-code")
    finding = m.Finding("f1", "s1", "", "gotcha", "The build needs node 22", m.utc_now())
    say.call("ada", "publish", "agent:claude", session=session, findings=(finding,))
    for moment, text in (("start", ""), ("prompt", "Fix the payment tests")):
        say.call(
            "ben", "material", "agent:claude", moment=moment, text=text, session="s2", host="claude-code"
        )
    say.call("ada", "tags")
    say.call("ada", "gaps")
    say.call("ada", "audit", limit=5)
    say.call("ada", "questions")
    [change, *_] = say.call("ada", "changes", limit=5)
    say.call("ada", "undo", name=change.id)
    say.call("ben", "people")
    say.call("ben", "usage")
    say.call("ben", "projects")
    say.call("ben", "analytics")
    say.call("ben", "retention")
    say.call("ada", "set_retention", forgotten_days=7, unused_days=365)
    token = say.call("ben", "create_token", name="ci", agent="ci", actions=("read", "write"), days=90)
    say.call("ben", "tokens")
    say.call("ben", "revoke_token", token=token.id)
    say.call("ada", "restrict_project", project="shop", people=("Ada", "Ben"))
    say.call("ada", "restrict_project", project="shop")
    record = m.as_json(say.call("ben", "get", name=mine.id))
    say.call("ben", "adopt", records=({**record, "id": m.new_id(), "content": "Moved from elsewhere"},))
    say.call("ben", "export")
    say.call("ben", "my_data")
    say.call("ben", "erase_me", confirm="Ben")
    say.call("ben", "keep_me")
    say.call("ada", "erasures")
    say.call("ada", "set_role", person="Ben", role="reader")
    say.call("ada", "remove_member", person="Ben")


def main(file: str) -> None:
    postgres = LocalPostgres()
    try:
        postgres.create()
        postgres.start()
        postgres.prepare(partitions=2)
        backend = PostgresTeam(postgres.url(SERVER))
        with tempfile.TemporaryDirectory() as home:
            app = build(backend, load_settings(Path(home)), embedder_named("synthetic"))
            server = TeamServer(app, Listening(port=0))
            thread = threading.Thread(target=server.run, daemon=True)
            thread.start()
            while not server.started:
                time.sleep(0.01)
            at = m.utc_now()
            ada = backend.directory.create_team("Shop", "Ada", at)
            secret, hashed = new_secret()
            token = Token(m.new_id(at), ada.tenant, ada.id, "laptop", hashed, at, expires_at=at + timedelta(days=1))  # fmt: skip
            backend.directory.put_token(token)
            say = Recorder(server.address)
            say.clients["ada"] = TeamClient(server.address, secret)
            story(say)
            server.stop()
            thread.join(10)
        backend.close()
    finally:
        postgres.stop()
    Path(file).write_text(json.dumps(say.requests, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{len(say.requests)} requests, {len({each['operation'] for each in say.requests})} operations")


if __name__ == "__main__":
    main(sys.argv[1])
