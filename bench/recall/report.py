"""All sets that are here, as tables and figures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.recall import datasets
from bench.recall import figures as kept
from bench.recall.quality import METRICS, OURS, Embed, Table, baselines, interval, ours
from bench.recall.vectors import Vectors

R5 = METRICS.index("R@5")

VIEWS = {  # as it is shown: set, and what is ranked
    "LoCoMo by turn": ("locomo", "unit"),
    "LongMemEval-S by round": ("longmemeval", "unit"),
    "LongMemEval-S by session": ("longmemeval", "session"),
    "DevMemBench by session": ("devmembench", "session"),
    "BEAM-100K by message": ("beam", "unit"),
    "own memories": ("memories", "memory"),
    "own memories, in general words": ("fresh", "memory"),
}
MORE = {  # no targets
    "LoCoMo by session": ("locomo", "session"),
    "LongMemEval-S by round, every message a unit": ("longmemeval-messages", "unit"),
    "LongMemEval-S by session, every message a unit": ("longmemeval-messages", "session"),
}


def run(
    views: Mapping[str, tuple[str, str]] = VIEWS, cache: Path = kept.OUT / "cache", held: bool = False
) -> dict[str, Any]:
    embed = Vectors(cache)
    return {title: _measure(name, by, embed, held) for title, (name, by) in views.items()}


def _measure(name: str, by: str, embed: Embed, held: bool) -> dict[str, Any]:
    corpora = datasets.load(name, held)
    if corpora is None:
        missing = [str(path) for path in datasets.files(name, held) if not path.exists()]
        return {"skipped": f"needs {' and '.join(missing)}"}
    table: Table = {**baselines(corpora, embed, by), OURS: ours(corpora, embed, by)}
    means = {system: rows.mean(axis=0) for system, rows in table.items()}
    best = max((system for system in table if system != OURS), key=lambda system: means[system][R5])
    differences = table[OURS][:, R5] - table[best][:, R5]
    low, high = interval(differences)
    return {
        "questions": len(differences),
        "held": held and name == "memories",
        "systems": {
            system: dict(zip(METRICS, map(float, row), strict=True)) for system, row in means.items()
        },
        "best baseline": best,
        "above": {"mean": float(differences.mean()), "low": low, "high": high},
    }


def show(figures: Mapping[str, Any]) -> None:
    last = kept.last("quality")
    for title, found in figures.items():
        if "skipped" in found:
            print(f"{title}: skipped, {found['skipped']}\n")
            continue
        print(f"{title}, {found['questions']} questions{', held out' if found['held'] else ''}")
        print(f"  {'':8}" + "".join(f"{metric:>9}" for metric in METRICS))
        for system, row in found["systems"].items():
            print(f"  {system:8}" + "".join(f"{row[metric]:9.3f}" for metric in METRICS))
        above = found["above"]
        print(
            f"  R@5 above {found['best baseline']}: {above['mean']:+.3f},"
            f" 95 % within {above['low']:+.3f} … {above['high']:+.3f}"
        )
        before = last.get(title, {})
        if "systems" in before and before["held"] == found["held"]:
            change = found["systems"][OURS]["R@5"] - before["systems"][OURS]["R@5"]
            print(f"  R@5 since the last run: {change:+.3f}")
        print()
