"""Graph expansion: on numbers by hand, on random graphs and stores, and on memories with the real model."""

import json
import math
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect.model as m
from recollect.engine import Engine
from recollect.memory.index.index import MemoryIndex
from recollect.memory.ranking import FAN_OUT, HOP_SHARE, MOST_SEEDS, SEED_SIMILARITY
from recollect.memory.search.graph import choose_seeds, edges_of, expand, hop_share, similar
from recollect.model import MemoryEdge
from recollect.store.sqlite import opening
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.store import SqliteStore

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DATA = Path(__file__).parents[3] / "bench" / "data"
HERE = m.View("ada", "shop")


def edge(source, target, relation="relates_to", weight=1.0, degree=1, name="", forward=True):
    return MemoryEdge(source, target, relation, name, weight, degree, forward)


def supply(*edges):
    return lambda ids: [each for each in edges if each.source in ids]


def memory(name, **fields):
    values = {
        "id": name,
        "user_id": "ada",
        "project_id": "shop",
        "scope": m.Scope.PROJECT,
        "kind": "fact",
        "content": f"About {name}.",
        "summary": name,
        "fingerprint": m.fingerprint(f"About {name}."),
        "created_at": NOW,
        "updated_at": NOW,
        "valid_from": NOW,
        "provenance": (m.Provenance(m.Source.USER_STATED, NOW),),
    }
    return m.Memory(**{**values, **fields})


def keep(store, *memories):
    with store.transaction():
        for each in memories:
            store.log("add", "user", NOW, each.id, {})
            store.put(each)


def link(store, source, target, relation="relates_to", weight=1.0):
    store.put_link(m.Link(source, target, m.Relation(relation), NOW, weight))


def expand_from(store, seeds, view=HERE, **limits):
    return expand(seeds, edges_of(store, view), **limits)


# the walk itself


def test_a_score_starts_from_the_seed_and_shrinks_with_every_hop():
    found = expand({"a": 0.8}, supply(edge("a", "b", weight=0.5), edge("b", "c", "caused_by")))

    assert found["b"].score == pytest.approx(0.8 * 0.5 * HOP_SHARE)
    assert found["c"].score == pytest.approx(0.8 * 0.5 * HOP_SHARE * 0.3 * HOP_SHARE)


@pytest.mark.parametrize(
    "relation, strength",
    [
        ("tag", 0.8),
        ("cluster", 0.6),
        ("relates_to", 0.45),
        ("supersedes", 0.9),
        ("contradicts", 0.3),
        ("derived_from", 0.3),
        ("depends_on", 0.3),
        ("caused_by", 0.3),
    ],
)
def test_each_edge_has_its_strength(relation, strength):
    assert hop_share(edge("a", "b", relation, weight=0.45)) == pytest.approx(strength * HOP_SHARE)


def test_nothing_is_reached_in_more_than_two_hops():
    found = expand({"a": 1.0}, supply(edge("a", "b"), edge("b", "c"), edge("c", "d")))

    assert set(found) == {"b", "c"}


def test_every_memory_keeps_its_best_path():
    long_way = edge("a", "b"), edge("b", "c")
    short_way = edge("a", "c", "caused_by")

    found = expand({"a": 1.0}, supply(*long_way, short_way))

    assert found["c"].steps == long_way
    assert found["c"].score == pytest.approx(HOP_SHARE**2)


def test_a_weak_long_path_does_not_hide_that_a_short_one_goes_on():
    # b is best reached by two hops, from which the walk may not go on; the direct hop to b may.
    edges = edge("a", "x"), edge("x", "b"), edge("a", "b", weight=0.4), edge("b", "end")

    found = expand({"a": 1.0}, supply(*edges))

    assert len(found["b"].steps) == 2
    assert found["end"].score == pytest.approx(0.4 * HOP_SHARE**2)
    assert [step.target for step in found["end"].steps] == ["b", "end"]


def test_a_seed_is_found_only_where_another_leads_to_it_more_strongly():
    found = expand({"a": 0.9, "b": 0.5, "c": 0.8}, supply(edge("a", "b"), edge("a", "c")))

    assert set(found) == {"b"}
    assert found["b"].seed == "a"


