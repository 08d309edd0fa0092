"""Runs the benches named (all by default), prints their tables, and keeps the figures in bench/out.

make bench                      everything; takes a while
make bench BENCH="speed pairs"  some
python -m bench NAME --option   one, with the options that `python -m bench.NAME --help` lists
"""

import importlib
import itertools
import json
import runpy
import sys
import time
from pathlib import Path

BENCHES = (
    "everyday",
    "secrets",
    "pairs",
    "verdicts",
    "transcripts",
    "extraction",
    "sidecar",
    "mcp",
    "hooks",
    "speed",
    "web",
    "recall",
    "encryption",
    "durability",
    "attack",
    "clusters",
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
    "delivery",
    "team",
)
OUT = Path(__file__).parent / "out"


def main(arguments: list[str]) -> int:
    names = list(itertools.takewhile(lambda argument: not argument.startswith("-"), arguments))
    options = arguments[len(names) :]
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"No bench {unknown[0]!r}. There are: {', '.join(BENCHES)}.", file=sys.stderr)
        return 2
    if options:
        if len(names) != 1:
            print("Options need the name of one bench before them.", file=sys.stderr)
            return 2
        sys.argv = [f"bench {names[0]}", *options]
        runpy.run_module(f"bench.{names[0]}", run_name="__main__")
        return 0
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
