"""Attacks on Recollect: kills, concurrency, damage, hostile input through every interface. All figures but tries must be 0.

python -m bench.attack [--seconds N] [--only NAME ...]

Each attack has N seconds (10), and "16 processes" six times as long. `lost` counts acknowledged writes that are gone;
`crashed` counts errors that are not messages to the user, and attacks that did not take place; `hung` counts what was not
done after a minute; `leaked` counts secrets on disk, programs of a repository that ran, its words in a briefing, and
changes that an agent may not make.

`case` has what the attacks share: counts, hostile values, processes. `storage`, `stops`, `inputs`, `trust` and `team` have the attacks.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.attack import inputs, stops, storage, team, trust
from bench.attack.case import FIGURES, Result

SECONDS = 10.0  # for each attack


@dataclass(frozen=True)
class Attack:
    name: str
    run: Callable[[Path, float], Result]
    share: float = 1.0  # of the seconds of an attack


ATTACKS = (
    Attack("kills of writers", storage.kill_writers),
    Attack("kills of the daemon", storage.kill_daemons),
    Attack("stops of the daemon", stops.stops),
    Attack("16 processes", storage.crowd, share=6.0),
    Attack("16 cold starts", storage.starts),
    Attack("damaged stores", storage.damage),
    Attack("hook events", inputs.hook_events),
    Attack("MCP requests", inputs.mcp_requests),
    Attack("imports, transcripts", inputs.files),
    Attack("configuration", inputs.configuration),
    Attack("hostile repository", trust.hostile_repository),
    Attack("secrets", trust.secrets),
    Attack("actors", trust.actors),
    Attack("team server", team.team_server),
    Attack("expressions", inputs.expressions),
)


def run(seconds: float = SECONDS, only: Sequence[str] = ()) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    print(_HEAD, flush=True)
    for attack in ATTACKS:
        if only and not any(word in attack.name for word in only):
            continue
        with tempfile.TemporaryDirectory(prefix="recollect-attack-", ignore_cleanup_errors=True) as folder:
            result = attack.run(Path(folder), attack.share * seconds)
        result.need(result.tries > 0, "nothing was tried")
        figures[attack.name] = vars(result)
        print(_line(attack.name, vars(result)), flush=True)
    return figures


def show(figures: dict[str, Any]) -> None:
    """Print what the figures other than 0 are about; `run` has printed the table."""
    for name, row in figures.items():
        for detail in row["details"][:10]:
            print(f"{name}: {detail}")
    print("All zero." if is_clean(figures) else "Not all zero.")


def is_clean(figures: dict[str, Any]) -> bool:
    return not any(row[figure] for row in figures.values() for figure in FIGURES[1:])


_HEAD = f"{'':22}" + "".join(f"{figure:>9}" for figure in FIGURES)


def _line(name: str, row: dict[str, Any]) -> str:
    return f"{name:22}" + "".join(f"{row[figure]:>9,}" for figure in FIGURES) + f"  {row['note']}"