def test_the_path_reads_from_the_query_to_the_memory():
    way = edge("m00a1b2c3", "m00d4e5f6", "tag", name="incident-42")
    back = edge("m00d4e5f6", "m00ffffff", "caused_by", forward=False)

    found = expand({"m00a1b2c3": 0.9}, supply(way, back))

    text = "“login loop” → #a1b2c3 —tag incident-42→ #d4e5f6 ←caused_by— #ffffff"
    assert found["m00ffffff"].text("login loop") == text


def test_of_the_hits_ten_are_seeds_and_none_that_is_too_far():
    hits = [(f"m{number:02}", number / 20) for number in range(20)]

    seeds = choose_seeds(hits)

    assert len(seeds) == MOST_SEEDS
    assert min(seeds.values()) >= SEED_SIMILARITY
    assert next(iter(seeds)) == "m19"


def test_there_is_a_limit_and_the_best_are_within_it():
    edges = [edge("a", f"b{number}", weight=number / 100) for number in range(1, 100)]

    found = expand({"a": 1.0}, supply(*edges), limit=7)

    assert list(found) == [f"b{number}" for number in range(99, 92, -1)]


names = st.sampled_from("abcdefgh")
edges = st.builds(
    MemoryEdge,
    source=names,
    target=names,
    relation=st.sampled_from(["tag", "cluster", *m.Relation]),
    name=st.just("x"),
    weight=st.floats(-1, 2),
    degree=st.integers(0, 600),
    forward=st.booleans(),
)


@given(st.dictionaries(names, st.floats(0, 1)), st.lists(edges, max_size=40))
def test_a_score_falls_along_its_path_and_never_passes_its_seed(seeds, graph):
    found = expand(seeds, supply(*graph))

    for name, path in found.items():
        assert path.steps[-1].target == name
        assert 1 <= len(path.steps) <= 2
        score = seeds[path.seed]
        for step in path.steps:
            assert hop_share(step) <= HOP_SHARE
            assert score * hop_share(step) <= score
            score *= hop_share(step)
        assert math.isclose(score, path.score)


@given(st.dictionaries(names, st.floats(0, 1)), st.lists(edges, max_size=40))
def test_no_single_hop_is_better_than_the_path_that_was_found(seeds, graph):
    found = expand(seeds, supply(*graph), limit=100)

    for first in graph:
        if first.source in seeds:
            score = seeds[first.source] * hop_share(first)
            if hop_share(first) >= 0.04:
                known = max(
                    found[first.target].score if first.target in found else 0, seeds.get(first.target, 0)
                )
                assert known >= score - 1e-12


# over a store


def test_a_tag_of_two_memories_leads_from_one_to_the_other(store):
    keep(store, memory("a", tags=("incident-42",)), memory("b", tags=("incident-42", "cdn")), memory("c"))

    found = expand_from(store, {"a": 0.7})

    assert set(found) == {"b"}
    assert found["b"].score == pytest.approx(0.7 * 0.8 * HOP_SHARE)
    assert found["b"].steps[0].name == "incident-42"


def test_a_cluster_leads_to_its_other_members(store):
    keep(store, memory("a"), memory("b"), memory("c"))
    store.put_clusters("shop", [m.Cluster("k1", "shop", "seat map", "fake", b"", ("a", "b"), NOW)])

    found = expand_from(store, {"a": 0.7})

    assert set(found) == {"b"}
    assert found["b"].score == pytest.approx(0.7 * 0.6 * HOP_SHARE)
    assert found["b"].steps[0].name == "seat map"


def test_links_are_walked_both_ways(store):
    keep(store, memory("a"), memory("b"), memory("c"))
    link(store, "a", "b", "caused_by")
    link(store, "c", "a", "depends_on")

    found = expand_from(store, {"a": 1.0})

    assert found["b"].steps[0].forward
    assert not found["c"].steps[0].forward


def test_supersedes_leads_to_the_newer_memory_and_never_back(store):
    old = memory("old", state=m.State.SUPERSEDED, state_reason="superseded", superseded_by="new")
    keep(store, memory("new"), old)
    link(store, "new", "old", "supersedes")
    everything = replace(HERE, states=m.ALL_STATES)

    assert expand_from(store, {"old": 0.5}, everything)["new"].score == pytest.approx(0.5 * 0.9 * HOP_SHARE)
    assert expand_from(store, {"new": 0.5}, everything) == {}
    assert (
        expand_from(store, {"old": 0.5}, HERE) == {}
    )  # what the view does not show is no place to start from


