"""Matrices of vectors, one a row."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy.typing as npt

    from recollect.context.embedder import Rows


def unit(vectors: "npt.ArrayLike", count: int) -> "Rows":
    """The `count` vectors scaled to length 1. Raises `ValueError` if that is not what they are or can be."""
    import numpy as np

    try:
        # In float64, so that a float32's worth of wild values is judged below and not by an overflow here.
        rows: npt.NDArray[np.float64] = np.asarray(vectors, np.float64)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"not numbers: {error}") from error
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
        raise ValueError(f"shape {rows.shape} for {count} texts")
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ValueError("a vector that is zero or not finite")
    scaled: Rows = (rows / lengths).astype(np.float32)
    return scaled
