"""What a program kept and nobody needs goes to the archive, and says why."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect.model as m
from recollect.engine import Engine
from recollect.kinds import KINDS
from recollect.memory.maintenance.compact import Archival, Cause, Compaction, compact, is_due, plan, settled

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
VIEW = m.View("ada", "shop", all_sessions=True)
CODER = {"created_by": "agent:coder"}


def memory(kind="fact", days=0.0, source=m.Source.OBSERVED, session=None, **fields):
    """Something an agent kept in the project `shop`, that many days ago."""
    born = NOW - timedelta(days=days)
    text = fields.pop("content", "text")
    values = {
        "id": m.new_id(),
        "user_id": "ada",
        "project_id": "shop",
        "scope": m.Scope.PROJECT,
        "kind": kind,
        "content": text,
        "summary": text,
        "fingerprint": m.fingerprint(text),
        "created_at": born,
        "updated_at": born,
        "valid_from": born,
        "provenance": (m.Provenance(source, born, session=session),),
        "confidence": m.TRUST[source],
        "trust": m.TRUST[source],
        "promoted_at": born,
    }
    return m.Memory(**{**values, **fields})


def reasons(memories, capacity=0, **rest):
    return [each.reason for each in plan(memories, NOW, capacity, **rest)]


# the rules


@pytest.mark.parametrize(
    "one, reason",
    [
        (memory("task_progress", days=15, trust=1.0), "past its 14 days, never used"),
        (memory("file_change", days=22, access_count=1), "past its 21 days, used once"),
        (memory("file_change", days=22, access_count=2), "past its 21 days, used twice"),
        (memory("observation", days=21), "faded: confidence 0.06"),
        (memory("context", confidence=0.1), "faded: confidence 0.07"),
        (memory("context", scope=m.Scope.SESSION, session="over"), "its session has ended"),
    ],
)
def test_what_describes_a_moment_goes_when_that_is_over(one, reason):
    assert reasons([one], ended={"over"}) == [reason]


@pytest.mark.parametrize(
    "one, reason",
    [
        (memory("discovery", days=22), "past its 21 days, never used"),
        (memory("decision", days=91, access_count=2), "past its 90 days, used twice"),
        (memory("fact", days=90), "faded: confidence 0.06"),
        (memory("decision", confidence=0.1), "faded: confidence 0.07"),
        (memory("decision", days=14, source=m.Source.INFERRED), "faded: confidence 0.06"),
    ],
)
def test_anything_else_that_has_had_its_day_goes_only_where_room_is_needed(one, reason):
    others = [memory("convention", importance=0.0) for _ in range(10)]

    assert reasons([one, *others], capacity=11) == []
    assert reasons([one, *others], capacity=10)[0] == reason


@pytest.mark.parametrize(
    "one",
    [
        memory("file_change", days=21),
        memory("file_change", days=22, access_count=3),
        memory("file_change", days=60, reinforcements=(m.Reinforcement(NOW - timedelta(days=2), "agent:x"),)),
        memory("convention", days=4000),
        memory("fact", days=4000),
        memory("observation", days=14),
        memory("observation", days=-5),
        memory("context", scope=m.Scope.SESSION, session="going on"),
        memory("context", session="over"),
        memory("fact", days=400, state=m.State.SUPERSEDED),
    ],
)
def test_what_has_not_had_its_day_stays(one):
    assert reasons([one], ended={"over"}) == []


@pytest.mark.parametrize(
    "exempt",
    [
        {"standing": m.Standing.PINNED},
        {"source": m.Source.USER_STATED},
        {"source": m.Source.USER_CORRECTED},
        {"promoted_at": None},
        {"last_accessed_at": NOW - timedelta(hours=23)},
        {
            "provenance": (
                m.Provenance(m.Source.INFERRED, NOW - timedelta(days=400)),
                m.Provenance(m.Source.USER_STATED, NOW - timedelta(days=300)),
            )
        },
    ],
    ids=["pinned", "stated", "corrected", "imported", "used lately", "said by the user too"],
)
@pytest.mark.parametrize("days, capacity", [(400, 0), (0, 1)])
def test_some_are_never_archived(exempt, days, capacity):
    kept = memory(
        "task_progress", days=days, **{"importance": 0.0, "confidence": 0.7, "trust": 0.7, **exempt}
    )
    others = [memory("convention", importance=0.9) for _ in range(3)]

    going = plan([kept, *others], NOW, capacity)

    assert kept.id not in {each.memory for each in going}


def test_above_capacity_the_least_important_go_until_there_is_room():
    memories = [memory("convention", importance=number / 100) for number in range(21)]

    going = plan(memories[::-1], NOW, 20)

    assert [each.memory for each in going] == [each.id for each in memories[:3]]  # down to 18, which is 90 %
    assert [each.reason for each in going][1:] == [
        "over capacity of 20: importance 0.01",  # 0.01 × 0.5, never having been used
        "over capacity of 20: importance 0.01",
    ]


def test_a_full_project_is_not_above_its_capacity():
    assert plan([memory("convention") for _ in range(20)], NOW, 20) == []


def test_every_project_has_a_capacity_of_its_own():
    here = [memory("convention") for _ in range(10)]
    there = [memory("convention", project_id="blog") for _ in range(11)]

    going = plan([*here, *there], NOW, 10)

    assert {each.memory for each in going} <= {each.id for each in there}
    assert len(going) == 2


def test_what_may_not_go_takes_room_all_the_same():
    pinned = [memory("convention", standing=m.Standing.PINNED) for _ in range(9)]
    others = [memory("convention") for _ in range(4)]

    going = plan([*pinned, *others], NOW, 10)

    assert {each.memory for each in going} == {each.id for each in others}


def test_what_has_had_its_day_makes_room_first():
    old = [memory("discovery", days=30, importance=1.0) for _ in range(5)]
    others = [memory("convention", importance=0.1) for _ in range(10)]

    assert [each.cause for each in plan([*others, *old], NOW, 10)] == [*[Cause.TIME] * 5, Cause.CAPACITY]


def test_no_capacity_means_any_number():
    assert plan([memory("convention") for _ in range(50)], NOW, 0) == []


def days_ago(most):
    return st.floats(-2, most).map(lambda days: NOW - timedelta(days=days))


aged = st.builds(
    memory,
    kind=st.sampled_from(sorted(KINDS)),
    days=st.floats(-2, 500),
    source=st.sampled_from(m.Source),
    session=st.sampled_from([None, "over", "going on"]),
    scope=st.sampled_from([m.Scope.PROJECT, m.Scope.SESSION]),
    project_id=st.sampled_from(["shop", None]),
    standing=st.sampled_from(m.Standing),
    state=st.sampled_from([m.State.ACTIVE, m.State.ACTIVE, m.State.ARCHIVED]),
    confidence=st.floats(0, 1),
    trust=st.sampled_from([0.5, 0.7, 1.0]),
    importance=st.floats(0, 1),
    access_count=st.integers(0, 4),
    last_accessed_at=st.none() | days_ago(90),
    promoted_at=st.none() | days_ago(5),
    settled_at=st.none() | days_ago(5),
)


class Undo(Exception):
    """Rolls an example back, so that each begins with an empty store."""


@given(st.lists(aged, max_size=12), st.integers(0, 8))
@settings(max_examples=150)
def test_the_store_hands_over_all_that_the_rules_decide_on(store, memories, capacity):
    with pytest.raises(Undo), store.transaction():
        store.put_session(m.Session("over", "ada", "shop", NOW, ended_at=NOW))
        store.put_session(m.Session("going on", "ada", "shop", NOW))
        for each in memories:
            store.put(each)

        handed = store.ageing(VIEW, NOW, capacity)

        assert sorted(handed, key=lambda each: each.id) == handed
        for ended in ((), {"over"}):
            wanted = plan(sorted(memories, key=lambda each: each.id), NOW, capacity, ended)
            assert plan(handed, NOW, capacity, ended) == wanted
        assert {each.id for each in memories if settled(each, NOW)} <= {each.id for each in handed}
        raise Undo


@given(st.lists(aged, max_size=12), st.integers(0, 8))
@settings(max_examples=60)
def test_the_second_time_there_is_nothing_left_to_do(store, memories, capacity):
    with pytest.raises(Undo), store.transaction():
        store.put_session(m.Session("over", "ada", "shop", NOW, ended_at=NOW))
        for each in memories:
            store.put(each)
        first = run(store, capacity)
        after = list(store.iter_memories(replace(VIEW, states=m.ALL_STATES))), store.seq(), store.audit(100)

        second = run(store, capacity)

        assert second == Compaction(None)
        assert first.archived or first.confirmed or first.doubted or first == second
        now = list(store.iter_memories(replace(VIEW, states=m.ALL_STATES))), store.seq(), store.audit(100)
        assert now == after
        raise Undo


def run(store, capacity=0):
    return compact(store, user_id="ada", project_id="shop", capacity=capacity, now=NOW)


# the act


@pytest.fixture
def old(engine, clock):
    """Two that an agent kept, long ago, and one that the user said."""
    names = [
        engine.remember("The till prints twice.", kind="file_change", **CODER).id,
        engine.remember("Mail is sent by a worker.", kind="observation", **CODER).id,
        engine.remember("Seats are held in Redis.", kind="file_change").id,
    ]
    clock.advance(days=100)
    return names


def test_what_was_archived_is_out_of_sight_and_can_still_be_found(engine, old):
    made = engine.care.compact()

    assert [each.id for each in engine.list()] == old[2:]
    assert {each.id for each in engine.list(state="archived")} == set(old[:2])
    assert engine.get(old[0]).state_reason == "past its 21 days, never used"
    assert made.archived == (
        Archival(old[0], Cause.TIME, "past its 21 days, never used"),
        Archival(old[1], Cause.FADED, "faded: confidence 0.00"),
    )
    assert made.counts == {Cause.TIME: 1, Cause.FADED: 1}


def test_every_archived_memory_has_one_line_that_explains_it(engine, old):
    engine.care.compact()
    engine.care.compact()

    for name in old[:2]:
        lines = [line for line in engine.audit(50, name) if line.detail.get("state") == "archived"]
        assert [(line.action, line.actor) for line in lines] == [("compact", "agent:memory")]
        assert lines[0].detail["reason"] == engine.get(name).state_reason
    assert engine.store.check() == []


def test_what_goes_for_want_of_room_was_evicted(store):
    for number in range(11):
        each = memory("convention", content=f"Rule {number}.")
        store.log("add", "agent:coder", NOW, each.id, {})
        store.put(each)

    made = run(store, capacity=10)

    assert made.counts == {Cause.CAPACITY: 2}
    assert {line.action for line in store.audit(50) if line.detail.get("state")} == {"evict"}
    assert store.count(VIEW) == 9


def test_it_is_one_change_that_can_be_taken_back(engine, old):
    before = [engine.get(name) for name in old]
    made = engine.care.compact()
    change = engine.care.changes()[0]

    engine.care.undo(change.id)

    assert (change.id, change.action, change.summary) == (made.change, "compact", made.summary)
    assert change.finished_at is not None
    assert made.summary == "Archived 2 (1 faded, 1 out of time)."
    assert [engine.get(name) for name in old] == before


def test_what_someone_got_back_does_not_go_again(engine, old, clock):
    made = engine.care.compact()
    engine.care.undo(made.change)
    clock.advance(days=1)

    assert engine.care.compact() == Compaction(None)


def test_what_someone_got_back_stays_whatever_is_done_to_memories_since(engine, old, clock):
    made = engine.care.compact()
    engine.care.undo(made.change)
    for number in range(60):
        engine.memory.tag(old[0], [f"till-{number}"])
    clock.advance(days=1)

    assert engine.care.compact() == Compaction(None)


def test_what_is_said_again_comes_back_and_stays(engine, old, clock):
    engine.care.compact()

    engine.remember("The till prints twice.", **CODER)

    assert engine.care.compact().archived == ()
    assert engine.get(old[0]).state is m.State.ACTIVE


class UsedMeanwhile:
    """A store in which someone uses a memory between the look and the act."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    def ageing(self, *args):
        found = self._store.ageing(*args)
        self._store.put(replace(found[0], access_count=1, last_accessed_at=NOW))
        return found