def test_a_tag_on_500_memories_floods_nothing(store):
    crowd = [memory(f"x{number:03}", tags=("backend",)) for number in range(500)]
    keep(store, *crowd, memory("hit", tags=("backend", "pair")), memory("twin", tags=("pair",)))
    keep(store, memory("cause", tags=("backend",)), memory("deeper"))
    link(store, "hit", "cause", "caused_by")
    link(store, "cause", "deeper", "caused_by")

    found = expand_from(store, {"hit": 0.6})

    assert list(found) == ["twin", "cause", "deeper"]


def test_a_memory_with_500_links_is_no_short_cut_either(store):
    crowd = [memory(f"x{number:03}") for number in range(500)]
    keep(store, *crowd, memory("hit"), memory("hub"), memory("friend"), memory("further"))
    for each in crowd:
        link(store, "hub", each.id, weight=0.9)
    link(store, "hit", "hub", weight=0.9)
    link(store, "hit", "friend", weight=0.5)
    link(store, "friend", "further", weight=0.5)

    found = expand_from(store, {"hit": 0.6}, limit=100)

    assert list(found)[:3] == ["hub", "friend", "further"]
    assert len(found) <= 3 + FAN_OUT


@pytest.mark.parametrize("others", [1, 4, 13])
def test_the_more_memories_a_tag_is_on_the_less_it_ties_them(store, others):
    keep(store, memory("hit", tags=("t",)), *(memory(f"x{n}", tags=("t",)) for n in range(others)))

    found = expand_from(store, {"hit": 1.0})

    assert len(found) == others
    assert found["x0"].score == pytest.approx(0.8 * HOP_SHARE / others)


def test_what_other_projects_hold_makes_a_tag_no_hub_here(store):
    elsewhere = [memory(f"x{n:03}", tags=("auth",), project_id="other") for n in range(500)]
    keep(store, *elsewhere, memory("a", tags=("auth",)), memory("b", tags=("auth",)))

    found = expand_from(store, {"a": 1.0})

    assert found["b"].score == pytest.approx(0.8 * HOP_SHARE)


def test_a_memory_that_moved_to_another_project_takes_its_tags_along(store):
    keep(store, memory("a", tags=("t",)), memory("b", tags=("t",)))
    keep(store, memory("b", tags=("t",), project_id="other"))

    assert expand_from(store, {"a": 1.0}) == {}
    assert "b" in expand_from(store, {"a": 1.0}, replace(HERE, all_projects=True))


def test_tags_of_an_older_store_know_their_project_after_the_migration(home):
    path = home / "recollect.db"
    store = SqliteStore(path, "ada")
    keep(store, memory("a", tags=("t",)), memory("b", tags=("t",)), memory("c", tags=("t",), project_id=None))
    store.close()
    undo_migration(path)

    store = SqliteStore(path, "ada")

    assert set(expand_from(store, {"a": 1.0})) == {"b", "c"}
    store.close()


def undo_migration(path):
    """The file as it was before tags knew their project."""
    db = connect(path, None)
    db.execute("DROP INDEX memory_tags_place; DROP INDEX memories_triggers")
    db.execute("ALTER TABLE memory_tags DROP COLUMN project")
    db.execute("CREATE INDEX memory_tags_tag ON memory_tags (tag, num)")
    files = sorted((Path(opening.__file__).parent / "migrations").glob("*.sql"))[3:]
    later = "".join(file.read_text() for file in files)
    made = set(re.findall(r"CREATE (?:VIRTUAL )?TABLE (\w+)", later))
    for table in made:
        db.execute(f"DROP TABLE IF EXISTS {table}")
    for index in re.findall(r"CREATE (?:UNIQUE )?INDEX (\w+)", later):
        db.execute(f"DROP INDEX IF EXISTS {index}")
    for table, column in re.findall(r"ALTER TABLE (\w+) ADD COLUMN (\w+)", later):
        if table not in made:
            db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    db.pragma("user_version", 2)
    db.close()


