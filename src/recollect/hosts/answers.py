"""What a hook prints, in the form its host takes. Pure."""

import json

from recollect.hosts.shapes import CLAUDE, CURSOR, TEXT, Shape

MOST = {"codex": 8_000}  # characters: about 2,500 tokens, beyond which the host puts it into a file
MOST_ELSEWHERE = 10_000  # the cap of Claude Code


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


def printed(event: str, shape: Shape, text: str) -> bytes:
    """Empty where there is nothing to say, or nobody to hear it."""
    if not text:
        return b""
    if shape.answer == TEXT:
        return text.encode("utf-8", "replace")
    if shape.answer == CLAUDE:
        said: dict[str, object] = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    elif shape.answer == CURSOR:
        said = {"additional_context": text}
    else:
        return b""
    return json.dumps(said).encode()
