import numpy as np
import pytest

from recollect.memory.index.index import MemoryIndex
from recollect.memory.index.vectors import _estimate, _sign_bits
from samples import MINE, memory

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
    return _estimate(matrix, np.ascontiguousarray(_sign_bits(matrix).T), vector, seen)


def test_the_nearest_are_found_by_their_signs_and_compared_exactly(matrix):
    seen = np.ones(len(matrix), bool)

    for vector in matrix[:20]:
        cosines, exact = estimate(matrix, vector, seen)

        truth = matrix @ vector
        nearest = np.argsort(-truth)[:10]
        assert np.isin(nearest, exact).mean() >= 0.9
        assert cosines[exact] == pytest.approx(truth[exact], abs=1e-5)


def test_even_of_random_vectors_most_of_the_nearest_are_found():
    rows = unit(np.random.default_rng(1).standard_normal((20_020, DIM)))
    matrix, vectors = rows[20:], rows[:20]
    seen = np.ones(len(matrix), bool)

    found = [
        np.isin(np.argsort(-(matrix @ vector))[:10], estimate(matrix, vector, seen)[1]).mean()
        for vector in vectors
    ]

    assert np.mean(found) >= 0.8


@pytest.mark.parametrize("cosine", [-0.5, 0.0, 0.25, 0.5, 0.75])
def test_an_estimate_is_right_on_average(cosine):
    draw = np.random.default_rng(2)
    vector = unit(draw.standard_normal((1, DIM)))[0]
    others = draw.standard_normal((2000, DIM))
    others = unit(others - np.outer(others @ vector, vector))  # at right angles to it
    matrix = np.vstack([np.tile(vector, (200, 1)), cosine * vector + np.sqrt(1 - cosine**2) * others])

    cosines, exact = estimate(matrix.astype(np.float32), vector, np.ones(len(matrix), bool))

    estimated = np.setdiff1d(np.arange(200, len(matrix)), exact)
    assert len(estimated) > 1000
    assert cosines[estimated].mean() == pytest.approx(cosine, abs=0.02)


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


@pytest.mark.parametrize("dim", [2, DIM])
def test_the_nearest_of_many_are_those_of_all(store, dim):
    draw = np.random.default_rng(3)
    vectors = unit(draw.standard_normal((500, dim)))
    kept = [memory(f"Number {number}.") for number in range(len(vectors))]
    with store.transaction():
        for each, vector in zip(kept, vectors, strict=True):
            store.put(each)
            store.put_vector(each.id, "fake", vector.tobytes())

    index = MemoryIndex(store)
    for number in range(20):
        asked = unit(vectors[number] + 0.2 * vectors[number + 1 : number + 2])[0]

        [(found, cosine)] = index.near(MINE, "fake", asked.tobytes(), 1)

        nearest = int(np.argmax(vectors @ asked))
        assert found == kept[nearest].id
        assert cosine == pytest.approx(float(vectors[nearest] @ asked), abs=1e-5)
