"""Dense regions are those that scikit-learn's HDBSCAN finds with leaf selection."""

import numpy as np
import pytest

from recollect.memory.maintenance.density import dense_regions


def points(seed, groups, noise=0, dim=8):
    """Groups of (size, spread) around chosen centres, then vectors anywhere."""
    chance = np.random.default_rng(seed)
    parts = [
        chance.standard_normal(dim) * 3 + spread * chance.standard_normal((size, dim))
        for size, spread in groups
    ]
    parts.append(chance.standard_normal((noise, dim)) * 3)
    return np.concatenate(parts).astype(np.float32)


# What scikit-learn 1.9.1 returned (min_samples=3, cluster_selection_method="leaf"), recorded. Chosen so that the order of
# equal distances does not matter: it depends on the processor.
RECORDED = [
    ((1, [(12, 0.3), (20, 0.3), (9, 0.3)], 10), 5, [[*range(12), 46], [*range(12, 32)], [*range(32, 41)]]),
    ((4, [(25, 0.4)], 5), 5, []),
    (
        (5, [(15, 0.3)] * 6, 40),
        8,
        [
            [*range(15), 100],
            [*range(15, 30)],
            [*range(30, 45), 93, 113, 122, 126],
            [*range(45, 60)],
            [*range(60, 75)],
            [*range(75, 90)],
        ],
    ),
    (
        (7, [(60, 0.3), (60, 0.4), (60, 0.5)], 120),
        10,
        [
            [*range(60)],
            [*range(60, 120)],
            [*range(120, 180)],
            [193, 198, 202, 210, 222, 230, 236, 241, 256, 264, 287],
        ],
    ),
]


@pytest.mark.parametrize("made, fewest, regions", RECORDED)
def test_regions_are_those_of_scikit_learn(made, fewest, regions):
    assert dense_regions(points(*made), fewest, neighbours=3) == regions


def test_the_same_vectors_many_times_are_a_region():
    same = np.repeat(points(8, [], noise=3), 6, axis=0)

    assert dense_regions(same, fewest=6, neighbours=3) == [
        [*range(6)],
        [*range(6, 12)],
        [*range(12, 18)],
    ]


@pytest.mark.parametrize("number", [0, 1, 2, 9])
def test_too_few_vectors_have_no_region(number):
    assert dense_regions(points(9, [(number, 0.1)]), fewest=5, neighbours=3) == []


def test_memory_does_not_grow_with_the_square_of_the_vectors(monkeypatch):
    import tracemalloc

    many = points(10, [], noise=1_000)
    monkeypatch.setattr("recollect.memory.maintenance.density._BLOCK", 32)
    tracemalloc.start()

    dense_regions(many, fewest=5, neighbours=3)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000 * 1_000 * 4  # all distances in float32
