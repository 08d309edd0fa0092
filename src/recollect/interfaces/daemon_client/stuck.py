"""The work that the daemon has given up, in a file for `recollect doctor`."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

FILE = "daemon.stuck"
KEPT = 20  # entries


def note_stuck(home: Path, project: str, work: str) -> None:
    """Note that the daemon has given up work for the project at a folder."""
    entries = [*read_stuck(home), {"project": project, "work": work, "at": time.time()}][-KEPT:]
    with suppress(OSError):  # a full disk: the log has it too
        written = home / f"{FILE}.{os.getpid()}"
        written.write_text("".join(json.dumps(each) + "\n" for each in entries), "utf-8")
        written.replace(home / FILE)


def read_stuck(home: Path) -> list[dict[str, Any]]:
    """Return the work that was abandoned, oldest first."""
    try:
        lines = (home / FILE).read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return []
    entries = []
    for line in lines:
        with suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict) and isinstance(entry.get("at"), int | float):
                entries.append(entry)
    return entries
