"""`python -m livehosts record`: let each host run two sessions, and keep what its hooks got as fixtures of the tests.

The sessions have what the tests need to know of a host: a prompt, a command that works, one that fails and is mended, a
correction by the user, an MCP tool, and the end of a session.
"""

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from livehosts.checks.failure import MIGRATE, PREPARE
from livehosts.clis.registry import CLIS
from livehosts.sandbox import Sandbox, sandbox
from livehosts.script import CallTool, RunShell, Say

FIXTURES = Path(__file__).parents[1] / "tests" / "interfaces" / "hooks" / "recorded"
RULE = "Answer in British English"
FIRST = "Migrate the database of the shop"
CORRECTION = "No, use pnpm, not npm"
LATER = "Which language do I want, and how is the front end built?"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m livehosts record", description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", nargs="*", choices=sorted(CLIS), default=[], metavar="HOST")
    for name in parser.parse_args(arguments).hosts or CLIS:
        with sandbox(CLIS[name], record=True) as box:
            _play(box)
            events = list(_events(box))
        FIXTURES.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(event, ensure_ascii=False) for event in events]
        (FIXTURES / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: {len(events)} events in {FIXTURES / name}.jsonl")
    return 0


def _play(box: Sandbox) -> None:
    box.write_script("migrate.sh", MIGRATE)
    box.write_script("prepare-db.sh", PREPARE)
    box.recollect("remember", RULE, "--kind", "preference")
    box.install()
    box.run("Say hello first")  # so that a daemon runs and answers
    for path in (box.folder / "events").iterdir():
        path.unlink()
    steps = [
        RunShell("./migrate.sh"),
        RunShell("./prepare-db.sh"),
        RunShell("./migrate.sh"),
        RunShell("npm run build"),
    ]
    box.run(FIRST, *steps, Say("Migrated, and built with npm."))
    box.run(CORRECTION, RunShell("pnpm run build"), Say("Built with pnpm."), resume=True)
    box.run(LATER, CallTool("search_memory", {"query": "front end"}), Say("British English, and pnpm."))


def _events(box: Sandbox) -> Iterator[dict[str, Any]]:
    """Yield each event with its body and what the hook printed, without the paths of this machine."""
    for file in sorted((box.folder / "events").glob("*.in.json")):
        _, _, event = file.name.removesuffix(".in.json").split("-", 2)
        printed = file.with_name(file.name.replace(".in.json", ".out")).read_text(encoding="utf-8")
        yield {
            "event": event.removeprefix(f"{box.cli.name}-").rpartition("-")[2],
            "body": json.loads(_without_paths(file.read_text(encoding="utf-8"), box)),
            "printed": _without_paths(printed, box),
        }


def _without_paths(text: str, box: Sandbox) -> str:
    for path, name in ((box.project, "$PROJECT"), (box.home, "$HOME"), (box.folder, "$SANDBOX")):
        text = text.replace(str(path), name)
        text = text.replace(re.sub(r"[^A-Za-z0-9]", "-", str(path)), f"{name}-as-a-name")
    return text
