"""Prints how well findings are extracted; lists what is missed, wrong or not judged yet."""

import argparse

from bench import extraction
from bench.extraction import cases, judged_sessions, traces

parser = argparse.ArgumentParser(prog="python -m bench.extraction", description=__doc__)
parser.add_argument("-v", "--verbose", action="store_true", help="list what went wrong in the dev half")
parser.add_argument("--held", action="store_true", help="list the held half too; never to tune by")
options = parser.parse_args()

found = extraction.run()
extraction.show(found)
if options.verbose or options.held:
    halves = ("dev", "held") if options.held else ("dev",)
    cases.explain(found["details"]["cases"], halves)
    traces.explain(found["details"]["traces"], halves)
    judged_sessions.explain(found["details"]["sessions"])
