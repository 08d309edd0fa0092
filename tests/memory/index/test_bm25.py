import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.memory.index.bm25 import Bm25Index, Bm25Scores, Fields
from recollect.memory.ranking import MEMORY_MEASURES, MESSAGE_MEASURES, SESSION_MEASURES, Bm25Measure

PLAIN = (Bm25Measure("words", {"content": 1.0}, k1=1.0, b=0.5),)
PHRASES = (Bm25Measure("phrases", {"content": 1.0, "tags": 1.0}, k1=1.0, b=0.0, pairs=True),)


def index_of(*texts: str, measures: tuple[Bm25Measure, ...] = PLAIN) -> Bm25Index:
    index = Bm25Index(measures)
    index.add([("content", text)] for text in texts)
    return index


def match(index: Bm25Index, query: str, **options: object) -> Bm25Scores:
    mask = options.get("mask")
    return index.score(index.words(query, mask), **options)  # type: ignore[arg-type]


def test_a_score_is_bm25_by_the_book() -> None:
    index = index_of("cache cache redis", "cache", "parser token parser token")

    scores = match(index, "cache redis").scores

    # N = 3, average length (3 + 1 + 4) / 3; "cache" in 2 units, "redis" in 1.
    cache, redis = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    long, short = 0.5 + 0.5 * 3 / (8 / 3), 0.5 + 0.5 * 1 / (8 / 3)
    assert scores == pytest.approx(
        [cache * 2 * 2 / (2 + long) + redis * 2 * 1 / (1 + long), cache * 2 * 1 / (1 + short), 0.0], rel=1e-5
    )


def test_a_field_counts_by_its_weight() -> None:
    weights = {"content": 1.0, "tags": 0.5, "paths": 0.0}
    index = Bm25Index((Bm25Measure("words", weights, k1=1.0, b=0.0),))
    index.add([[("content", "cache")], [("tags", "cache")], [("paths", "cache")], [("content", "redis")]])

    scores = match(index, "cache").scores

    rarity = math.log(1 + 2.5 / 2.5)  # a field that does not count does not make the word common either
    assert scores == pytest.approx([rarity * 2 * 1 / 2, rarity * 2 * 0.5 / 1.5, 0.0, 0.0], rel=1e-5)


def test_two_words_in_a_row_count_only_side_by_side_and_in_one_field() -> None:
    index = Bm25Index(PHRASES)
    index.add(
        [
            [("content", "the connection pool is full")],
            [("content", "pool of the connection")],
            [("content", "connection"), ("tags", "pool")],
            [("content", "connection of a pool")],  # words that say nothing do not stand between
        ]
    )

    scores = match(index, "connection pool").scores

    assert scores[0] == scores[3] > 0
    assert scores[1] == scores[2] == 0


def test_the_last_word_of_a_unit_and_the_first_of_the_next_are_no_pair() -> None:
    assert not match(index_of("connection", "pool", measures=PHRASES), "connection pool").scores.any()


def test_the_parts_of_a_name_with_hyphens_are_no_pair() -> None:
    index = index_of("the ecommerce-api stalls", "the api", measures=PHRASES)

    assert not match(index, "ecommerce-api").scores.any()
    assert match(index, "ecommerce-api stalls").scores[0] > 0


def test_what_a_person_wrote_counts_twice() -> None:
    index = Bm25Index(MESSAGE_MEASURES)
    index.add(
        [[("person", "redis")], [("assistant", "redis")], [("person", "parser")], [("assistant", "token")]]
    )

    scores = match(index, "redis").scores

    assert scores[0] > scores[1] > 0


def test_where_only_people_write_their_words_simply_count_double() -> None:
    index = Bm25Index(MESSAGE_MEASURES)
    index.add([[("person", "redis cache")], [("person", "redis")], [("person", "parser")]])

    found = match(index, "redis")

    assert [part.measure for part in found.explain([0])[0]] == ["words"]
    assert found.scores[0] == pytest.approx(2 * match_of(index, "redis", MESSAGE_MEASURES[:1])[0], rel=1e-5)


def match_of(index: Bm25Index, query: str, measures: tuple[Bm25Measure, ...]) -> "np.ndarray":  # type: ignore[type-arg]
    return index.score(index.words(query), measures=measures).scores


def test_coverage_is_the_part_of_the_query_that_a_unit_has() -> None:
    index = index_of("redis cache", "redis token", "parser grammar")

    whole = match(index, "redis cache").coverage
    with_unknown = match(index, "redis zookeeper").coverage

    assert whole[0] == pytest.approx(1.0)  # of average length, each word once
    assert 0 < with_unknown[0] < 0.5  # the rarer word is missing
    assert whole[2] == 0


def test_units_in_a_group_are_scored_as_one() -> None:
    index = Bm25Index(MESSAGE_MEASURES)
    index.add([[("person", text)] for text in ("redis", "parser", "cache", "redis cache", "token")])
    together = Bm25Index(MESSAGE_MEASURES)
    together.add([[("person", text)] for text in ("redis\ncache", "parser\nredis cache", "token")])
    groups = np.array([0, 1, 0, 1, 2], np.int32)

    scores = index.score(index.words("redis cache"), groups=groups, measures=SESSION_MEASURES).scores

    assert scores == pytest.approx(match_of(together, "redis cache", SESSION_MEASURES), rel=1e-5)


