"""Whether what is asked for is found, and how soon. Each part runs alone too: see docs/benchmarks.md."""

from typing import Any


def run() -> dict[str, Any]:
    from bench.recall import budget, recipes, report, speed

    return {
        "quality": report.run(),
        "recipes": recipes.run(),
        "speed": speed.run(speed.SMALL),
        "budget": budget.run(),
    }


def show(found: dict[str, Any]) -> None:
    """And keep it: each part is compared with its own last run."""
    from bench.recall import budget, figures, plot, recipes, report, speed

    for name, part in {"quality": report, "recipes": recipes, "speed": speed, "budget": budget}.items():
        print(f"-- {name}")
        part.show(found[name])
        if "skipped" not in found[name]:
            figures.keep(name, found[name])
        print()
    for path in plot.draw():
        print(f"Drawn: {path}")
