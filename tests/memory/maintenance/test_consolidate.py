"""Each operation of consolidation on a small store, and what every run promises."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from consolidating import EVERYTHING, LATER, NOW, Bench, memory, rows_of

import recollect.model as m
from recollect import Engine
from recollect.errors import OutOfScope, Refused, UnknownName
from recollect.llm.protocol import StatementRelation
from recollect.memory.maintenance.consolidate import neighbours
from recollect.memory.maintenance.consolidate.neighbours import by_meaning, by_words
from recollect.memory.maintenance.consolidate.operations import OPERATIONS, tag_root
from recollect.memory.maintenance.consolidate.pairs import may_go
from recollect.memory.maintenance.consolidate.run import UNFINISHED, consolidate, due
from recollect.memory.maintenance.consolidate.throttle import WorkCounter
from recollect.memory.maintenance.consolidate.verifier import ProjectVerifier
from recollect.store.file_lock import FileLock


@pytest.fixture
def bench(store, home):
    return Bench(store, home)


@pytest.fixture
def rows(store):
    return lambda: rows_of(store.info().location)


PORT = "The ledger service listens on port 8080"


# merge


def test_what_says_the_same_becomes_one_and_the_richer_in_strength(bench):
    one = bench.say(f"{PORT}.", like=PORT, tags=("ledger",), file_paths=("a.py",))
    other = bench.say(f"the {PORT[4:]}!", like=PORT, tags=("ports",), file_paths=("b.py",))

    done = bench.run("merge")

    kept, gone = bench.now(one), bench.now(other)
    assert done.counts == {"merged": 1}
    assert (kept.strength, kept.tags, kept.file_paths) == (2, ("ledger", "ports"), ("a.py", "b.py"))
    assert (gone.state, gone.superseded_by) == (m.State.SUPERSEDED, one.id)
    assert bench.store.check() == []


def test_a_users_words_outlive_an_agents(bench):
    agents = bench.say(f"{PORT}.", like=PORT)
    users = bench.say(f"the {PORT[4:]}!", like=PORT, by="user")

    bench.run("merge")

    assert bench.now(agents).superseded_by == users.id
    assert bench.now(users).content == users.content


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PORT, "The ledger service listens on port 9090"),
        (PORT, "The billing service listens on port 8080"),
        ("In staging the cache uses Redis", "In production the cache uses Redis"),
        (
            "Error E1042 of the api means that the quota is used up",
            "The api's error E1107 means the quota is used up",
        ),
        ("Always run the linter before a push", "Never run the linter before a push"),
        ("The api calls the ledger", "The ledger calls the api"),
    ],
)
def test_a_near_miss_is_never_merged_however_near_its_vector(bench, one, other):
    bench.say(one, like=PORT)
    bench.say(other, like=PORT)

    done = bench.run("merge")

    assert done.counts.get("merged", 0) == 0


def test_what_is_probably_the_same_is_put_to_a_person_once(bench):
    one = bench.say("Releases are cut from main", like=PORT)
    other = bench.say("FYI releases are cut from main", like=PORT)

    first, second = bench.run("merge"), bench.run("merge")

    assert (first.counts, second.counts) == ({"proposed": 1}, {})
    assert bench.asked("merge") == [(one.id, other.id)]
    assert bench.now(other).state is m.State.ACTIVE


@pytest.mark.parametrize(
    "fields",
    [
        {"project_id": "till"},
        {"branch": "next"},
        {"season": "release-week"},
        {"scope": m.Scope.GLOBAL, "project_id": None},
        {"user_id": "bob"},
    ],
)
def test_nothing_is_merged_or_opposed_across_projects_users_scopes_branches_and_seasons(bench, fields):
    bench.say(PORT, like=PORT)
    bench.say(f"{PORT}!", like=PORT, **fields)
    bench.say("The ledger service listens on port 9090", like=PORT, **fields)

    done = bench.run("merge", "contradictions", "links")

    seen = bench.store.iter_memories(replace(EVERYTHING, user_id="ada"))
    assert done.counts.get("merged", 0) == 0
    assert {each.state for each in seen if each.content == PORT} == {m.State.ACTIVE}


def test_two_memories_of_two_sessions_scopes_stay_apart(bench):
    bench.say(PORT, like=PORT, scope=m.Scope.SESSION, session="a")
    bench.say(f"{PORT}!", like=PORT, scope=m.Scope.SESSION, session="b")

    assert bench.run("merge").counts == {}


def test_who_said_that_both_stand_is_not_asked_to_merge_them(bench):
    one, other = bench.say(PORT, like=PORT), bench.say(f"{PORT}!", like=PORT)
    link = m.Link(other.id, one.id, m.Relation.CONTRADICTS, NOW, resolved_at=NOW)
    bench.store.put_link(link)

    assert bench.run("merge", "contradictions").counts == {}


def test_without_vectors_only_the_same_text_merges(bench):
    bench.say(f"{PORT}")
    bench.say(f"{PORT} ")
    bench.say("Port 8080 is where the ledger service listens")

    done = bench.run("merge")

    assert done.counts["merged"] == 1


def test_what_was_edited_since_it_was_compared_is_left_alone(bench):
    one, other = bench.say(f"{PORT}.", like=PORT), bench.say(f"{PORT}!", like=PORT)
    (action,) = OPERATIONS["merge"].plan(bench.context(), "")
    text = f"{PORT} and 8081"
    bench.store.put(replace(other, content=text, fingerprint=m.fingerprint(text)))

    with bench.store.transaction():
        done = action.do()

    assert not done
    assert bench.now(one).state is bench.now(other).state is m.State.ACTIVE


def test_users_words_steps_and_private_words_do_not_go_unasked():
    users = memory("Use pnpm", provenance=(m.Provenance(m.Source.USER_STATED, NOW),))
    agents = memory("Use pnpm", provenance=(m.Provenance(m.Source.OBSERVED, NOW),), created_by="agent:x")
    steps = replace(agents, procedure=m.Procedure("a", steps=("one",)))
    public = replace(users, visibility=m.Visibility.PROJECT)

    assert may_go(users, agents)
    assert may_go(users, users)
    assert not may_go(agents, users)
    assert not may_go(agents, replace(agents, standing=m.Standing.PINNED))
    assert not may_go(replace(steps, procedure=m.Procedure("a", steps=("two",))), steps)
    assert not may_go(public, users)


# contradictions


def test_an_agents_newer_word_takes_the_place_of_its_older_one(bench):
    old = bench.say(PORT, like=PORT)
    new = bench.say("The ledger service listens on port 9090", like=PORT)

    done = bench.run("contradictions")

    assert done.counts == {"superseded": 1}
    assert bench.now(old).superseded_by == new.id
    assert bench.store.check() == []


@pytest.mark.parametrize("by", ["user", "agent:coder"])
def test_what_a_user_said_stands_until_the_user_decides(bench, by):
    old = bench.say(PORT, like=PORT, by="user")
    new = bench.say("The ledger service listens on port 9090", like=PORT, by=by)

    first, second = bench.run("contradictions"), bench.run("contradictions")

    assert (first.counts, second.counts) == ({"contradictions": 1}, {})
    assert bench.asked("contradiction") == [(new.id, old.id)]
    assert [link.source for link in bench.store.conflicts(EVERYTHING)] == [new.id]


def test_opposites_are_found_by_their_words_where_vectors_are_far_apart(bench):
    bench.say("Use tabs", like="apples", by="user")
    bench.say("Use spaces", like="oranges", by="user")

    assert bench.run("contradictions").counts == {"contradictions": 1}


@pytest.mark.parametrize(
    "one, other, counts",
    [
        (
            "A cron job purges expired carts every night.",
            "Expired carts are purged nightly by cron.",
            {"merged": 1},
        ),
        ("The lambdas are on Node 20.", "Runtime for our lambda functions is node v20.", {"merged": 1}),
        ("A cron job purges expired carts every night.", "Expired carts are purged weekly by cron.", {}),
        ("The cache is written on start.", "The cache is written on start by hand.", {"proposed": 1}),
    ],
)
def test_the_same_in_other_words_is_merged_if_values_subject_and_polarity_agree(bench, one, other, counts):
    bench.say(one, like=PORT)
    bench.say(other, like=f"{PORT} so")

    assert bench.run("merge").counts == counts


def test_where_the_rules_are_unsure_the_language_model_decides(bench):
    class Scripted:
        def relate(self, new, old):
            return StatementRelation.DUPLICATE

    bench.say("Releases are cut from main", like=PORT)
    bench.say("FYI releases are cut from main", like=PORT)

    done = bench.run("merge", sidecar=Scripted())

    assert done.counts == {"proposed": 1}, "it may say so, but words that only one has are not lost unasked"


# links, tags, vectors, facts, prune, clusters


def test_what_is_near_is_linked_across_sessions_and_not_within_one(bench):
    far = bench.say("The mailer sends invoices at night", like="mailer sends invoices night", session="a")
    near = bench.say(
        "Invoices go out at night by the mailer job", like="mailer sends invoices job", session="b"
    )
    bench.say("Walruses swim in the sea", like="walrus swim sea", session="c")
    bench.say("Walruses dive in the sea", like="walrus dive sea", session="c")

    done = bench.run("links")

    assert done.counts == {"linked": 1}
    assert {(link.source, link.target) for link in bench.store.links(far.id)} == {(near.id, far.id)}
    assert bench.run("links").counts == {}


def test_links_of_what_was_used_together_grow_once(bench):
    one = bench.say("One", last_accessed_at=NOW)
    other = bench.say("Two", last_accessed_at=NOW)
    third = bench.say("Three", last_accessed_at=NOW + timedelta(minutes=1))
    for target in (other, third):
        bench.store.put_link(m.Link(one.id, target.id, m.Relation.RELATES_TO, NOW, 0.5))

    first, second = bench.run("coaccess"), bench.run("coaccess")

    assert (first.counts, second.counts) == ({"strengthened": 1}, {})
    assert {link.target: link.weight for link in bench.store.links(one.id)} == {other.id: 0.6, third.id: 0.5}


def test_like_tags_become_one_and_orphans_go(bench):
    for number in range(3):
        bench.say(f"Thing {number}", tags=("test", "ci-cd"))
    other = bench.say("Another", tags=("go", "tests", "CI_CD"))
    bench.store.describe_tag("orphan", "")
    bench.store.describe_tag("kept", "someone described it")

    done = bench.run("tags")

    assert bench.now(other).tags == ("go", "test", "ci-cd")
    assert done.counts == {"tags": 3}
    assert bench.store.orphan_tags() == []
    assert bench.run("tags").counts == {}


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("test", "tests", True),
        ("CI_CD", "ci-cd", True),
        ("unit-tests", "unittest", True),
        ("library", "libraries", True),
        ("patch", "patches", True),
        ("css", "cs", False),
        ("redis", "redi", False),
        ("windows", "window", False),
        ("https", "http", False),
        ("status", "statu", False),
    ],
)
def test_a_tag_is_known_by_its_root(one, other, alike):
    assert (tag_root(one) == tag_root(other)) is alike


def test_missing_vectors_are_made(bench):
    bare = bench.say("The mailer sends invoices at night")

    done = bench.run("vectors")

    assert done.counts == {"vectors": 1}
    assert bench.store.vector(bare.id, "fake") is not None


def test_without_an_embedder_the_rest_is_done(bench):
    bench.say(PORT)
    bench.say(f"{PORT} ")
    bench.embedder.broken = True

    assert bench.run().counts["merged"] == 1


def test_a_memory_that_names_what_is_gone_is_put_to_a_person(bench, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "here.py").touch()
    (tmp_path / "package.json").write_text('{"scripts": {"lint": "x"}}')
    (tmp_path / "Makefile").write_text("check: src\n\ttrue\n")
    lost = [
        bench.say("Tokens are checked here", file_paths=("src/gone.py",)),
        bench.say("Look at `src/lost.py` first"),
        bench.say("Before a push run `npm run typecheck`"),
        bench.say("Before a push run `make tidy`"),
    ]
    for text in (
        "See `src/here.py`",
        "See `here/src/*.py`",
        "Run `npm run lint`, then `make check`, then `make -j4`",
        "`src/gone.py` was removed",
        "Look at `../other/file.py`",
        "Call `npm install` and `cargo run`",
    ):
        bench.say(text)

    done = bench.run("facts", verifiers={"shop": ProjectVerifier(tmp_path)})

    assert done.counts == {"stale": 4}
    assert bench.asked("stale") == [(each.id,) for each in lost]
    assert {bench.now(each).state for each in lost} == {m.State.ACTIVE}


def test_what_was_archived_and_is_no_longer_believed_goes_with_grace(bench):
    faint = {"state": m.State.ARCHIVED, "confidence": 0.05}
    lost = bench.say("Nobody believes this", **faint)
    strong = bench.say("Said twice", **faint, strength=2)
    firm = bench.say("Archived but believed", state=m.State.ARCHIVED, kind="convention")
    active = bench.say("Active", confidence=0.01)

    done = bench.run("prune")

    assert done.counts == {"pruned": 1}
    assert (bench.now(lost).state, bench.now(lost).deleted_at) == (m.State.DELETED, LATER)
    assert bench.now(strong).state is bench.now(firm).state is m.State.ARCHIVED
    assert bench.now(active).state is m.State.ACTIVE


def test_clusters_are_found_anew_and_left_where_they_are_the_same(bench):
    pick = np.random.default_rng(3)
    for topic in ("red", "green", "blue"):
        for number in range(12):
            said = bench.say(f"{topic} {number} " + " ".join(pick.choice(list("abcdefgh"), 2)))
            vector = bench.embedder.embed([topic])[0] + 0.05 * pick.standard_normal(64)
            vector = (vector / np.linalg.norm(vector)).astype("<f4")
            bench.store.put_vector(said.id, "fake", vector.tobytes())
    stale = m.Cluster("old", "shop", "old", "fake", vector.tobytes(), (), NOW)
    bench.store.put_clusters("shop", [stale])

    first, second = bench.run("clusters"), bench.run("clusters")

    assert len(bench.store.clusters("shop")) == 3
    assert (first.counts, second.counts) == ({"clusters": 4}, {})


# every run


@pytest.fixture
def busy_store(bench):
    """Something to do for every operation that a small store can have."""
    bench.say(f"{PORT}.", like=PORT, tags=("test",))
    bench.say(f"the {PORT[4:]}!", like=PORT, tags=("tests", "x"))
    bench.say(f"Note: {PORT}", like=PORT)
    bench.say("Use tabs", like="Use tabs", by="user")
    bench.say("Use spaces", like="Use spaces", by="user")
    bench.say("The mailer sends invoices at night", like="mailer sends invoices night")
    bench.say("Invoices go out at night by the mailer job", like="mailer sends invoices job")
    bench.say("No vector yet")
    bench.say("Nobody believes this", state=m.State.ARCHIVED, confidence=0.01)
    bench.store.describe_tag("orphan", "")
    return bench


def test_a_dry_run_shows_what_a_run_does_and_changes_nothing(busy_store, rows):
    before, settings = rows(), busy_store.store.setting(None, UNFINISHED)

    planned = busy_store.plan()

    assert rows() == before
    assert busy_store.store.setting(None, UNFINISHED) == settings
    assert busy_store.store.changes.newest("ada", None, 5) == []
    done = busy_store.run()
    assert planned.counts == done.counts
    assert {
        "merged",
        "proposed",
        "contradictions",
        "linked",
        "vectors",
        "pruned",
        "tags",
    } <= done.counts.keys()


def test_a_run_is_one_change_that_is_undone_row_by_row(busy_store, rows):
    before = rows()
    done = busy_store.run()
    assert rows() != before
    (change,) = busy_store.store.changes.newest("ada", None, 5)
    assert (change.id, change.summary) == (done.change, done.summary)

    undone = busy_store.undo(change)

    assert undone.left_alone == ()
    assert rows() == before
    assert busy_store.store.check() == []


def test_a_second_run_finds_nothing_left(busy_store, rows):
    busy_store.run()
    before = rows()

    again = busy_store.run()

    assert (again.counts, again.change, again.summary) == ({}, None, "Nothing to do.")
    assert rows() == before


@pytest.mark.parametrize("patience", range(0, 60, 4))
def test_one_that_is_stopped_goes_on_where_it_stopped(busy_store, rows, patience):
    looks = iter(range(1000))
    stopped = busy_store.run(stop=lambda: next(looks) >= patience)
    assert busy_store.store.check() == []

    done = busy_store.run()

    assert done.finished
    assert done.resumed is (not stopped.finished and bool(stopped.counts))
    assert busy_store.run().counts == {}
    changes = busy_store.store.changes.newest("ada", None, 5)
    assert all(change.finished_at for change in changes)
    assert len(changes) == 1, "cut short or not, it is one change"


def test_a_run_of_another_kind_ends_the_one_that_was_cut_short(busy_store):
    busy_store.run(stop=lambda: bool(busy_store.store.changes.newest("ada", None, 1)))

    busy_store.run("tags")

    newest, cut_short = busy_store.store.changes.newest("ada", None, 5)
    assert newest.summary.endswith("tags.")
    assert cut_short.summary.endswith("Stopped before the end.")
    assert cut_short.finished_at is not None


def test_it_waits_while_someone_works(busy_store):
    foreground, looks = WorkCounter(), []

    def busy():
        looks.append(foreground.busy())
        if len(looks) == 3:
            working.__exit__(None, None, None)
        return looks[-1]

    working = foreground.working()
    working.__enter__()
    done = busy_store.run(busy=busy)

    assert done.finished
    assert looks[:3] == [True, True, True]
    assert not any(looks[3:])


def test_two_at_once_are_one_too_many(bench, home):
    other = FileLock(home / "consolidate.lock")
    assert other.exclude_others()

    with pytest.raises(Refused, match="already running"):
        bench.run()
    other.leave()


def test_an_operation_that_does_not_exist_is_refused_by_name(bench):
    with pytest.raises(UnknownName, match="polish"):
        bench.run("polish")


def test_every_operation_says_what_it_does():
    assert all(operation.plan.__doc__ for operation in OPERATIONS.values())


def test_progress_tells_all_of_every_operation(busy_store):
    told = []

    consolidate(busy_store.context(), (), told.append, busy_store.home / "consolidate.lock")

    assert sum(told) == 100 * len(OPERATIONS)


def test_the_engine_consolidates_for_people_only(engine):
    engine.remember("Use tabs")

    assert engine.care.consolidate(dry_run=True).finished
    assert engine.care.consolidate(["tags"]).summary == "Nothing to do."
    with pytest.raises(OutOfScope):
        replace(engine.care, context=replace(engine.context, actor="agent:coder")).consolidate()


def test_a_run_after_months_away_can_be_undone(home, folder, embedder):
    away = m.utc_now() - timedelta(days=90)
    with Engine.open(folder, home, embedder=embedder, clock=lambda: away) as engine:
        kept = engine.get(engine.remember(f"{PORT}.").id)
        with engine.store.transaction():
            engine.store.put(
                replace(kept, id=m.new_id(away), fingerprint="other", content=f"the {PORT[4:]}!")
            )

    with Engine.open(folder, home, embedder=embedder) as engine:
        done = engine.care.consolidate(["vectors", "merge"])
        merged = len(engine.list())
        engine.care.undo(done.change)
        undone = len(engine.list())

    assert (done.counts["merged"], merged, undone) == (1, 1, 2)


HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("age", "active", "capacity", "idle_for", "reason"),
    [
        (None, 0, 10, 9 * HOUR, None),
        (None, 5, 10, 0 * HOUR, None),
        (None, 5, 10, HOUR, "idle"),
        (2 * HOUR, 5, 10, HOUR, None),
        (25 * HOUR, 5, 10, HOUR, "idle"),
        (25 * HOUR, 5, 10, 0 * HOUR, None),
        (8 * 24 * HOUR, 5, 10, 0 * HOUR, "period"),
        (2 * HOUR, 11, 10, 0 * HOUR, "capacity"),
        (HOUR / 2, 11, 10, 0 * HOUR, None),
        (-9 * HOUR, 5, 10, HOUR, "idle"),
        (2 * HOUR, 11, 0, 0 * HOUR, None),
    ],
)
def test_when_it_is_due(age, active, capacity, idle_for, reason):
    last = None if age is None else NOW - age

    assert due(last, NOW, active, capacity, idle_for) == reason


@pytest.fixture
def many():
    """1,500 vectors of which each has a twin that lies close by, far from all others."""
    pick = np.random.default_rng(1)
    ones = pick.standard_normal((750, 64))
    twins = ones + 0.1 * pick.standard_normal((750, 64))
    both = np.concatenate([ones, twins]).astype(np.float32)
    return both / np.linalg.norm(both, axis=1, keepdims=True)


def test_cells_find_the_pairs_that_comparing_all_finds(many, monkeypatch):
    exact = set(zip(*(column.tolist() for column in by_meaning(many, 0.85, lambda: None)[:2]), strict=True))
    monkeypatch.setattr(neighbours, "EXACTLY", 700)

    found = set(zip(*(column.tolist() for column in by_meaning(many, 0.85, lambda: None)[:2]), strict=True))

    assert {(row, row + 750) for row in range(750)} <= exact
    assert len(found & exact) >= 0.99 * len(exact)


def test_neighbours_in_words_share_all_but_one_or_the_subject():
    texts = [
        "Use tabs",
        "Use spaces",
        "The ledger service listens on port 8080",
        "The ledger service listens on port 9090",
        "Walruses swim far out in the cold sea",
    ]

    pairs, _ = by_words(texts, lambda: None)

    assert [tuple(pair) for pair in pairs.tolist()] == [(0, 1), (2, 3)]


def test_what_a_repository_proposes_is_not_merged_with_what_somebody_said(engine):
    """The agent does not see proposals, so nothing of its own may end in one."""
    seed = {"created_by": f"{m.SEEDS_OF}shop", "source": "seeded", "standing": "candidate"}
    proposed = engine.remember("Amounts of money are integers in cents", **seed)
    noted = engine.remember(
        "Amounts of money are integers in cents.", created_by="agent:coder", source="inferred"
    )

    engine.care.consolidate()

    assert noted.id != proposed.id
    assert [engine.get(name).state for name in (proposed.id, noted.id)] == [m.State.ACTIVE, m.State.ACTIVE]
