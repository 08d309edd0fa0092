"""How well the local sidecar tells what bears on a request: `python -m bench.sidecar`.

Questions of the development half only, and requests about other things, for which nothing should come up.
"""

import json
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect.engine import Engine

DATA = Path(__file__).parent / "data"
NOW = datetime(2026, 11, 1, tzinfo=UTC)
HITS, SHOWN = 10, 5  # as the memory agent has them
OTHER = """
Refactor the React Native gesture handler so that swiping left deletes a note
Write a haiku about autumn leaves
Why does cargo build fail with a linker error for the wasm target?
Add dark mode to the settings screen of the calculator
Convert this bash loop into a Makefile rule
Explain how quicksort chooses its pivot
Set up ESLint for the monorepo of the todo app
The terraform plan shows a drift in the VPC peering
Rename the function parse_args to read_args everywhere
Draft release notes for version 2.3 of the compiler
How do I mount a USB stick on FreeBSD?
What is the time complexity of a heap?
translate the README into French
Please make the font of the header bigger
the neural network's loss is NaN after epoch 3
Is it better to use tabs or spaces in Go?
Sort this CSV by the second column
Generate a UUID in Rust
fix the typo in line 12
Our chess engine plays e4 too often
""".strip().splitlines()

Choose = Callable[[str, Sequence[m.Hit]], Sequence[str]]


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, Engine.open(folder, folder, clock=lambda: NOW) as engine:
        names = _remember(engine)

        def verified(context: str, hits: Sequence[m.Hit]) -> Sequence[str]:
            judged = engine.sidecar.verify(context, hits)
            return judged.relevant if judged else ()

        rules: dict[str, Choose] = {
            "score ≥ 0.3": lambda _, hits: [hit.memory.id for hit in hits if hit.score >= 0.3],
            "verified": verified,
        }
        return {name: _measure(engine, names, choose) for name, choose in rules.items()}


def show(figures: dict[str, Any]) -> None:
    for name, each in figures.items():
        right, shown, wanted = each["right"], each["shown"], each["wanted"]
        print(
            f"{name:12} precision {right / shown:.2f} ({right} of {shown})  recall {right / wanted:.2f}"
            f" ({right} of {wanted})  something for {each['other']} of {len(OTHER)} other requests"
        )


def _remember(engine: Engine) -> dict[str, str]:
    """The names in the set by our ids."""
    names = {}
    for row in _rows("memories"):
        paths = tuple(path for path in row["file_paths"] if ".env" not in path)  # refused, as they should be
        receipt = engine.remember(row["content"], kind=row["kind"], tags=tuple(row["tags"]), file_paths=paths)
        names.setdefault(receipt.id, row["id"])
    return names


def _measure(engine: Engine, names: dict[str, str], choose: Choose) -> dict[str, int]:
    right = shown = wanted = 0
    for question in _rows("questions_dev"):
        chosen = choose(question["q"], engine.search(question["q"], HITS).results)[:SHOWN]
        right += len({names.get(each) for each in chosen} & set(question["relevant"]))
        shown += len(chosen)
        wanted += len(question["relevant"])
    other = sum(bool(choose(request, engine.search(request, HITS).results)) for request in OTHER)
    return {"right": right, "shown": shown, "wanted": wanted, "other": other}


def _rows(name: str) -> list[dict[str, Any]]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


if __name__ == "__main__":
    show(run())