places = st.fixed_dictionaries(
    {
        "user_id": st.sampled_from(["ada", "bob"]),
        "project_id": st.sampled_from(["shop", "other", None]),
        "scope": st.sampled_from(m.Scope),
        "visibility": st.sampled_from(m.Visibility),
        "state": st.sampled_from([m.State.ACTIVE, m.State.ACTIVE, m.State.ARCHIVED, m.State.DELETED]),
        "branch": st.sampled_from([None, None, "main", "topic"]),
        "tags": st.lists(st.sampled_from(["t1", "t2", "t3"]), max_size=2, unique=True).map(tuple),
    }
)
views = st.builds(
    m.View,
    user_id=st.just("ada"),
    project_id=st.sampled_from(["shop", "other", None]),
    branches=st.sampled_from([None, frozenset(), frozenset({"main"})]),
    all_projects=st.booleans(),
    all_sessions=st.booleans(),
    states=st.sampled_from([frozenset({m.State.ACTIVE}), m.ALL_STATES]),
)
pairs = st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from(m.Relation), st.floats(0.1, 1))


class Undo(Exception):
    pass


@settings(max_examples=60)
@given(st.lists(places, min_size=2, max_size=8), st.lists(pairs, max_size=12), views)
def test_the_walk_never_leaves_the_view(store, fields, links, view):
    memories = [memory(f"m{number}", **each) for number, each in enumerate(fields)]
    try:
        with store.transaction():
            for each in memories:
                store.put(each)
            for source, target, relation, weight in links:
                if max(source, target) < len(memories) and source != target:
                    link(store, f"m{source}", f"m{target}", relation, weight)
            everyone = tuple(each.id for each in memories)
            store.put_clusters("shop", [m.Cluster("k1", "shop", "all", "fake", b"", everyone, NOW)])
            seen = {each.id for each in memories if view.shows_memory(each)}

            found = expand_from(store, {each.id: 0.9 - 0.01 * n for n, each in enumerate(memories)}, view)
            edges = store.neighbours(view, everyone, FAN_OUT)

            assert set(found) <= seen
            assert {path.seed for path in found.values()} <= seen
            assert {end for each in edges for end in (each.source, each.target)} <= seen
            if not view.all_projects and view.project_id != "shop":
                assert all(each.relation != "cluster" for each in edges)
            raise Undo
    except Undo:
        pass


# what it is for


def lines(name):
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def company(tmp_path_factory):
    """The linked memories among the 276 others, with the real model."""
    folder = tmp_path_factory.mktemp("company")
    with Engine.open(folder, folder / "home") as engine:
        records = lines("linked.jsonl") + lines("memories.jsonl")
        engine.import_memories({**each, "branch": None} for each in records)
        for each in records:
            for to in each.get("links", ()):
                engine.link(each["id"], to["to"], to["relation"])
        yield engine


def hits(engine, question):
    """As a search has them without the graph: near by meaning, and the best by words."""
    vector = engine.embedder.embed([question])[0].astype("<f4").tobytes()
    near = engine.memory.index.near(engine.context.view(), engine.embedder.model, vector, 10)
    words = engine.store.match(engine.context.view(), question, 10)
    return near, words


@pytest.mark.parametrize("question", lines("linked_questions.jsonl"), ids=lambda each: each["q"])
def test_an_answer_that_shares_nothing_with_the_question_is_found_by_tag_or_link(company, question):
    near, words = hits(company, question["q"])
    answer = question["relevant"][0]
    seeds = choose_seeds([*near, *((name, SEED_SIMILARITY) for name, _ in words[:3])])

    found = expand_from(company.store, seeds, company.context.view())

    assert answer not in {name for name, _ in (*near, *words)}  # without the graph there is no way to it
    assert answer in found
    assert found[answer].text(question["q"]).endswith(f" #{answer}")


def test_similar_goes_by_meaning_and_leaves_out_the_memory_itself(company):
    one = company.get("l15")

    how, found = similar(
        company.store, company.memory.index, company.embedder.model, one, company.context.view(), limit=5
    )

    assert how == "meaning"
    assert len(found) == 5
    assert "l15" not in dict(found)
    assert found == sorted(found, key=lambda pair: -pair[1])


def test_similar_goes_by_words_where_there_is_no_vector(store):
    keep(store, memory("a", content="Redis holds seats"), memory("b", content="Seats in Redis"), memory("c"))

    how, found = similar(store, MemoryIndex(store), "fake", store.get("a"), HERE, limit=5)

    assert how == "words"
    assert [name for name, _ in found] == ["b"]
