"""`python -m livehosts record`: let each host run three times, and keep what its hooks got as fixtures of the tests.

The runs have what the tests need to know of a host: a prompt, a command that works, one that fails and is mended; in the same
session, resumed, a correction by the user; and a new session with an MCP tool. A fixture has a line for each event, in order,
and before those of a run the host's transcripts as they were after it. Long texts of the host's own are shortened.
"""

import argparse
import json
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from livehosts.checks.failure import MIGRATE, PREPARE
from livehosts.clis.registry import CLIS
from livehosts.sandbox import Sandbox, sandbox
from livehosts.script import CallTool, RunShell, Say

FIXTURES = Path(__file__).parents[1] / "tests" / "interfaces" / "daemon" / "recorded"
RULE = "Answer in British English"
FIRST = "Migrate the database of the shop"
CORRECTION = "No, use pnpm, not npm"
LATER = "Which language do I want, and how is the front end built?"
TABLES = ("session", "message", "part")  # of OpenCode's database
LONGEST = 400  # characters of a text in a transcript


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m livehosts record", description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", nargs="*", choices=sorted(CLIS), default=[], metavar="HOST")
    for name in parser.parse_args(arguments).hosts or CLIS:
        with sandbox(CLIS[name], record=True) as box:
            lines = list(_recorded(box))
        FIXTURES.mkdir(parents=True, exist_ok=True)
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
        (FIXTURES / f"{name}.jsonl").write_text(text + "\n", encoding="utf-8")
        print(f"{name}: {len(lines)} lines in {FIXTURES / name}.jsonl")
    return 0


def _recorded(box: Sandbox) -> Iterator[dict[str, Any]]:
    """Run the sessions and yield the lines of the fixture."""
    box.write_script("migrate.sh", MIGRATE)
    box.write_script("prepare-db.sh", PREPARE)
    box.recollect("remember", RULE, "--kind", "preference")
    box.install()
    box.run("Say hello first")  # so that a daemon runs and answers
    list(_take_events(box))
    commands = ("./migrate.sh", "./prepare-db.sh", "./migrate.sh", "npm run build")
    box.run(FIRST, *map(RunShell, commands), Say("Migrated, and built with npm."))
    yield from _run_lines(box, 1)
    box.run(CORRECTION, RunShell("pnpm run build"), Say("Built with pnpm."), resume=True)
    yield from _run_lines(box, 2)
    box.run(LATER, CallTool("search_memory", {"query": "pnpm"}), Say("British English, and pnpm."))
    yield from _run_lines(box, 3)


def _run_lines(box: Sandbox, run: int) -> Iterator[dict[str, Any]]:
    events = list(_take_events(box))
    for path in sorted({path for event in events if (path := event["body"].get("transcript_path"))}):
        file = Path(path.replace("$PROJECT-as-a-name", _as_name(box.project)).replace("$HOME", str(box.home)))
        if file.exists():
            lines = _without_paths(file.read_text("utf-8"), box).splitlines()
            text = "\n".join(json.dumps(_shortened(json.loads(line)), ensure_ascii=False) for line in lines)
            yield {"run": run, "transcript": path, "text": text + "\n"}
    if box.cli.database:
        yield {"run": run, "database": f"$HOME/{box.cli.database}", "tables": _tables(box)}
    for event in events:
        yield {"run": run, **event}


def _tables(box: Sandbox) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a host that keeps its sessions in a database."""
    connection = sqlite3.connect(box.home / box.cli.database)
    connection.row_factory = sqlite3.Row
    try:
        rows = {
            name: [dict(row) for row in connection.execute(f"SELECT * FROM {name} ORDER BY rowid")]
            for name in TABLES
        }
    finally:
        connection.close()
    tables: dict[str, list[dict[str, Any]]] = json.loads(_without_paths(json.dumps(rows), box))
    return tables


def _take_events(box: Sandbox) -> Iterator[dict[str, Any]]:
    """Yield the events since the last call, each with its body and what the hook printed."""
    time.sleep(3.0)  # Claude Code does not wait for the last hook
    for file in sorted((box.folder / "events").glob("*.in.json")):
        printed = file.with_name(file.name.replace(".in.json", ".out"))
        yield {
            "event": file.name.removesuffix(".in.json").rpartition(f"-{box.cli.name}-")[2],
            "body": json.loads(_without_paths(file.read_text("utf-8"), box)),
            "printed": _without_paths(printed.read_text("utf-8"), box),
        }
        file.unlink()
        printed.unlink()


def _shortened(value: Any) -> Any:
    """Return a value without the end of long texts: they are the host's own prompts."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST or "recollect-memory" in value else f"{value[:60]}…"
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, dict):
        return {name: _shortened(item) for name, item in value.items()}
    return value


def _without_paths(text: str, box: Sandbox) -> str:
    """Return a text with names in place of the paths of this machine."""
    paths = ((box.project, "$PROJECT"), (box.home, "$HOME"), (box.folder, "$SANDBOX"))
    for path, name in paths:
        text = text.replace(str(path), name).replace(_as_name(path), f"{name}-as-a-name")
    return text


def _as_name(path: Path) -> str:
    """Return a path as Claude Code names a folder after it."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(path))
