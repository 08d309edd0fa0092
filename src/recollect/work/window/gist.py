"""One line that says what an item or a call with its results was."""

from collections.abc import Mapping
from typing import Any

from recollect.work.extract.outcomes import telling_line
from recollect.work.window.item import Call, ContextItem
from recollect.work.window.pairs import Unit

LONGEST = 110  # characters
_TELLING = ("command", "cmd", "file_path", "path", "pattern", "query", "url", "description", "prompt")


def gist_of(unit: Unit) -> str:
    """What was done and how it ended, or the first thing that was said; at most `LONGEST` characters."""
    first, *results = unit.items
    calls = [part for part in first.parts if isinstance(part, Call)]
    if not calls:
        return _clip(_first_line(first.content) or str(first.type))
    done = ", ".join(_deed(call) for call in calls)
    ended = next((line for result in results if (line := _outcome(result))), "")
    return _clip(f"{_clip(done, LONGEST * 2 // 3)} → {ended}" if ended else done)


def _deed(call: Call) -> str:
    return f"{call.name} {_first_line(_aim(call.input))}".strip()


def _aim(given: Mapping[str, Any]) -> str:
    named = (given[name] for name in _TELLING if isinstance(given.get(name), str))
    return next(named, next((value for value in given.values() if isinstance(value, str)), ""))


def _outcome(result: ContextItem) -> str:
    text = result.content
    return telling_line(text) or _first_line(text)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if any(map(str.isalnum, line))), "")


def _clip(text: str, most: int = LONGEST) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
