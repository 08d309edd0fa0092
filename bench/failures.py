"""When a failure comes again, is what mended it among the first answers; and is nothing offered for one never seen?

Each case goes the way of a session: a command fails, something is done, the command passes; then the failure is shown
again with other paths, numbers and times. Hand-written cases are in `data/failures.jsonl`, failures that nothing here
has mended in `data/failures_unrelated.jsonl`; real ones come from `../shared/data/traces`, if that is there, and are
shown again with every path, number and time replaced by another. Run with `python -m bench.failures`; `-v` lists misses.
"""

import json
import random
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from recollect.config import Settings
from recollect.engine import Engine
from recollect.model import ERROR_FIX
from recollect.work.episodes.patterns import Fix
from recollect.work.episodes.record import event_key
from recollect.work.hosts.transcripts import read
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.tools import command_of

HERE = Path(__file__).parent
TRACES = HERE.parents[1] / "shared" / "data" / "traces"
FIRST = 3
TARGET_FOUND, TARGET_FALSE = 0.8, 0.05
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def run() -> dict[str, Any]:
    written, unrelated, details = _written()
    real = _real() if TRACES.exists() else None
    return {
        "written": written,
        "unrelated": unrelated,
        "real": real and {name: real[name] for name in ("pairs", "found", "sessions")},
        "details": details | {"real": real["missed"] if real else []},
    }


