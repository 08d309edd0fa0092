"""What the last runs found, drawn: quality by set, and time by number of memories."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.recall import figures as kept

SYSTEMS = ("FTS5", "MiniLM", "RRF", "ours")


def draw() -> list[Path]:
    """Into bench/out; nothing where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        print("No plot: pip install 'recollect[bench]'", file=sys.stderr)
        return []
    matplotlib.use("Agg")
    drawn = (_quality(kept.last("quality")), _speed(kept.last("speed")))
    return [path for path in drawn if path is not None]


def _quality(figures: Mapping[str, Any]) -> Path | None:
    from matplotlib import pyplot

    sets = {title: found["systems"] for title, found in figures.items() if "systems" in found}
    if not sets:
        return None
    drawing, axes = pyplot.subplots(figsize=(2 + 1.4 * len(sets), 4.5), layout="constrained")
    for number, system in enumerate(SYSTEMS):
        places = [at + (number - 1.5) * 0.2 for at in range(len(sets))]
        axes.bar(places, [found[system]["R@5"] for found in sets.values()], 0.19, label=system)
    axes.set_xticks(
        range(len(sets)), [title.replace(" by", "\nby").replace(", ", ",\n") for title in sets], fontsize=7
    )
    axes.set(ylabel="R@5", ylim=(0, 1))
    axes.legend(ncols=len(SYSTEMS), loc="upper center", bbox_to_anchor=(0.5, 1.1), frameon=False)
    return _save(drawing, "quality")


def _speed(figures: Mapping[str, Any]) -> Path | None:
    from matplotlib import pyplot

    if not figures:
        return None
    sizes = sorted(map(int, figures))
    drawing, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for system in ("search", "embedding", "vectors", "sqlite-vec", "FTS5"):
        known = [size for size in sizes if f"{system} p50" in figures[str(size)]]
        axes.plot(known, [figures[str(size)][f"{system} p50"] for size in known], marker="o", label=system)
    axes.set(xscale="log", yscale="log", xlabel="memories", ylabel="ms, p50")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return _save(drawing, "speed")


def _save(drawing: Any, name: str) -> Path:
    path = kept.OUT / f"recall-{name}.png"
    drawing.savefig(path, dpi=120)
    return path


if __name__ == "__main__":
    for path in draw():
        print(path)