def test_what_is_used_at_the_last_moment_stays(store):
    first, second = memory("observation", 200, content="One."), memory("observation", 200, content="Two.")
    store.put(first)
    store.put(second)

    made = run(UsedMeanwhile(store))

    assert [each.memory for each in made.archived] == [second.id]
    assert store.get(first.id).state is m.State.ACTIVE


def test_many_go_in_several_transactions_and_one_change(store):
    with store.transaction():
        for number in range(1100):
            store.put(memory("observation", 200, content=f"Number {number}."))

    made = run(store)

    assert len(made.archived) == 1100
    assert [change.id for change in store.changes.newest("ada", "shop", 5)] == [made.change]


# when


def test_it_is_due_daily_and_after_fifty_retrievals(store):
    assert is_due(store, "shop", NOW)
    run(store)
    assert not is_due(store, "shop", NOW + timedelta(hours=23))

    store.set_setting("shop", "retrievals", {"count": 49})
    assert not is_due(store, "shop", NOW)
    store.set_setting("shop", "retrievals", {"count": 50})

    assert is_due(store, "shop", NOW)
    assert is_due(store, "shop", NOW + timedelta(hours=24))
    assert is_due(store, "shop", NOW - timedelta(days=400))  # the clock was wrong then


@pytest.fixture
def reopen(engine, home, folder, embedder, clock):
    """Another opening of the same store; the first is closed."""
    engine.close()
    return lambda **given: Engine.open(folder, home, embedder=embedder, clock=clock, **given)


