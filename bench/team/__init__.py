"""A team's database: who sees what, what survives a fault, and how fast it is under load.

    make bench BENCH=team
    python -m bench team --only isolation --operations 10000
    python -m bench team --only interface --operations 10000
    python -m bench team --only faults
    python -m bench team --only load --teams 500 --size 2000

- `isolation`: random operations of many people, each answer compared with a model of who may see what
- `interface`: the same through HTTP, with an attacker who forges tokens, ids, headers and texts in between
- `sensitivity`: the two with one rule broken at a time, which they must notice
- `document`: requests that schemathesis makes from the OpenAPI document
- `quality`: questions of the recall bench, asked of a server and of a local engine
- `faults`: writes while the server or its database is killed, cut off, full, replaced by its replica, and restored from a backup
- `versions`: an earlier version and this one on one database, each with commands and a server
- `load`: searches and writes in a database with many teams, beside the local engine

It starts a PostgreSQL of its own each time, from the wheel that the tests use.
"""

from typing import Any

from bench.team import document, faults, interface, isolation, load, quality, sensitivity, versions

PARTS = {
    "isolation": isolation,
    "interface": interface,
    "sensitivity": sensitivity,
    "document": document,
    "quality": quality,
    "faults": faults,
    "versions": versions,
    "load": load,
}


def run() -> dict[str, Any]:
    return {name: part.run() for name, part in PARTS.items()}


def show(figures: dict[str, Any]) -> None:
    for name, found in figures.items():
        PARTS[name].show(found)
