"""Replacement of a tool's output by a hook: shortened, in the shape that the host requires. Pure functions."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from recollect.work.hosts.registry import HOSTS
from recollect.work.transcripts.tools import EDIT, FAMILIES, READ, WRITE
from recollect.work.window.outputs import output_id, shorten

# Files are not shortened: they can be read again in part, and hosts number their lines without gaps.
_FILES = (READ, EDIT, WRITE)
_NOT_TEXT = frozenset({"base64", "data", "blob"})  # pictures and the like


class Rewritten(NamedTuple):
    answer: dict[str, Any]  # fields of the hook's answer
    whole: dict[str, str]  # the original texts by id, to be stored before the hook answers


def rewritten(host: str, tool: str, response: Any, budget: int) -> Rewritten | None:
    """Return the replacement, or None if everything in `response` fits `budget` tokens or the host cannot replace it.

    Codex rejects a hook that tries; VS Code and Cursor have no such answer.
    """
    replace_output = HOSTS[host].replace_output
    if replace_output is None or FAMILIES.get(tool) in _FILES:
        return None
    whole: dict[str, str] = {}
    answer = replace_output(response, lambda value: _shorter(tool, value, budget, whole))
    return Rewritten(answer, whole) if whole else None


def _shorter(tool: str, value: Any, budget: int, whole: dict[str, str]) -> Any:
    """Return `value` with long texts shortened; the shape stays, because hosts reject another one."""
    if isinstance(value, str):
        short, keep = shorten(tool, value, budget)
        if keep:
            whole[output_id(value)] = value
        return short
    if isinstance(value, Mapping):
        if value.get("isImage") or value.get(
            "persistedOutputPath"
        ):  # the host stores it in a file and shows an excerpt already
            return value
        return {
            name: item if name in _NOT_TEXT else _shorter(tool, item, budget, whole)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [_shorter(tool, item, budget, whole) for item in value]
    return value
