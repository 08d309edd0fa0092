"""The rows that the SQLite store records for undo are the rows that SQLite says have changed."""

from dataclasses import replace
from datetime import timedelta

import apsw
import pytest
from make_store import MEMORIES, NOW, fill, memory, name, vector

import recollect.model as m
from recollect.store.row_snapshots import ALL_TABLES

LATER = NOW + timedelta(days=200)
PNPM, NPM, ONE, OTHER, *_ = MEMORIES
NEW = memory("Quite new.", 30, tags=("node", "fresh"))


def undo_everything(store):
    """Undoes the changes that `fill` has recorded."""
    for change in [*store.changes.newest("ada", "bank", 9), *store.changes.newest("ada", "shop", 9)]:
        if change.finished_at:
            store.changes.undo(change.id, LATER)


WRITES = {
    "put a new memory": lambda store: (store.put(NEW), store.put_vector(NEW.id, "fake", vector(1, 2))),
    "edit a memory": lambda store: store.put(
        replace(ONE, content="Changed.", fingerprint=m.fingerprint("Changed."), tags=("x",))
    ),
    "use a memory": lambda store: store.put(replace(PNPM, access_count=9)),
    "give a memory to another user": lambda store: store.put(replace(PNPM, user_id="eve")),
    "delete a memory": lambda store: store.delete(ONE.id),
    "delete and put again": lambda store: (store.delete(ONE.id), store.put(NEW)),
    "put a vector": lambda store: store.put_vector(ONE.id, "other", vector(1, 2)),
    "put a link": lambda store: store.put_link(m.Link(PNPM.id, ONE.id, m.Relation.RELATES_TO, NOW, 0.1)),
    "drop a link": lambda store: store.drop_link(PNPM.id, NPM.id, m.Relation.SUPERSEDES),
    "describe a tag": lambda store: store.describe_tag("node", "The runtime"),
    "drop a tag": lambda store: store.drop_tag("unused"),
    "put clusters": lambda store: store.put_clusters(
        "shop", [m.Cluster("new", "shop", "x", "fake", vector(1, 2), (PNPM.id, "unknown"), NOW)]
    ),
    "replace a cluster": lambda store: store.put_cluster(
        m.Cluster(name("cluster"), "shop", "y", "fake", vector(1, 2), (ONE.id, PNPM.id), NOW)
    ),
    "drop a cluster": lambda store: store.drop_cluster(name("cluster")),
    "ask again": lambda store: (
        store.reviews.decide(name("review"), "kept", NOW),
        store.reviews.ask(m.Review("r2", "ada", "shop", "merge", (ONE.id, OTHER.id), "again", LATER), LATER),
        store.reviews.ask(m.Review("r3", "ada", "shop", "merge", (NPM.id,), "alike", LATER)),
    ),
    "put findings": lambda store: store.events.put_findings(
        "s1", [m.Finding("f9", "s1", "mark", "fact", "New.", NOW, messages=(0, 1))], since=0
    ),
    "promote a finding": lambda store: store.events.mark_promoted(name("Tests need Redis."), ONE.id),
    "put a session": lambda store: (
        store.put_session(m.Session("s1", "ada", "shop", NOW, summary="New.")),
        store.put_session(m.Session("s9", "ada", "shop", NOW)),
    ),
    "append events": lambda store: store.events.append("s1", [m.StoredEvent("e9", LATER, "1")]),
    "process events": lambda store: (
        store.events.mark_processed("s1", 9),
        store.events.drop_processed(LATER),
    ),
    "put messages": lambda store: store.messages.put(
        [m.Message("s1", number, "user", "Again.", NOW, "ada", "shop") for number in (0, 9)], None, None
    ),
    "drop messages": lambda store: store.messages.drop_before(LATER),
    "put gaps": lambda store: (
        store.put_gap(m.Gap(name("gap1"), "shop", "reworded", NOW)),
        store.adopt_gap(m.Gap("new", "shop", "adopted", NOW)),
        store.close_gap(name("gap2"), NOW),
    ),
    "set settings": lambda store: (
        store.set_setting("shop", "seasons", ["spring"]),
        store.set_setting(None, "new", 1),
    ),
    "correct a module map": lambda store: store.modules.change("shop", lambda old: "{}", LATER),
    "clear a project": lambda store: store.clear("ada", "shop", NOW),
    "clear everything": lambda store: store.clear("ada", None, NOW),
    "undo": undo_everything,
}


def changed_according_to_sqlite(session):
    """Keys of changed rows, without tags and vectors of new memories and without mere bookkeeping."""
    changeset = session.changeset()
    new = {
        change.new[0]
        for change in apsw.Changeset.iter(changeset)
        if change.name == "memories" and change.op == "INSERT"
    }
    found = set()
    for change in apsw.Changeset.iter(changeset):
        values = change.old or change.new
        key = tuple(values[at] for at in sorted(change.pk_columns))
        if change.name in ("memory_tags", "vectors") and key[0] in new:
            continue
        if change.op == "UPDATE":
            written = [at for at, value in enumerate(change.new) if value is not apsw.no_change]
            if change.name == "memories" and written == [2]:  # seq
                continue
        found.add((change.name, key))
    return found


@pytest.mark.parametrize("write", WRITES)
def test_every_row_that_a_write_changes_is_recorded(store, write):
    fill(store)
    store.describe_tag("unused", "")
    made = m.Change("zz", "ada", "shop", LATER, "user", "merge", "for a test")

    with store.changes.recorded(made, projects=True), store._db.writing() as db:
        session = apsw.Session(db, "main")
        for table in ALL_TABLES:
            session.attach(table)
        WRITES[write](store)
        changed = changed_according_to_sqlite(session)
        session.close()
        recorded = {(row.table, row.key) for row in store._db.journal._current.snapshots()}

    assert changed
    assert recorded == changed
