"""`python -m bench.consolidate`: the first run embeds 100,000 short texts, which takes ten minutes."""

import argparse
import json

from bench.consolidate.measure import KILLS, SIZE, run, show
from bench.recall.figures import OUT


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.consolidate", description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help="memories")
    parser.add_argument("--kills", type=int, default=KILLS, help="runs to be killed")
    options = parser.parse_args()
    figures = run(options.size, options.kills)
    show(figures)
    (OUT / "consolidate.json").write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
