"""How the time of a function grows with the length of what it is given."""

from collections.abc import Callable
from time import thread_time

SIZES = (4_000, 8_000, 16_000)
NOISE = 0.02  # seconds of CPU that say nothing about growth


def grows_linearly(function: Callable[[str], object], unit: str, end: str = "!") -> bool:
    """Return whether twice as much text takes about twice as long. Stops at a time that has clearly exploded."""
    times: list[float] = []
    for size in SIZES:
        text = (unit * (size // len(unit) + 1))[:size] + end
        times.append(min(_seconds(function, text) for _ in range(2)))
        if times[-1] > 50 * NOISE:
            return False
    return times[-1] <= NOISE or times[-1] < 3.2 * times[-2]


def _seconds(function: Callable[[str], object], text: str) -> float:
    begun = thread_time()
    function(text)
    return thread_time() - begun
