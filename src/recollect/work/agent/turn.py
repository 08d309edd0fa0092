"""The current turn of a conversation: the last request and its context, without the output of tools. Pure functions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.frozen import frozen
from recollect.text.cuts import start_of
from recollect.text.lookalikes import has_mark

RECENT = 6  # messages that make up the context
LONGEST = 2000  # characters of one of them
_PATH = re.compile(r"(?<![\w./-])(?:[\w.-]++/|(?!))*+(?:[\w.-]*[\w-])?\.([A-Za-z]\w{0,5})\b")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)

Message = Mapping[str, Any]  # role and content, as in the APIs of model providers


@frozen
class Turn:
    """What a conversation is about right now."""

    request: str  # the user's last message
    text: str  # the last few messages, oldest first
    answered: str  # what the assistant has said and done since the previous request
    files: tuple[str, ...]  # named in the last messages
    size: int  # characters of the whole conversation, to tell how much is new


def current_turn(messages: Sequence[Message]) -> Turn:
    """Return the current turn of a conversation. Items that are not messages are ignored."""
    parts = [(role, text) for role, text in map(_role_and_text, messages) if text]
    request = next((text for role, text in reversed(parts) if role == "user"), "")
    recent = [start_of(_without_code(text), LONGEST) for role, text in parts if role != "tool"][-RECENT:]
    files = dict.fromkeys(match[0] for _, text in parts[-RECENT:] for match in _PATH.finditer(text[:LONGEST]))
    return Turn(
        request=start_of(request, LONGEST),
        text="\n".join(recent),
        answered="\n".join(_since_previous_request(parts)),
        files=tuple(files)[:20],
        size=sum(len(text) for _, text in parts),
    )


def suffixes(files: Sequence[str]) -> frozenset[str]:
    return frozenset(file.rpartition(".")[2].lower() for file in files)


def _since_previous_request(parts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield all texts that are not the user's, newest first, back to the request before the last."""
    requests = 0
    for role, text in reversed(parts):
        if role == "user":
            requests += 1
            if requests == 2:
                return
        else:
            yield text[: 4 * LONGEST]


def _role_and_text(message: object) -> tuple[str, str]:
    """Return the role and the text of a message; the text of a tool call is its input."""
    if not isinstance(message, Mapping):
        return "", ""
    role, content = message.get("role"), message.get("content")
    if isinstance(content, str):
        parts = [(str(role), content)]
    elif isinstance(content, Sequence):
        parts = [_block(str(role), block) for block in content if isinstance(block, Mapping)]
    else:
        parts = []
    own = [text for part_role, text in parts if part_role == role and not has_mark(text)]
    tool = [text for part_role, text in parts if part_role != role]
    if own or not tool:
        return str(role), "\n".join(own)
    return "tool", "\n".join(tool)


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


def _without_code(text: str) -> str:
    return _FENCE.sub(" ", text).strip()