@pytest.fixture
def outlived(reopen, clock):
    """A memory whose time is over, in a store that was compacted when it was new."""
    with reopen() as user:
        name = user.remember("The till prints twice.", kind="file_change", **CODER).id
    clock.advance(days=22)
    return name


def write(engine):
    engine.remember("Node 22 is needed for the web build.")


def search(engine):
    engine.search("what does the till print")


def idle(engine):
    engine.schedule.run_idle()


def look(engine):
    engine.list()


@pytest.mark.parametrize(
    "work, state", [(write, "archived"), (search, "archived"), (idle, "archived"), (look, "active")]
)
@pytest.mark.parametrize("actor", ["user", "agent:coder"])
def test_whoever_writes_or_searches_leaves_the_store_compacted(outlived, reopen, actor, work, state):
    with reopen(actor=actor) as worker:
        work(worker)

    with reopen() as reader:
        assert reader.get(outlived).state == state


def test_it_happens_once_a_day(outlived, reopen, clock):
    ran = []
    for hours in (0, 23, 1):
        clock.advance(hours=hours)
        with reopen() as user:
            write(user)
        with reopen() as reader:
            ran.append(reader.stats()["compaction"]["at"] == m.to_text(clock()))

    assert ran == [True, False, True]


def test_stats_tell_what_it_did(outlived, reopen):
    with reopen() as user:
        write(user)

    with reopen() as reader:
        assert reader.stats()["compaction"]["summary"] == "Archived 1 (1 out of time)."


def test_the_capacity_is_a_setting(home, engine, reopen, clock):
    (home / "config.toml").write_text("capacity = 10\n")
    with reopen() as user:
        for number in range(11):
            user.remember(f"Rule {'abcdefghijk'[number] * 8} holds.", kind="convention", **CODER)
        clock.advance(days=2)

        made = user.care.compact()

    assert made.counts == {Cause.CAPACITY: 2}
