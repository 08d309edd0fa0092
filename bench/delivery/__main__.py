"""What reaches the agent for a prompt: useful memories, the right files, and silence where nothing is known."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from bench.delivery import files, measure, refit
from bench.delivery.datasets import DATA, SITUATIONS, SPLITS, load
from bench.delivery.systems import SYSTEMS
from recollect.engine import Engine


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench delivery", description=__doc__)
    parser.add_argument("--split", choices=(*SPLITS, "all"), default="all")
    parser.add_argument(
        "--folder",
        type=Path,
        help="read projects from here, and measure no files; they are blind unless a split.json says otherwise",
    )
    parser.add_argument("--only", choices=("memories", "files"))
    parser.add_argument("--systems", nargs="+", choices=tuple(SYSTEMS), default=tuple(SYSTEMS))
    parser.add_argument(
        "--situations",
        choices=SITUATIONS,
        default="agents",
        help="whose memories say when they are needed: everybody's, those that an agent recorded (default), or nobody's",
    )
    parser.add_argument(
        "--failures", action="store_true", help="list what was missed and what was wrong; development only"
    )
    parser.add_argument(
        "--refit",
        action="store_true",
        help="instead, compare what agents were shown and used in your own project with the probabilities",
    )
    options = parser.parse_args(arguments)
    if options.refit:
        with Engine.open() as engine:
            refit.show(refit.run(engine))
        return
    if options.failures and options.split != "dev":
        parser.error("--failures needs --split dev: nobody looks at single tasks of the blind part")
    folder = options.folder or DATA
    if options.only != "files":
        result = measure.run(options.split, options.systems, folder=folder, situations=options.situations)
        details = result.pop("details")
        measure.show(result)
        if options.failures:
            for system in options.systems:
                _list(system, details[system], folder)
    if options.only != "memories" and not options.folder:
        files.show(files.run(options.split))


def _list(system: str, details: list[dict[str, object]], folder: Path) -> None:
    contents = {row["id"]: row["content"] for project in load("dev", folder) for row in project.memories}
    for row in details:
        if row["missed"] or row["wrong"]:
            print(f"\n[{system}] {row['task']}: {json.dumps(row['prompt'], ensure_ascii=False)}")
            for what in ("useful", "missed", "wrong"):
                names = row[what]
                assert isinstance(names, list)
                for name in names:
                    print(f"  {what:7} {name}: {contents[name]}")


if __name__ == "__main__":
    main()
