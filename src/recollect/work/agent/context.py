"""What a conversation is about right now: the last request and what surrounds it, without the noise of tools. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.model import INJECTED_MARK

RECENT = 6  # messages that make up the context
LONGEST = 2000  # characters of one of them
_PATH = re.compile(r"(?<![\w/])(?:[\w.-]+/)*[\w-]+\.([A-Za-z]\w{0,5})\b")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)

Message = Mapping[str, Any]  # role and content, as the hosts' APIs have them


@dataclass(frozen=True, slots=True)
class Context:
    request: str  # what the user said last
    text: str  # the last few messages, oldest first
    answered: str  # what the assistant has said and done since the request before this one
    files: tuple[str, ...]  # named in it
    size: int  # characters of the whole conversation: how much is new is what counts


def context_of(messages: Sequence[Message]) -> Context:
    """Raises nothing: what is no message is passed over."""
    said = [(role, text) for role, text in map(_said, messages) if text]
    request = next((text for role, text in reversed(said) if role == "user"), "")
    recent = [_cut(_without_code(text)) for role, text in said if role != "tool"][-RECENT:]
    files = dict.fromkeys(match[0] for _, text in said[-RECENT:] for match in _PATH.finditer(text[:LONGEST]))
    return Context(
        request=_cut(request),
        text="\n".join(recent),
        answered="\n".join(_since_last_request(said)),
        files=tuple(files)[:20],
        size=sum(len(text) for _, text in said),
    )


def suffixes(files: Sequence[str]) -> frozenset[str]:
    return frozenset(file.rpartition(".")[2].lower() for file in files)


def _since_last_request(said: Sequence[tuple[str, str]]) -> Iterator[str]:
    """All that is not the user's own, back to the request before the last."""
    asked = 0
    for role, text in reversed(said):
        if role == "user":
            asked += 1
            if asked == 2:
                return
        else:
            yield text[: 4 * LONGEST]


def _said(message: object) -> tuple[str, str]:
    """Whose it is, and its text: of a tool's answer too, of a tool's call what it was called with."""
    if not isinstance(message, Mapping):
        return "", ""
    role, content = message.get("role"), message.get("content")
    if isinstance(content, str):
        parts = [(str(role), content)]
    elif isinstance(content, Sequence):
        parts = [_block(str(role), block) for block in content if isinstance(block, Mapping)]
    else:
        parts = []
    mine = [text for who, text in parts if who == role and INJECTED_MARK not in text]
    others = [text for who, text in parts if who != role]
    if mine or not others:
        return str(role), "\n".join(mine)
    return "tool", "\n".join(others)


def _block(role: str, block: Mapping[str, Any]) -> tuple[str, str]:
    kind = block.get("type")
    if kind in ("text", "input_text", "output_text"):
        return role, str(block.get("text", ""))
    if kind == "tool_use":
        values = block.get("input")
        return "tool", " ".join(str(value) for value in values.values()) if isinstance(
            values, Mapping
        ) else ""
    if kind == "tool_result":
        content = block.get("content")
        return "tool", content if isinstance(content, str) else ""
    return role, ""


def _cut(text: str) -> str:
    """At most LONGEST characters, and whole words: half a secret would not be known for one later."""
    if len(text) <= LONGEST:
        return text
    head = text[:LONGEST]
    return head[: max(head.rfind(" "), head.rfind("\n"), 0)]


def _without_code(text: str) -> str:
    return _FENCE.sub(" ", text).strip()
