"""Tokens over turns, drawn."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

OUT = Path(__file__).resolve().parents[1] / "out"


def draw(sizes: Mapping[str, Sequence[int]], limit: int) -> Path | None:
    """Into bench/out; nothing where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        print("No plot: pip install 'recollect[bench]'", file=sys.stderr)
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawing, axes = pyplot.subplots(figsize=(10, 4), layout="constrained")
    for name, counted in sizes.items():
        axes.plot(counted, label=name, linewidth=1.6 if name == "ours" else 0.7)
    axes.axhline(limit, color="black", linewidth=0.8, linestyle="--", label="limit")
    axes.axhline(0.8 * limit, color="grey", linewidth=0.6, linestyle=":", label="80 %")
    axes.set(xlabel="turn", ylabel="tokens in the window", ylim=(0, 1.08 * limit))
    axes.legend(ncols=5, loc="lower center", frameon=False)
    OUT.mkdir(exist_ok=True)
    path = OUT / "window.png"
    drawing.savefig(path, dpi=120)
    pyplot.close(drawing)
    return path
