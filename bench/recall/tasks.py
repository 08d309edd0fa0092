"""What developers typed, as searches for the memories that help: the projects of bench/data/delivery, by the whole engine.

    python -m bench.recall.tasks                        all projects that are here
    python -m bench.recall.tasks quayside larkspur      some of them

R@k is the share of a task's useful memories among the first k. Tasks that no memory helps with are left out.
"""

import argparse
from pathlib import Path

import numpy as np

from bench.delivery import datasets as delivery
from bench.recall import figures as kept
from bench.recall.offtopic import open_stores
from bench.recall.vectors import Vectors

SPLITS = ("dev", "unseen", "blind")
TASKS = "tasks"  # the set of questions that they are


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.recall.tasks", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("projects", nargs="*", metavar="PROJECT")
    parser.add_argument("--cache", type=Path, default=kept.OUT / "cache", help="where vectors are kept")
    options = parser.parse_args()
    every = [project for split in SPLITS for project in delivery.load(split, delivery.DATA)]
    chosen = [project for project in every if not options.projects or project.name in options.projects]
    rows: list[tuple[float, float, bool]] = []
    print(f"{'project':12}{'tasks':>7}{'R@5':>8}{'R@10':>8}{'nothing found':>15}")
    for store in open_stores(chosen, Vectors(options.cache), own=False):
        found = [(useful, store.answers(task)) for name, task, useful in store.questions if name == TASKS]
        here = [
            (_share(useful, answers[:5]), _share(useful, answers), not answers) for useful, answers in found
        ]
        _show(store.name, here)
        rows += here
    _show("all", rows)


def _share(useful: frozenset[str], answers: list[str]) -> float:
    return len(useful.intersection(answers)) / len(useful)


def _show(name: str, rows: list[tuple[float, float, bool]]) -> None:
    first, ten, empty = np.array(rows, float).T
    print(f"{name:12}{len(rows):>7}{first.mean():>8.3f}{ten.mean():>8.3f}{int(empty.sum()):>15}", flush=True)


if __name__ == "__main__":
    main()
