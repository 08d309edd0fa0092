"""What a hook prints, in the form its host takes. Pure."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from recollect.interfaces.install.shapes import CLAUDE, SILENT, TEXT, Shape

MOST = {"codex": 8_000}  # characters: about 2,500 tokens, beyond which the host puts it into a file
MOST_ELSEWHERE = 10_000  # the cap of Claude Code
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def limit(host: str) -> int:
    """How many characters of ours a host puts before its model at once."""
    return MOST.get(host, MOST_ELSEWHERE)


def together(host: str, texts: list[str]) -> str:
    """As many of `texts`, in order, as the host takes; whole, for half a fence is none."""
    kept: list[str] = []
    room = limit(host)
    for text in texts:
        if text and len(text) <= room:
            kept.append(text)
            room -= len(text) + 1
    return "\n".join(kept)


def printed(event: str, shape: Shape, text: str, more: Mapping[str, Any] = _NOTHING) -> bytes:
    """With `more` of what the host is to do. Empty where there is nothing to say, or nobody to hear it."""
    if shape.answer == SILENT or not (text or more):
        return b""
    said = dict(more)
    if shape.answer == TEXT:
        if not more:
            return text.encode("utf-8", "replace")
        said["text"] = text
    elif text and shape.answer == CLAUDE:
        told = {"hookEventName": event, "additionalContext": text}
        said["hookSpecificOutput"] = told | said.get("hookSpecificOutput", {})
    elif text:
        said["additional_context"] = text
    return json.dumps(said).encode()
