"""Places of bars, lines and boxes in pictures that the server draws as SVG. Pure functions; every chart has its table beside it."""

from collections.abc import Sequence

from recollect.frozen import frozen

WIDTH = 640.0  # units of a chart's own coordinates; the style sheet makes it as wide as its place
HEIGHT = 140.0
_BOX_HEIGHT = 26.0
_BOX_WIDTH = 200.0
_GRAPH_WIDTH = 760.0


@frozen
class Bar:
    """A column with two parts, the lower one for what worked."""

    label: str
    x: float
    width: float
    good: float  # height
    bad: float  # height, on top of `good`
    title: str


def bars(rows: Sequence[tuple[str, int, int]], height: float = HEIGHT) -> tuple[Bar, ...]:
    """Return a column for each row of label, successes and failures, scaled to the highest."""
    highest = max((good + bad for _, good, bad in rows), default=0) or 1
    step = WIDTH / max(len(rows), 1)
    width = min(step * 0.8, 28.0)
    return tuple(
        Bar(
            label,
            round(place * step + (step - width) / 2, 1),
            round(width, 1),
            round(good / highest * height, 1),
            round(bad / highest * height, 1),
            f"{label}: {good} + {bad}",
        )
        for place, (label, good, bad) in enumerate(rows)
    )


def line(values: Sequence[float], height: float = HEIGHT) -> str:
    """Return the points of a line through `values`, from left to right, the highest at the top."""
    highest = max(values, default=0.0) or 1.0
    step = WIDTH / max(len(values) - 1, 1)
    return " ".join(
        f"{place * step:.1f},{height - value / highest * height:.1f}" for place, value in enumerate(values)
    )


@frozen
class Box:
    """A symbol in the picture of a call graph."""

    name: str
    x: float
    y: float
    width: float = _BOX_WIDTH
    height: float = _BOX_HEIGHT

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


@frozen
class CallPicture:
    """A symbol in the middle, with what calls it on the left and what it calls on the right."""

    callers: tuple[Box, ...]
    symbol: Box
    callees: tuple[Box, ...]
    width: float
    height: float


def call_picture(symbol: str, callers: Sequence[str], callees: Sequence[str]) -> CallPicture:
    """Return where each box is."""
    step = _BOX_HEIGHT + 8
    height = max(len(callers), len(callees), 1) * step

    def column(names: Sequence[str], x: float) -> tuple[Box, ...]:
        top = (height - len(names) * step) / 2 + 4
        return tuple(Box(name, x, top + place * step) for place, name in enumerate(names))

    (middle,) = column([symbol], (_GRAPH_WIDTH - _BOX_WIDTH) / 2)
    return CallPicture(
        column(callers, 0), middle, column(callees, _GRAPH_WIDTH - _BOX_WIDTH), _GRAPH_WIDTH, height
    )
