"""Dense regions of vectors: HDBSCAN with leaf selection, on NumPy alone.

Two vectors are as far apart as their distance, or as the distance of either to its few nearest neighbours if that is
larger (the mutual reachability distance). A minimum spanning tree over these distances is joined from its shortest edge
on. A group that has grown to `fewest` members before it meets another such group is a dense region; what joins later is
in none. These are the leaves of HDBSCAN's condensed tree (Campello, Moulavi, Sander 2013).

Time grows with the square of the number of vectors; memory holds a block of distances at a time.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

_BLOCK = 256  # rows whose distances to all others are held at once: 10 MB for 5,000 vectors
_SAME = 1e-12  # squared distance below which two vectors are equal: rounding of float64 stays below


def dense_regions(vectors: "Matrix", fewest: int, neighbours: int) -> list[list[int]]:
    """Return the rows of each dense region, each in rising order and the regions by their first row.

    `fewest` is the smallest size of a region. `neighbours` says how many vectors, itself included, have to be near one
    for it to lie in a dense place.
    """
    if len(vectors) < max(2 * fewest, neighbours):
        return []
    return sorted(_leaves(_spanning_tree(vectors, neighbours), len(vectors), fewest))


def _spanning_tree(vectors: "Matrix", neighbours: int) -> list[tuple[int, int]]:
    """Return the edges of a minimum spanning tree over the mutual reachability distances, the shortest first."""
    import numpy as np

    points = np.ascontiguousarray(vectors, np.float64)
    squares = np.einsum("ij,ij->i", points, points)
    core = _core_distances(points, squares, neighbours)
    nearest = np.full(len(points), np.inf, np.float32)  # distance of each row to the tree…
    source = np.zeros(len(points), np.intp)  # …and the row there that it is nearest to
    outside = np.ones(len(points), bool)
    lengths = np.empty(len(points) - 1)
    edges: list[tuple[int, int]] = []
    row = 0
    for step in range(len(points) - 1):
        outside[row] = False
        nearest[row] = np.inf
        reach = _distances(points[row] @ points.T, squares[row], squares)
        np.maximum(reach, core, out=reach)
        np.maximum(reach, core[row], out=reach)
        closer = (reach < nearest) & outside
        nearest[closer] = reach[closer]
        source[closer] = row
        row = int(nearest.argmin())
        lengths[step] = nearest[row]
        edges.append((int(source[row]), row))
    return [edges[at] for at in np.argsort(lengths)]  # equal ones in the order that scikit-learn gives them


def _core_distances(points: Any, squares: Any, neighbours: int) -> "Matrix":
    """Return the distance of each row to its nearest `neighbours`, of which it is one."""
    import numpy as np

    core = np.empty(len(points), np.float32)
    for first in range(0, len(points), _BLOCK):
        block = slice(first, first + _BLOCK)
        distances = _distances(points[block] @ points.T, squares[block, None], squares)
        core[block] = np.partition(distances, neighbours - 1, axis=1)[:, neighbours - 1]
    return core


def _distances(products: Any, squares: Any, other_squares: Any) -> "Matrix":
    """Return Euclidean distances, in float32 so that the same pair has one distance whichever way it was multiplied."""
    import numpy as np

    squared = squares + other_squares - 2 * products
    squared[squared < _SAME] = 0
    return np.asarray(np.sqrt(squared), np.float32)


def _leaves(edges: list[tuple[int, int]], size: int, fewest: int) -> list[list[int]]:
    """Join the rows along `edges`, and return each group that was large enough when it met another such group."""
    groups: list[list[int]] = [[row] for row in range(size)]  # by the row that stands for the group
    stands_for = list(range(size))
    has_region = [False] * size
    regions: list[list[int]] = []
    for one, other in edges:
        larger, smaller = sorted((stands_for[one], stands_for[other]), key=lambda row: -len(groups[row]))
        if len(groups[smaller]) >= fewest:
            regions += [sorted(groups[row]) for row in (larger, smaller) if not has_region[row]]
            has_region[larger] = True
        for row in groups[smaller]:
            stands_for[row] = larger
        groups[larger] += groups[smaller]
        groups[smaller] = []
    return regions
