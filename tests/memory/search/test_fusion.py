from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.memory.index.messages import MessageFeatures, SessionLayout
from recollect.memory.ranking import MessageWeights, NeighbourWeight
from recollect.memory.search.fusion import combine_memory_scores, combine_message_scores

NO_ONE = np.zeros(4, bool)


def talk_of(
    *sessions: int,
    asks: list[bool] | None = None,
    assistant: list[bool] | None = None,
    instructs: list[bool] | None = None,
) -> MessageFeatures:
    size = len(sessions)
    return MessageFeatures(
        SessionLayout(np.array(sessions, np.int32), np.arange(size, dtype=np.int32)),
        np.full(size, 10.0),
        np.array(asks or [False] * size),
        np.array(assistant or [False] * size),
        np.array(instructs or [False] * size),
    )


def test_a_memory_is_ranked_by_its_words_and_its_meaning() -> None:
    blend = combine_memory_scores(np.array([0.5, 1.0, 0.0]), np.array([0.4, 0.1, 0.9]))

    assert blend.total == pytest.approx([0.7, 0.7, 0.9])
    assert blend.explain(0) == pytest.approx({"words": 0.3, "meaning": 0.4})


def test_what_everyday_words_mean_is_a_part_of_its_own() -> None:
    blend = combine_memory_scores(np.zeros(2), np.array([0.4, 0.4]), meant=np.array([0.0, 1.0]))

    assert blend.explain(1) == pytest.approx({"words": 0.0, "meaning": 0.4, "everyday": 0.15})


def test_without_vectors_words_decide() -> None:
    assert list(combine_memory_scores(np.array([0.5, 1.0]), None).parts) == ["words"]


def test_a_memory_without_a_vector_yet_is_taken_for_a_usual_one() -> None:
    cosine = np.array([0.2, np.nan, 0.4, 0.9])

    blend = combine_memory_scores(np.zeros(4), cosine, mask=np.array([True, True, True, False]))

    assert blend.total[1] == pytest.approx(0.3)


def test_a_message_is_scored_as_the_recipe_says() -> None:
    weights = MessageWeights(
        words=1.0,
        meaning=1.0,
        assistant=-0.5,
        reply=-0.25,
        neighbours=(NeighbourWeight(-1, 1.0, if_question=2.0),),
        around=0.25,
        short=5.0,
        session=0.3,
        session_words=0.25,
    )
    talk = talk_of(0, 0, 1, 1, asks=[True, False, False, False], assistant=[False, True, False, False])
    coverage, cosine = np.array([0.0, 0.0, 1.0, 0.0]), np.array([0.5, 0.0, 0.5, 0.0])

    units, sessions = combine_message_scores(coverage, cosine, np.array([1.0, 3.0]), talk, weights=weights)

    # Relevance .5, 0, 1.5, 0 has mean .5 and deviation √.375; half of `around`, as all are twice as long as `short`.
    unit = 1 / np.sqrt(0.375)
    assert units.parts["words"] == pytest.approx(np.array([-0.25, -0.25, 0.75, -0.25]) * unit)
    assert units.parts["meaning"] == pytest.approx(np.array([0.25, -0.25, 0.25, -0.25]) * unit)
    assert units.parts["author"].tolist() == [0, -0.75, 0, 0]
    assert units.parts["neighbours"] == pytest.approx([0, 0.125 * 3 * 0, 0, 0.125 * unit])
    # Of the assistant's message, the session does not count `reply`.
    first, second = -0.5 * unit - 0.5, unit + (-0.5 + 0.125) * unit
    assert units.parts["session"] == pytest.approx(0.3 * np.array([first, first, second, second]) / 2)
    assert units.parts["session words"] == pytest.approx([-0.25, -0.25, 0.25, 0.25])
    assert sessions.total == pytest.approx([-1.0, 1.0])


def test_the_words_of_its_session_count_less_for_a_long_message() -> None:
    short = talk_of(0, 0, 1, 1)
    long = replace(short, lengths=np.array([10.0, 10.0, 600.0, 10.0]))

    parts = [
        combine_message_scores(np.zeros(4), None, np.array([1.0, 3.0]), talk)[0].parts["session words"]
        for talk in (short, long)
    ]

    assert parts[0] == pytest.approx([-0.25, -0.25, 0.25, 0.25])
    assert parts[1] == pytest.approx([-0.25, -0.25, 0.025, 0.025])


def test_an_answer_is_found_by_the_question_before_it() -> None:
    talk = talk_of(0, 0, 0, 1, asks=[False, True, False, False])
    coverage = np.array([0.0, 0.9, 0.0, 0.0])

    units, _ = combine_message_scores(coverage, None, np.zeros(2), talk)

    assert units.total[2] > units.total[0] > units.total[3]


def test_an_instruction_counts_for_a_request_and_what_is_around_it_gains_too() -> None:
    talk = talk_of(0, 0, 1, instructs=[True, False, False])
    mask = np.array([True, True, True])

    plain, _ = combine_message_scores(np.zeros(3), None, np.zeros(2), talk, mask)
    asked, _ = combine_message_scores(np.zeros(3), None, np.zeros(2), talk, mask, instructions=True)

    assert asked.parts["instruction"].tolist() == [1.5, 0, 0]
    assert asked.total[0] > asked.total[1] > asked.total[2] == plain.total[2]


numbers = st.floats(-1, 1, width=32)


@given(
    st.lists(
        st.tuples(numbers, numbers, st.integers(0, 3), st.booleans(), st.booleans()), min_size=1, max_size=15
    )
)
def test_parts_add_up_to_the_total_to_the_last_bit(rows: list[tuple[float, float, int, bool, bool]]) -> None:
    coverage, cosine = (np.array([row[i] for row in rows], np.float32) for i in (0, 1))
    mask = np.array([row[4] for row in rows])
    talk = talk_of(*(row[2] for row in rows), asks=[row[3] for row in rows])

    blends = combine_message_scores(coverage, cosine, np.zeros(talk.sessions.count), talk, mask)

    for blend in (*blends, combine_memory_scores(coverage, cosine, mask)):
        for row, total in enumerate(blend.total):
            # Not `sum`, which makes up for rounding from Python 3.12 on.
            assert reduce(add, blend.explain(row).values()) == total
    assert not blends[0].total[~mask].any()
