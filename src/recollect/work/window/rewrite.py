"""A tool's output as a host's hook may replace it: shortened, in the shape that the host wants. Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from recollect.work.transcripts.tools import EDIT, FAMILIES, READ, WRITE
from recollect.work.window.outputs import output_id, shorten

# A file is there to be read again, in part; and hosts number its lines, which must not be missing in between.
_FILES = (READ, EDIT, WRITE)
_NOT_TEXT = frozenset({"base64", "data", "blob"})  # pictures and the like


class Rewritten(NamedTuple):
    answer: dict[str, Any]  # what the hook prints, besides what it has to say
    whole: dict[str, str]  # the texts that were shortened, by their ids: to be kept before the hook answers


def rewritten(host: str, tool: str, response: Any, budget: int) -> Rewritten | None:
    """None where nothing in `response` takes more than `budget` tokens, or the host's hooks cannot replace it.

    Codex refuses a hook that tries, VS Code and Cursor know no such answer.
    """
    if FAMILIES.get(tool) in _FILES:
        return None
    whole: dict[str, str] = {}
    answer: dict[str, Any] = {}
    if host == "claude-code":
        said = {"hookEventName": "PostToolUse", "updatedToolOutput": _shorter(tool, response, budget, whole)}
        answer = {"hookSpecificOutput": said}
    elif host == "gemini" and isinstance(text := _field(response, "llmContent"), str):
        answer = {"decision": "deny", "reason": _shorter(tool, text, budget, whole)}  # shown as the result
    elif host == "opencode" and isinstance(text := _field(response, "output"), str):
        answer = {"output": _shorter(tool, text, budget, whole)}
    return Rewritten(answer, whole) if whole else None


def _field(response: Any, name: str) -> Any:
    return response.get(name) if isinstance(response, Mapping) else None


def _shorter(tool: str, value: Any, budget: int, whole: dict[str, str]) -> Any:
    """The same shape: hosts refuse another."""
    if isinstance(value, str):
        short, keep = shorten(tool, value, budget)
        if keep:
            whole[output_id(value)] = value
        return short
    if isinstance(value, Mapping):
        if value.get("isImage") or value.get(
            "persistedOutputPath"
        ):  # in a file, and shown shortened as it is
            return value
        return {
            name: each if name in _NOT_TEXT else _shorter(tool, each, budget, whole)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [_shorter(tool, each, budget, whole) for each in value]
    return value
