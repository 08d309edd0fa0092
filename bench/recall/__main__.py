"""Quality of recall on every set that is here, beside what one would use instead."""

import argparse
from pathlib import Path

from bench.recall import figures as kept
from bench.recall import plot
from bench.recall.report import MORE, VIEWS, run, show

parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
parser.add_argument("--sets", nargs="+", choices=sorted({name for name, _ in (VIEWS | MORE).values()}))
parser.add_argument("--all", action="store_true", help="also what is no target (embeds 15,000 more texts)")
parser.add_argument("--held", action="store_true", help="our own held-out questions; never to tune by")
parser.add_argument("--cache", type=Path, default=kept.OUT / "cache", help="where vectors are kept")
options = parser.parse_args()

views = VIEWS | MORE if options.all or options.sets else VIEWS
if options.sets:
    views = {title: view for title, view in views.items() if view[0] in options.sets}
figures = run(views, options.cache, options.held)
show(figures)
print(f"Figures are in {kept.keep('quality', figures)}")
for path in plot.draw():
    print(f"Drawn: {path}")
