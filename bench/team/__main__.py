import argparse

from bench.team import PARTS, __doc__

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--only", choices=sorted(PARTS), help="one part")
parser.add_argument("--operations", type=int, help="of isolation and interface")
parser.add_argument("--seed", type=int, help="of isolation and interface")
parser.add_argument("--times", type=int, help="each fault")
parser.add_argument("--teams", type=int, help="of isolation, interface and load")
parser.add_argument("--size", type=int, help="memories of each team under load")
parser.add_argument("--clients", type=int, help="under load")
parser.add_argument("--seconds", type=float, help="that clients act under load")
parser.add_argument("--large", type=int, help="memories of one more team under load; 0 for none")
parser.add_argument("--embedder", choices=("synthetic", "minilm"), help="under load")
parser.add_argument("--folder", help="where a database for load is filled once and kept")
parser.add_argument("--examples", type=int, help="of the document, for each operation")
parser.add_argument("--before", help="the earlier version, as git names it")
parser.add_argument("--questions", type=int, help="of each set, for quality")
OPTIONS = {
    "isolation": ("operations", "seed", "teams"),
    "interface": ("operations", "seed", "teams"),
    "sensitivity": ("operations", "seed"),
    "document": ("examples",),
    "quality": ("questions",),
    "faults": ("times",),
    "versions": ("before",),
    "load": ("teams", "size", "clients", "seconds", "large", "embedder", "folder"),
}

given = parser.parse_args()
for name in [given.only] if given.only else PARTS:
    chosen = {option: value for option in OPTIONS[name] if (value := getattr(given, option)) is not None}
    PARTS[name].show(PARTS[name].run(**chosen))