def test_the_explanation_says_which_words_and_adds_up() -> None:
    index = Bm25Index(MEMORY_MEASURES)
    index.add(
        [
            [("content", "The connection pool is limited to 20."), ("tags", "postgres"), ("kind", "fact")],
            [("content", "Redis keeps sessions."), ("paths", "src/redis_pool.py")],
        ]
    )

    found = match(index, "postgres connection pool")

    assert {(part.measure, part.word) for part in found.explain([0])[0]} == {
        ("words", "postgres"),
        ("words", "connection"),
        ("words", "pool"),
        ("phrases", "connection pool"),
    }
    assert [part.word for part in found.explain([1])[1]] == ["pool"]
    assert sum(part.score for part in found.explain([0])[0]) == pytest.approx(found.scores[0], rel=1e-6)


def test_an_unknown_word_finds_what_is_like_it_but_counts_it_less() -> None:
    index = index_of("the authentication layer", "the migrations folder", "a parser")

    assert match(index, "autentication").scores.argmax() == 0
    assert match(index, "migratio").scores.argmax() == 1
    assert 0 < match(index, "autentication").scores[0] < match(index, "authentication").scores[0]


def test_a_word_known_only_outside_the_scope_is_unknown_inside() -> None:
    index = index_of("autentication of a sort", "the authentication layer")

    found = match(index, "autentication", mask=np.array([False, True]))

    assert found.scores[0] == 0
    assert found.scores[1] > 0


def test_a_word_is_known_though_only_the_last_of_thousands_that_have_it_is_in_view() -> None:
    index = index_of(*["redis"] * 2500, "redish")
    mask = np.arange(2501) >= 2499

    scores = match(index, "redis", mask=mask).scores

    assert np.flatnonzero(scores).tolist() == [2499]


def test_an_empty_index_and_an_empty_query_find_nothing() -> None:
    empty, full = Bm25Index(MEMORY_MEASURES), index_of("cache")

    assert len(match(empty, "cache").scores) == 0
    assert match(full, "").scores.tolist() == match(full, "what is it?").scores.tolist() == [0.0]
    assert match(full, "").coverage.tolist() == [0.0]


def test_a_unit_without_words_is_never_found() -> None:
    index = Bm25Index(MEMORY_MEASURES)
    index.add([[], [("content", "")], [("content", "cache")]])

    assert np.flatnonzero(match(index, "cache").scores).tolist() == [2]


WORDS = (
    "cache redis pool parser token connection migrate migrations parseConfig src/auth.py 2024-05-01 the of"
)
texts = st.lists(st.sampled_from(WORDS.split()), max_size=8).map(" ".join)
units = st.lists(
    st.lists(st.tuples(st.sampled_from(["content", "tags", "paths", "kind"]), texts), max_size=3),
    min_size=1,
    max_size=12,
)
queries = st.lists(st.sampled_from([*WORDS.split(), "pol", "conection", "nothing"]), max_size=5).map(" ".join)


@given(units, queries)
def test_one_by_one_or_all_at_once_is_the_same(given_units: list[Fields], query: str) -> None:
    at_once, one_by_one = Bm25Index(MEMORY_MEASURES), Bm25Index(MEMORY_MEASURES)
    at_once.add(given_units)
    for unit in given_units:
        one_by_one.add([unit])
        match(one_by_one, query)

    assert np.array_equal(match(at_once, query).scores, match(one_by_one, query).scores)


@given(units, queries, st.data())
def test_a_replaced_unit_is_as_if_it_had_always_said_so(
    given_units: list[Fields], query: str, data: st.DataObject
) -> None:
    changes = data.draw(
        st.lists(st.tuples(st.integers(0, len(given_units) - 1), units.map(lambda u: u[0])), max_size=20)
    )
    index, expected = Bm25Index(MEMORY_MEASURES), Bm25Index(MEMORY_MEASURES)
    index.add(given_units)
    wanted = list(given_units)
    for row, unit in changes:
        index.replace(row, unit)
        match(index, query)
        wanted[row] = unit
    expected.add(wanted)

    assert match(index, query).scores == pytest.approx(match(expected, query).scores, rel=1e-6)
    assert np.array_equal(index.lengths, expected.lengths)


@given(units, queries, st.data())
def test_a_mask_is_as_if_the_others_were_not_there(
    given_units: list[Fields], query: str, data: st.DataObject
) -> None:
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(given_units), max_size=len(given_units))))
    index, alone = Bm25Index(MEMORY_MEASURES), Bm25Index(MEMORY_MEASURES)
    index.add(given_units)
    alone.add(unit for unit, inside in zip(given_units, mask, strict=True) if inside)

    scores = match(index, query, mask=mask).scores

    assert scores[mask] == pytest.approx(match(alone, query).scores, rel=1e-5)
    assert not scores[~mask].any()


@given(units, queries)
def test_no_score_is_negative_and_every_explanation_adds_up(given_units: list[Fields], query: str) -> None:
    index = Bm25Index(MEMORY_MEASURES)
    index.add(given_units)

    found = match(index, query)

    assert (found.scores >= 0).all()
    assert (found.coverage >= 0).all()
    for row, parts in found.explain(range(len(found.scores))).items():
        assert sum(part.score for part in parts) == pytest.approx(found.scores[row], rel=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 300), min_size=1, max_size=12))
def test_many_small_additions_leave_few_segments_and_lose_nothing(sizes: list[int]) -> None:
    index, written = index_of(), 0
    for size in sizes:
        index.add([("content", f"common number{written + i} filler text here")] for i in range(size))
        written += size
        assert np.count_nonzero(match(index, "common").scores) == written
    assert match(index, f"number{written - 1}").scores.argmax() == written - 1
    assert len(index._tokens._segments) <= 4
