import numpy as np
import pytest

from recollect.store.vectors import _estimate, _signs

DIM = 384


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def matrix():
    """Like texts: some hundred subjects, and variations on each."""
    draw = np.random.default_rng(0)
    subjects = draw.standard_normal((200, DIM))
    return unit(subjects[draw.integers(0, 200, 20_000)] + 0.8 * draw.standard_normal((20_000, DIM)))


def estimate(matrix, vector, seen):
    return _estimate(matrix, np.ascontiguousarray(_signs(matrix).T), vector, seen)


def test_the_nearest_are_found_by_their_signs_and_compared_exactly(matrix):
    seen = np.ones(len(matrix), bool)

    for vector in matrix[:20]:
        cosines, exact = estimate(matrix, vector, seen)

        truth = matrix @ vector
        nearest = np.argsort(-truth)[:10]
        assert np.isin(nearest, exact).mean() >= 0.9
        assert cosines[exact] == pytest.approx(truth[exact], abs=1e-5)


def test_what_is_only_estimated_is_never_ahead_of_the_better_half_of_what_is_exact(matrix):
    cosines, exact = estimate(matrix, matrix[0], np.ones(len(matrix), bool))

    others = np.delete(cosines, exact)
    assert others.max() <= np.median(cosines[exact])


def test_what_a_view_does_not_show_takes_no_place_among_the_nearest(matrix):
    vector = matrix[0]
    seen = np.ones(len(matrix), bool)
    seen[np.argsort(-(matrix @ vector))[:1000]] = False

    cosines, exact = estimate(matrix, vector, seen)

    assert seen[exact].all()
    assert len(exact) >= len(matrix) // 100
    assert np.isnan(cosines[~seen]).all()


@pytest.mark.parametrize("dim", [1, 63, 64, 100])
def test_signs_take_any_number_of_numbers(dim):
    rows = unit(np.random.default_rng(0).standard_normal((50, dim)))

    cosines, exact = estimate(rows, rows[7], np.ones(50, bool))

    assert 7 in exact
    assert cosines[7] == pytest.approx(1.0)


def test_a_view_that_shows_nothing_has_no_nearest(matrix):
    cosines, exact = estimate(matrix, matrix[0], np.zeros(len(matrix), bool))

    assert len(exact) == 0
    assert np.isnan(cosines).all()
