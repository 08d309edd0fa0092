"""What the place of a message tells: its neighbours, and the session it was said in.

A score here is a z-score: how many standard deviations a unit lies above the mean of all units in scope, so that words and
meaning can be added. A short "Yes, last May" is found by the question before it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]


def standard(values: npt.NDArray[np.floating], mask: Mask) -> Doubles:
    """z-scores over `mask`; 0 outside it, and where all are the same."""
    inner = centred(values, mask)
    return inner / spread(values, mask)


def centred(values: npt.NDArray[np.floating], mask: Mask) -> Doubles:
    """What each lies above the mean of `mask`; 0 outside it."""
    mean = values[mask].mean(dtype=np.float64) if mask.any() else 0.0
    return np.where(mask, values - mean, 0.0)


def spread(values: npt.NDArray[np.floating], mask: Mask) -> float:
    """The standard deviation over `mask`; 1 where all are the same."""
    found = float(values[mask].std(dtype=np.float64)) if mask.any() else 0.0
    return found if found > 1e-6 else 1.0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One that stands `step` places further on in the session, and how far it counts."""

    step: int
    weight: float
    if_asks: float = 0.0  # added to the weight if it ends with a question mark


class Sessions:
    """Which units were said together, and in what order. Made anew when units come: 10 ms at 100,000."""

    def __init__(self, session: Ints, order: Ints) -> None:
        """`session` counts from 0; `order` is anything that grows within a session."""
        self.of = session
        self._rows = np.lexsort((np.arange(len(session)), order, session)).astype(np.int32)
        self._sorted = session[self._rows]
        self._begins = np.flatnonzero(np.diff(self._sorted, prepend=-1))
        self.count = int(session.max()) + 1 if len(session) else 0

    def neighbours(self, scores: Doubles, asks: Mask, counted: Iterable[Neighbour]) -> Doubles:
        """The sum of the neighbours' scores, each by its weight. Nobody's neighbour counts 0."""
        inner, asking = scores[self._rows], asks[self._rows]
        total = np.zeros(len(inner))
        for each in counted:
            here, there = _shifted(len(inner), each.step)
            weight = each.weight + each.if_asks * asking[there]
            total[here] += weight * inner[there] * (self._sorted[here] == self._sorted[there])
        back = np.empty_like(total)
        back[self._rows] = total
        return back

    def best(self, scores: Doubles, mask: Mask, top: int) -> Doubles:
        """By rank and session: the best score, the second best and so on to `top`; NaN where there are fewer in `mask`."""
        inner = np.where(mask[self._rows], scores[self._rows], -np.inf)
        names = self._sorted[self._begins]
        ranks = np.empty((top, self.count))
        for rank in range(top):
            best = np.full(self.count, -np.inf)
            if len(inner):
                best[names] = np.maximum.reduceat(inner, self._begins)
            ranks[rank] = np.where(np.isfinite(best), best, np.nan)
            at = np.flatnonzero((inner == best[self._sorted]) & np.isfinite(inner))
            first = np.diff(self._sorted[at], prepend=-1) != 0  # of equals only one is taken away
            inner[at[first]] = -np.inf
        return ranks


def _shifted(size: int, step: int) -> tuple[slice, slice]:
    """Places, and the places `step` further on."""
    ahead, behind = slice(abs(step), None), slice(0, max(size - abs(step), 0))
    return (behind, ahead) if step > 0 else (ahead, behind)
