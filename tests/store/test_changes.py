"""Whatever an act does to memories, its undoing leaves no trace."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect.model as m
from recollect.errors import ChangeNotFound, Refused
from recollect.memory.index.index import MemoryIndex
from recollect.memory.maintenance.undo import new_change, one_change, undo
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.store import SqliteStore
from samples import EVERYTHING, NOW, keep, memory, unit

TABLES = "memories tags memory_tags vectors links clusters cluster_members reviews findings".split()
LATER = NOW + timedelta(hours=1)


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


@pytest.fixture
def rows(store):
    return lambda: rows_of(store.info().location)


def change(action="merge"):
    return new_change(action, "for a test", user_id="ada", project_id="shop", actor="user", now=NOW)


def take_back(store, made):
    return undo(store, store.changes.get("ada", made.id), "user", LATER)


class _Acts:
    """Things an act may do to the memories `a` and `b`, by name."""

    def __init__(self, store):
        self.store = store

    def write_anew(self, a, b):
        text = "Quite another text about walruses."
        self.store.put(replace(a, content=text, fingerprint=m.fingerprint(text), tags=("sea", "new")))
        self.store.put_vector(a.id, "fake", unit(0, 1))

    def retire(self, a, b):
        self.store.put(replace(b, state=m.State.SUPERSEDED, superseded_by=a.id, valid_to=LATER))
        self.store.put_link(m.Link(a.id, b.id, m.Relation.SUPERSEDES, NOW))

    def delete(self, a, b):
        if any(each.id == b.id for each in self.store.iter_memories(EVERYTHING)):
            self.store.delete(b.id)

    def add(self, a, b):
        new = memory("Something new under the sun.", tags=("sun",))
        keep(self.store, new)
        self.store.put_vector(new.id, "fake", unit(1, 1))
        self.store.put_link(m.Link(new.id, a.id, m.Relation.DERIVED_FROM, NOW))

    def unlink(self, a, b):
        self.store.drop_link(a.id, b.id, m.Relation.RELATES_TO)

    def link_anew(self, a, b):
        there = {each.id for each in self.store.iter_memories(EVERYTHING)}
        if {a.id, b.id} <= there:
            self.store.put_link(m.Link(a.id, b.id, m.Relation.RELATES_TO, LATER, 0.2, "again"))

    def cluster(self, a, b):
        self.store.put_clusters(
            "shop", [m.Cluster(m.new_id(), "shop", "npm", "fake", unit(1, 0), (a.id,), NOW)]
        )

    def ask(self, a, b):
        self.store.reviews.ask(m.Review(m.new_id(), "ada", "shop", "merge", (a.id,), "alike", NOW))


@pytest.fixture
def pair(store):
    a, b = memory("Use pnpm.", tags=("node", "pm")), memory("Use npm.", tags=("node",))
    keep(store, a, b)
    for each in (a, b):
        store.put_vector(each.id, "fake", unit(1, 0))
    store.put_link(m.Link(a.id, b.id, m.Relation.RELATES_TO, NOW, 0.7))
    return a, b


@pytest.mark.parametrize("act", [name for name in vars(_Acts) if not name.startswith("_")])
def test_every_act_can_be_undone_row_by_row(store, pair, rows, act):
    before = rows()
    made = change()
    with one_change(store, made):
        getattr(_Acts(store), act)(*pair)
    assert rows() != before

    take_back(store, made)

    assert rows() == before
    assert store.check() == []


@given(
    acts=st.lists(
        st.sampled_from(["write_anew", "retire", "unlink", "cluster", "ask", "add"]), min_size=2, max_size=5
    )
)
def test_an_act_of_many_transactions_is_undone_as_a_whole(tmp_path_factory, acts):
    store = SqliteStore(tmp_path_factory.mktemp("store") / "recollect.db", "ada")
    a, b = memory("Use pnpm.", tags=("node", "pm")), memory("Use npm.", tags=("node",))
    keep(store, a, b)
    store.put_link(m.Link(a.id, b.id, m.Relation.RELATES_TO, NOW, 0.7))
    before = rows_of(store.info().location)
    made = change("consolidate")
    for act in acts:
        with store.changes.recorded(made):
            getattr(_Acts(store), act)(a, b)
    store.changes.finish(replace(made, finished_at=LATER))

    take_back(store, made)

    assert rows_of(store.info().location) == before
    assert store.check() == []
    store.close()


def test_searches_see_what_was_undone(store, pair):
    a, _ = pair
    made = change()
    index = MemoryIndex(store)
    index.near(EVERYTHING, "fake", unit(1, 0), 5)  # the matrix is in memory now
    with one_change(store, made):
        _Acts(store).write_anew(*pair)
    assert store.match(EVERYTHING, "walruses", 5) != []

    take_back(store, made)

    assert store.match(EVERYTHING, "walruses", 5) == []
    assert dict(index.near(EVERYTHING, "fake", unit(1, 0), 5))[a.id] == pytest.approx(1.0)


def test_what_has_changed_since_is_left_alone_and_named(store, pair):
    a, b = pair
    made = change()
    with one_change(store, made):
        store.put(replace(a, state=m.State.ARCHIVED))
        store.put(replace(b, state=m.State.ARCHIVED))
    store.put(replace(b, state=m.State.DEPRECATED))

    undone = take_back(store, made)

    assert (undone.restored, undone.left_alone) == ((a.id,), (b.id,))
    assert (store.get(a.id).state, store.get(b.id).state) == (m.State.ACTIVE, m.State.DEPRECATED)


def test_mere_use_since_is_kept_and_hinders_nothing(store, pair):
    a, _ = pair
    made = change()
    with one_change(store, made):
        store.put(replace(a, state=m.State.ARCHIVED, updated_at=LATER))
    store.put(replace(store.get(a.id), access_count=3, confidence=0.95))

    undone = take_back(store, made)

    assert undone.left_alone == ()
    assert (store.get(a.id).state, store.get(a.id).access_count) == (m.State.ACTIVE, 3)


def test_use_since_hinders_nothing_where_the_change_counted_uses_too(store, pair):
    a, _ = pair
    made = change()
    with one_change(store, made):
        store.put(replace(a, content="Use pnpm or npm.", access_count=2))
    store.put(replace(store.get(a.id), access_count=3))

    undone = take_back(store, made)

    assert undone.left_alone == ()
    assert (store.get(a.id).content, store.get(a.id).access_count) == ("Use pnpm.", 3)


def test_a_link_that_went_and_came_back_within_one_act_is_as_it_was(store, pair, rows):
    a, b = pair
    before = rows()
    made = change()
    with store.changes.recorded(made):
        store.drop_link(a.id, b.id, m.Relation.RELATES_TO)
    for weight in (0.2, 0.3):
        with store.changes.recorded(made):
            store.put_link(m.Link(a.id, b.id, m.Relation.RELATES_TO, LATER, weight, "again"))

    take_back(store, made)

    assert rows() == before


def test_undoing_twice_is_refused(store, pair):
    a, _ = pair
    made = change()
    with one_change(store, made):
        store.put(replace(a, state=m.State.ARCHIVED))
    take_back(store, made)

    with pytest.raises(Refused, match="undone on"):
        take_back(store, made)


def test_of_two_who_undo_the_same_at_once_only_one_does(store, open_store):
    made = change("add")
    with one_change(store, made):
        keep(store, memory("Something new under the sun."))
    seen_by_both = store.changes.get("ada", made.id)
    undo(open_store(), seen_by_both, "user", LATER)

    with pytest.raises(Refused, match="already"):
        undo(store, seen_by_both, "user", LATER)

    assert [each.action for each in store.changes.newest("ada", "shop", 5)].count("undo") == 1


def test_an_undoing_can_be_undone(store, pair, rows):
    made = change()
    with one_change(store, made):
        _Acts(store).add(*pair)
        _Acts(store).retire(*pair)
    after = rows()
    take_back(store, made)

    take_back(store, store.changes.newest("ada", "shop", 1)[0])

    assert rows() == after


def test_what_later_memories_lean_on_is_not_taken_away(store, pair, rows):
    new = memory("Brought in by an import.")
    made = change("import")
    with one_change(store, made):
        keep(store, new)
    later = memory("Made of what was brought in.")
    keep(store, later)
    store.put_link(m.Link(later.id, new.id, m.Relation.DERIVED_FROM, LATER))
    before = rows()

    with pytest.raises(Refused, match=later.id):
        take_back(store, made)

    assert rows() == before


def test_a_change_that_failed_leaves_no_entry(store, pair):
    with pytest.raises(ZeroDivisionError), one_change(store, change()):
        store.put(replace(pair[0], state=m.State.ARCHIVED))
        raise ZeroDivisionError

    assert store.changes.newest("ada", "shop", 5) == []
    assert store.get(pair[0].id).state is m.State.ACTIVE


def test_a_change_that_touched_nothing_is_no_entry(store):
    with one_change(store, change()):
        pass

    assert store.changes.newest("ada", "shop", 5) == []


def test_old_changes_are_listed_and_can_no_longer_be_undone(store, pair):
    made = change()
    with one_change(store, made):
        store.put(replace(pair[0], state=m.State.ARCHIVED))

    assert store.changes.expire(LATER) == 1

    with pytest.raises(Refused, match="have expired"):
        take_back(store, made)
    assert [each.id for each in store.changes.newest("ada", "shop", 5)] == [made.id]


def test_changes_are_their_users_own(store, pair):
    made = change()
    with one_change(store, made):
        store.put(replace(pair[0], state=m.State.ARCHIVED))

    assert store.changes.newest("bob", "shop", 5) == []
    with pytest.raises(ChangeNotFound):
        store.changes.get("bob", made.id)


def test_nobody_is_asked_the_same_twice(store, pair):
    question = m.Review(m.new_id(), "ada", "shop", "merge", (pair[0].id, pair[1].id), "0.91 alike", NOW)
    assert store.reviews.ask(question)
    store.reviews.decide(question.id, "rejected", LATER)

    again = replace(question, id=m.new_id())

    assert not store.reviews.ask(again)
    assert store.reviews.open("ada", "shop") == []
