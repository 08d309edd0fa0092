"""A store with memories by hand, and consolidations of it; quick to import, for other processes too."""

from datetime import UTC, datetime, timedelta

import recollect.model as m
from fakes import FakeEmbedder
from recollect.memory.maintenance.consolidate.context import OperationContext
from recollect.memory.maintenance.consolidate.run import consolidate, plan
from recollect.memory.maintenance.consolidate.throttle import Throttle
from recollect.memory.maintenance.undo import undo
from recollect.store.sqlite.connection import connect

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
EVERYTHING = m.View("ada", all_projects=True, all_sessions=True, states=m.ALL_STATES)
TABLES = "memories tags memory_tags vectors links clusters cluster_members reviews".split()


def memory(content, **fields):
    """Of Ada's, in the project `shop`."""
    values = {
        "id": m.new_id(),
        "user_id": "ada",
        "project_id": "shop",
        "scope": m.Scope.PROJECT,
        "kind": "fact",
        "content": content,
        "summary": content,
        "fingerprint": m.fingerprint(content),
        "created_at": NOW,
        "updated_at": NOW,
        "valid_from": NOW,
    }
    return m.Memory(**values | fields)


def rows_of(path):
    """Everything that is kept of memories, but the counter that says when a row was last written."""
    db = connect(path, None)
    try:
        found = {table: db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in TABLES}
        words = db.execute("SELECT id FROM memory_words_docsize ORDER BY id").fetchall()
    finally:
        db.close()
    found["memories"] = [(num, name, *rest) for num, name, _seq, *rest in found["memories"]]
    return found | {"words": words}


class Bench:
    """A store with memories by hand, and runs over it."""

    def __init__(self, store, home):
        self.store = store
        self.home = home
        self.embedder = FakeEmbedder()
        self.count = 0

    def say(self, content, *, like=None, by="agent:coder", **fields):
        """Keep it, said a minute after the last; with the vector of its words, or that of `like`."""
        self.count += 1
        at = NOW + timedelta(minutes=self.count)
        source = m.Source.OBSERVED if m.is_agent(by) else m.Source.USER_STATED
        values = {
            "id": m.new_id(at),
            "created_by": by,
            "created_at": at,
            "trust": m.TRUST[source],
            "confidence": m.TRUST[source],
            "provenance": (m.Provenance(source, at, session=fields.pop("session", f"s{self.count}")),),
            "visibility": m.Visibility.PROJECT,
        }
        made = memory(content, **values | fields)
        with self.store.transaction():
            self.store.log("add", by, at, made.id, {"kind": made.kind})
            self.store.put(made)
        if like is not None:
            vector = self.embedder.embed([like])[0].astype("<f4").tobytes()
            self.store.put_vector(made.id, self.embedder.model, vector)
        return made

    def context(self, *, stop=None, busy=None, **fields):
        throttle = Throttle(stop, busy)
        return OperationContext(self.store, self.embedder, "ada", "user", LATER, LATER, throttle, **fields)

    def run(self, *only, **fields):
        return consolidate(self.context(**fields), only, None, self.home / "consolidate.lock")

    def plan(self, *only, **fields):
        return plan(self.context(**fields), only)

    def undo(self, change):
        return undo(self.store, change, "user", LATER)

    def now(self, memory):
        return self.store.get(memory.id)

    def asked(self, kind):
        return [review.memories for review in self.store.reviews.open("ada", "shop", kind)]
