"""A team's database: who sees what, what survives a fault, and how fast it is under load.

    make bench BENCH=team
    python -m bench team --only isolation --operations 10000
    python -m bench team --only interface --operations 10000
    python -m bench team --only faults
    python -m bench team --only load --teams 500 --size 2000

- `isolation`: random operations of many people, each answer compared with a model of who may see what
- `interface`: the same through HTTP, with an attacker who forges tokens, ids, headers and texts in between
- `faults`: writes while the database is killed, cut off, replaced by its replica, and restored from a backup
- `load`: searches and writes in a database with many teams, beside the local engine

It starts a PostgreSQL of its own each time, from the wheel that the tests use.
"""

from typing import Any

from bench.team import faults, interface, isolation, load

PARTS = {"isolation": isolation, "interface": interface, "faults": faults, "load": load}


def run() -> dict[str, Any]:
    return {name: part.run() for name, part in PARTS.items()}


def show(figures: dict[str, Any]) -> None:
    for name, found in figures.items():
        PARTS[name].show(found)
