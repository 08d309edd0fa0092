"""Compare the probabilities of what agents were shown in a real store with what they used of it.

A logistic regression of "used" on the stored log-odds says how the coefficients of `ranking.USEFUL` would change: multiply
them by the slope, and add the shift to the bias. Only what was shown is known, so this corrects the scale and not the
ranking.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from recollect.engine import Engine

FEWEST = 200  # items that a fit needs
BINS = (0.0, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0)
_MOST = 100_000  # deliveries that are read
_EDGE = 1e-3  # probabilities are kept this far from 0 and 1


def run(engine: Engine) -> dict[str, Any]:
    """Return how often items of each probability were used, and the correction; None for it if too few were shown."""
    shown = [
        (item.probability, item.used_at is not None)
        for record in engine.store.deliveries.newest(engine.settings.user, engine.context.project_id, _MOST)
        for item in record.items
        if item.probability is not None
    ]
    return {"items": len(shown), "bins": _bins(shown), "correction": correction(shown)}


def correction(shown: Sequence[tuple[float, bool]]) -> tuple[float, float] | None:
    """Return (slope, shift) of the log-odds that fit the use best; None if too few items were shown."""
    if len(shown) < FEWEST or len({used for _, used in shown}) < 2:
        return None
    odds = [_logit(probability) for probability, _ in shown]
    slope, shift = 1.0, 0.0
    for _ in range(50):  # Newton's method
        fitted = [1 / (1 + math.exp(-max(-30.0, min(30.0, slope * x + shift)))) for x in odds]
        wrong = [used - p for (_, used), p in zip(shown, fitted, strict=True)]
        spread = [max(p * (1 - p), 1e-9) for p in fitted]
        g1, g0 = sum(e * x for e, x in zip(wrong, odds, strict=True)), sum(wrong)
        h11 = sum(s * x * x for s, x in zip(spread, odds, strict=True)) + 1e-6
        h01, h00 = sum(s * x for s, x in zip(spread, odds, strict=True)), sum(spread)
        det = h11 * h00 - h01 * h01
        if det < 1e-9:
            break
        slope += _step((h00 * g1 - h01 * g0) / det)
        shift += _step((h11 * g0 - h01 * g1) / det)
    return round(slope, 3), round(shift, 3)


def show(result: dict[str, Any]) -> None:
    print(f"{result['items']} memories were shown with a probability.")
    for low, high, count, used in result["bins"]:
        print(
            f"  {low:.2f}–{high:.2f}  shown {count:>6}  used {used:.2f}"
            if count
            else f"  {low:.2f}–{high:.2f}  –"
        )
    if result["correction"] is None:
        print(f"A fit needs {FEWEST} of them, some used and some not.")
    else:
        slope, shift = result["correction"]
        print(
            f"ranking.USEFUL: multiply the coefficients and the bias by {slope}, and add {shift} to the bias."
        )


def _bins(shown: Sequence[tuple[float, bool]]) -> list[tuple[float, float, int, float]]:
    rows = []
    for low, high in pairwise(BINS):
        some = [
            used for probability, used in shown if low <= probability < high or probability == high == 1.0
        ]
        rows.append((low, high, len(some), sum(some) / len(some) if some else 0.0))
    return rows


def _step(size: float) -> float:
    """Return a step that does not overshoot."""
    return max(-0.5, min(0.5, size))


def _logit(probability: float) -> float:
    p = min(max(probability, _EDGE), 1 - _EDGE)
    return math.log(p / (1 - p))
