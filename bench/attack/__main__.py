import argparse
import sys

from bench import attack


def main() -> int:
    options = argparse.ArgumentParser(
        prog="python -m bench.attack",
        description=attack.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("--seconds", type=float, default=attack.SECONDS, help="for each attack")
    options.add_argument("--only", nargs="+", default=(), help="parts of names of attacks")
    given = options.parse_args()
    figures = attack.run(given.seconds, given.only)
    attack.show(figures)
    return 0 if attack.is_clean(figures) else 1


if __name__ == "__main__":
    sys.exit(main())
