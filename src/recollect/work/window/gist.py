"""One-line summaries of items, and of tool calls with their results."""

from collections.abc import Mapping
from typing import Any

from recollect.text.cuts import start_of
from recollect.text.redact import redact
from recollect.text.sentences import cut
from recollect.work.extract.outcomes import error_line
from recollect.work.window.item import ContextItem, ToolCall
from recollect.work.window.pairs import Unit

LONGEST = 110  # characters
# The argument that best says what a call was for, best first.
_MAIN_ARGUMENTS = ("command", "cmd", "file_path", "path", "pattern", "query", "url", "description", "prompt")


def gist_of(unit: Unit) -> str:
    """Return what was done and how it ended, or the first line of a message, in at most `LONGEST` characters."""
    first, *results = unit.items
    calls = [part for part in first.parts if isinstance(part, ToolCall)]
    if not calls:
        return _clip(_first_line(first.content) or str(first.type))
    actions = ", ".join(_action(call) for call in calls)
    outcome = next((line for result in results if (line := _outcome(result))), "")
    return _clip(f"{_clip(actions, LONGEST * 2 // 3)} → {outcome}" if outcome else actions)


def _action(call: ToolCall) -> str:
    return f"{call.name} {_first_line(_main_argument(call.input))}".strip()


def _main_argument(given: Mapping[str, Any]) -> str:
    named = (given[name] for name in _MAIN_ARGUMENTS if isinstance(given.get(name), str))
    return next(named, next((value for value in given.values() if isinstance(value, str)), ""))


def _outcome(result: ContextItem) -> str:
    text = result.content
    return error_line(text) or _first_line(text)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if any(map(str.isalnum, line))), "")


def _clip(text: str, most: int = LONGEST) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else cut(redact(start_of(line, 8 * most))[0], most)
