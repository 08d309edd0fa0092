"""`python -m bench.window`: takes some minutes."""

import argparse
import json

from bench.window.measure import SEED, TURNS, run, show
from bench.window.plot import OUT


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.window", description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    figures = run(options.turns, options.seed)
    if "skipped" in figures:
        print(f"skipped: {figures['skipped']}")
        return
    show(figures)
    for need in figures["missed"]:
        print(f"lost: {need}")
    figures.pop("details")
    OUT.mkdir(exist_ok=True)
    (OUT / "window.json").write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
