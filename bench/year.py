"""A simulated year of daily work in one project, and what is left of it: the store within bounds, the user untouched."""

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect import Engine
from recollect.config import load_settings
from recollect.model import ALL_STATES

_TESTS = Path(__file__).parents[1] / "tests"
CAPACITY = 300


def run(small: bool = False) -> dict[str, Any]:
    sys.path += [
        str(_TESTS),
        str(_TESTS / "memory" / "maintenance"),
    ]  # the same simulation as tests/memory/maintenance/test_year.py, there in short
    from fakes import FakeClock
    from year import Year, lines_of, unexplained

    with tempfile.TemporaryDirectory() as name:
        home, folder, clock = Path(name) / "home", Path(name) / "shop", FakeClock()
        folder.mkdir()
        settings = load_settings(home, environment={}, user="ada", capacity=CAPACITY)

        def open_engine() -> Engine:
            return Engine.open(folder, settings=settings, clock=clock)

        year = Year(open_engine, clock, every=30 if small else 1)
        begin = time.perf_counter()
        year.pass_by()
        took = time.perf_counter() - begin
        with open_engine() as engine:
            engine.care.compact()
            again = engine.care.compact()
            kept = list(
                engine.store.iter_memories(
                    replace(engine.context.view(), states=ALL_STATES, all_sessions=True)
                )
            )
            archived = [each for each in kept if each.state is m.State.ARCHIVED]
            lines = lines_of(engine.store, home / "audit-archive.jsonl")
            first = [engine.search(year.questions[each]).results[0].memory.id for each in year.useful]
            said = [engine.get(each) for each in dict.fromkeys(year.stated)]
            return {
                **year.happened,
                "seconds": round(took),
                "capacity": CAPACITY,
                "active, kept by agents": sum(
                    each.promoted_at is not None and each.state is m.State.ACTIVE for each in kept
                ),
                "archived": len(archived),
                "archived without exactly one reason": len(unexplained(archived, lines)),
                "used memories": len(year.useful),
                "used memories found first": sum(map(str.__eq__, first, year.useful)),
                "said by the user": len(said),
                "of these changed by others": sum(not _is_untouched(engine, each) for each in said),
                "changed by compacting again": len(again.archived),
                "problems found by the store's check": len(engine.store.check()),
            }


def _is_untouched(engine: Engine, said: m.Memory) -> bool:
    if said.state is m.State.SUPERSEDED and said.superseded_by:
        return engine.get(said.superseded_by).created_by == "user"
    return said.state is m.State.ACTIVE


def show(figures: dict[str, Any]) -> None:
    for name, value in figures.items():
        print(f"{name:40}{value:>10,}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--small", action="store_true", help="a day a month, to see that it works")
    show(run(options.parse_args().small))


if __name__ == "__main__":
    main()
