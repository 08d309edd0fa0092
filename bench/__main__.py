"""Runs the benches named (all by default), prints their tables, and keeps the figures in bench/out.

make bench                      everything; takes a while
make bench BENCH="speed pairs"  some
"""

import importlib
import json
import sys
import time
from pathlib import Path

BENCHES = (
    "secrets",
    "pairs",
    "transcripts",
    "extraction",
    "sidecar",
    "mcp",
    "hooks",
    "speed",
    "recall",
    "encryption",
    "durability",
    "consolidate",
    "year",
    "edges",
    "django",
    "localisation",
    "git_tasks",
    "discovery",
    "episodes",
    "failures",
    "window",
)
OUT = Path(__file__).parent / "out"


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"No bench {unknown[0]!r}. There are: {', '.join(BENCHES)}.", file=sys.stderr)
        return 2
    OUT.mkdir(exist_ok=True)
    for name in names or BENCHES:
        print(f"\n== {name}", flush=True)
        begin = time.perf_counter()
        bench = importlib.import_module(f"bench.{name}")
        figures = bench.run()
        if "skipped" in figures:
            print(f"skipped: {figures['skipped']}")
            continue
        bench.show(figures)
        figures.pop("details", None)
        (OUT / f"{name}.json").write_text(json.dumps(figures, indent=1, default=str))
        print(f"({time.perf_counter() - begin:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