def _written() -> tuple[dict[str, Counter[str]], dict[str, Counter[str]], dict[str, list[str]]]:
    """Each case by its set: those the rules were written with, and those that were held out."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    false: dict[str, Counter[str]] = defaultdict(Counter)
    missed, offered = [], []
    cases = _lines("failures.jsonl")
    with tempfile.TemporaryDirectory() as folder, _engine(Path(folder)) as engine:
        for number, case in enumerate(cases):
            for _ in engine.episodes.watch(f"case{number}", _session(case)):
                pass
        while engine.episodes.refresh():
            pass
        for case in cases:
            fixes = engine.episodes.fixes_for(case["again"]["output"], case["again"]["command"], FIRST)
            found[case["set"]]["cases"] += 1
            if any(_is_it(fix, case["fix"]) for fix in fixes):
                found[case["set"]]["found"] += 1
            else:
                missed.append(f"{case['name']}: {[fix.text for fix in fixes]}")
        for each in _lines("failures_unrelated.jsonl"):
            fixes = engine.episodes.fixes_for(each["output"], each["command"], FIRST)
            false[each["set"]]["cases"] += 1
            if fixes:
                false[each["set"]]["false"] += 1
                offered.append(f"{each['output'][:90]!r} → {fixes[0].confidence} {fixes[0].text}")
    return found, false, {"missed": missed, "offered": offered}


def _session(case: dict[str, Any]) -> Iterator[Event]:
    steps: list[tuple[str, dict[str, Any], str, bool]] = [
        ("Bash", {"command": case["command"]}, case["output"], True)
    ]
    steps += [
        ("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, "ok", False)
        for path in case["fix"]["edit"]
    ]
    steps += [("Bash", {"command": line}, "", False) for line in case["fix"]["run"]]
    steps.append(("Bash", {"command": case["fix"]["instead"] or case["command"]}, "ok", False))
    for number, (tool, given, output, failed) in enumerate(steps):
        at = NOW + timedelta(seconds=number)
        yield Event("", 2 * number, "assistant", "", at=at, tool=tool, call=f"c{number}", input=given)
        yield Event("", 2 * number + 1, "tool", output, at=at, tool=tool, call=f"c{number}", failed=failed)


def _is_it(fix: Fix, expected: dict[str, Any]) -> bool:
    """Beside a change, commands that prepare nothing are not told."""
    told = {*fix.commands, fix.instead}
    return (
        set(expected["edit"]) <= set(fix.files)
        and (bool(fix.files) or set(expected["run"]) <= told)
        and expected["instead"] in ("", fix.instead)
    )


def _real() -> dict[str, Any]:
    """Pairs of a failure and what mended it, found in real sessions, one store for all of them."""
    missed, pairs, found, sessions = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder, _engine(Path(folder)) as engine:
        outputs: dict[str, tuple[str, str]] = {}
        for path in sorted(TRACES.glob("*.gz")):
            by_session: dict[str, list[Event]] = defaultdict(list)
            for event in read(path):
                by_session[event.session].append(event)
            sessions += len(by_session)
            for session, events in by_session.items():
                name = f"{path.name}/{session}"
                outputs |= _outputs(name, events)
                for _ in engine.episodes.watch(name, events):
                    pass
        while engine.episodes.refresh():
            pass
        shown = _sighted(engine)
        for key, pattern in shown:
            command, output = outputs[key]
            pairs += 1
            fixes = engine.episodes.fixes_for(_otherwise(output), command, FIRST)
            if any(_same(fix, pattern) for fix in fixes):
                found += 1
            else:
                missed.append(
                    f"{command[:100]!r}: {pattern['error'][:100]!r}; offered {[fix.error for fix in fixes]}"
                )
    return {"pairs": pairs, "found": found, "sessions": sessions, "missed": missed}


def _outputs(session: str, events: list[Event]) -> dict[str, tuple[str, str]]:
    calls = {event.call: event for event in events if event.is_call}
    return {
        event_key(session, call): (command_of(call) or "", event.text)
        for event in events
        if event.is_answer and (call := calls.get(event.call)) is not None
    }


def _sighted(engine: Engine) -> list[tuple[str, dict[str, Any]]]:
    """Past the engine: which failing call each pattern was seen in."""
    from recollect.store.sqlite.connection import connect

    db = connect(engine.settings.database, None)
    query = (
        "SELECT s.key, p.pattern_data FROM pattern_sightings s JOIN learned_patterns p ON p.id = s.pattern"
        " WHERE p.pattern_type = ? ORDER BY s.key"
    )
    rows = [(str(key), json.loads(str(data))) for key, data in db.execute(query, (ERROR_FIX,))]
    db.close()
    return rows


def _same(fix: Fix, pattern: dict[str, Any]) -> bool:
    return (
        list(fix.files) == pattern["files"]
        and list(fix.commands) == pattern["commands"]
        and fix.instead == pattern["instead"]
    )


def _otherwise(output: str) -> str:
    """The same failure on another day, on another machine."""
    chance = random.Random(len(output))
    moved = re.sub(
        r"(?<![\w.])/(?:home|root|Users|workspace|testbed|tmp|opt|app|usr)(?:/[\w.@+-]+)*/",
        "/srv/elsewhere/",
        output,
    )
    return re.sub(
        r"(?<![\w.])\d+(?![\w])", lambda found: str(chance.randrange(1, 10 ** max(1, len(found[0])))), moved
    )


def _engine(folder: Path) -> Engine:
    project = folder / "shop"
    project.mkdir()
    settings = Settings(home=folder / "home", user="bench", embedder="none", episode_days=0)
    return Engine.open(project, settings=settings)


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / "data" / name).read_text(encoding="utf-8").splitlines()]


def show(found: dict[str, Any], verbose: bool = False) -> None:
    real = found["real"]
    for name, count in found["written"].items():
        part, whole = count["found"], count["cases"]
        print(
            f"hand-written, {name:<5} the fix is among the first {FIRST} for {part} of {whole}"
            f" ({part / whole:.0%}; target ≥ {TARGET_FOUND:.0%})"
        )
    for name, count in found["unrelated"].items():
        part, whole = count["false"], count["cases"]
        print(
            f"unrelated, {name:<8} a fix is offered for {part} of {whole} ({part / whole:.0%}; target ≤ {TARGET_FALSE:.0%})"
        )
    if real is None:
        print(f"real: needs {TRACES}")
    elif real["pairs"]:
        print(
            f"real                the fix is among the first {FIRST} for {real['found']} of {real['pairs']}"
            f" ({real['found'] / real['pairs']:.0%}), from {real['sessions']} sessions"
        )
    if verbose:
        for name, lines in found["details"].items():
            for line in lines:
                print(f"{name}: {line}")


if __name__ == "__main__":
    show(run(), "-v" in sys.argv)
