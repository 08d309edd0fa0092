import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.memory.index.messages import SessionLayout
from recollect.memory.ranking import NeighbourWeight
from recollect.memory.search.fusion import centred, standard_deviation, z_scores


def array(*values: float) -> "np.ndarray":  # type: ignore[type-arg]
    return np.array(values)


ALL = np.ones(4, bool)


def test_a_standard_score_counts_deviations_from_the_mean() -> None:
    assert z_scores(array(1, 2, 3, 6), ALL) == pytest.approx(array(-2, -1, 0, 3) / np.sqrt(3.5))


def test_what_is_outside_the_scope_neither_counts_nor_scores() -> None:
    assert z_scores(array(1, 3, 100), np.array([True, True, False])) == pytest.approx([-1, 1, 0])


def test_where_all_are_the_same_no_one_stands_out() -> None:
    assert z_scores(array(5, 5, 5, 5), ALL).tolist() == [0, 0, 0, 0]
    assert z_scores(array(1, 2, 3, 4), ~ALL).tolist() == [0, 0, 0, 0]
    assert len(z_scores(np.empty(0), np.empty(0, bool))) == 0


def sessions_of(*names: int, order: list[int] | None = None) -> SessionLayout:
    return SessionLayout(np.array(names, np.int32), np.array(order or range(len(names)), np.int32))


def test_neighbours_count_by_their_place_and_only_in_the_session() -> None:
    sessions = sessions_of(0, 0, 0, 1, 1)
    no_one_asks = np.zeros(5, bool)
    counted = [
        NeighbourWeight(-1, 1.0),
        NeighbourWeight(+1, 0.5),
        NeighbourWeight(-2, 0.1),
        NeighbourWeight(+2, 0.01),
    ]

    sums = sessions.neighbours(array(1, 10, 100, 1000, 10000), no_one_asks, counted)

    assert sums == pytest.approx([5 + 1, 1 + 50, 10 + 0.1, 5000, 1000])


def test_a_question_before_counts_more() -> None:
    asks = np.array([True, False, False])

    sums = sessions_of(0, 0, 0).neighbours(array(1, 1, 1), asks, [NeighbourWeight(-1, 1.0, if_question=2.0)])

    assert sums.tolist() == [0, 3, 1]


def test_neighbours_go_by_order_and_not_by_row() -> None:
    sessions = sessions_of(0, 1, 0, 1, 0, order=[2, 0, 0, 1, 1])  # session 0 reads rows 2, 4, 0

    sums = sessions.neighbours(array(1, 2, 3, 4, 5), np.zeros(5, bool), [NeighbourWeight(-1, 1.0)])

    assert sums.tolist() == [5, 0, 0, 2, 3]


def test_the_best_of_a_session_are_told_by_rank() -> None:
    sessions = sessions_of(0, 0, 0, 0, 1, 2)

    best = sessions.best(array(2, 7, 7, 1, 5, 9), np.array([True] * 5 + [False]), top=3)

    assert best[:, 0].tolist() == [7, 7, 2]
    assert best[0, 1] == 5
    assert np.isnan(best[1:, 1]).all()
    assert np.isnan(best[:, 2]).all()


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3), st.booleans()), max_size=30),
    st.integers(1, 4),
)
def test_the_best_are_what_sorting_would_find(rows: list[tuple[int, int, bool]], top: int) -> None:
    session = np.array([row[0] for row in rows], np.int32)
    scores = np.array([row[1] for row in rows], np.float64)
    mask = np.array([row[2] for row in rows], bool)

    best = SessionLayout(session, np.arange(len(rows), dtype=np.int32)).best(scores, mask, top)

    for name in range(best.shape[1]):
        found = sorted(scores[(session == name) & mask], reverse=True)[:top]
        assert best[: len(found), name].tolist() == found
        assert np.isnan(best[len(found) :, name]).all()


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.data())
def test_standard_is_centred_over_spread(values: list[float], data: st.DataObject) -> None:
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
    numbers = np.array(values)

    scores = z_scores(numbers, mask)

    assert scores == pytest.approx(centred(numbers, mask) / standard_deviation(numbers, mask))
    assert not scores[~mask].any()


def test_the_longest_around_a_message_goes_by_order_and_stays_in_the_session() -> None:
    sessions = sessions_of(0, 1, 0, 1, 0, order=[2, 0, 0, 1, 1])  # session 0 reads rows 2, 4, 0

    assert sessions.longest_around(array(3, 9, 1, 2, 5)).tolist() == [5, 9, 5, 9, 5]
    assert sessions_of(0).longest_around(array(4)).tolist() == [4]
