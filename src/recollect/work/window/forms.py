"""Functions that both adapters share: plain values, grouping of items into messages, detection of the API."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from recollect.errors import Refused
from recollect.work.window.item import ContextItem, ItemType

ANTHROPIC = "anthropic"
OPENAI = "openai"
PLAIN = "plain"  # a key in an item's fields: the content was a text, not a list

_OPENAI_ROLES = ("developer", "tool", "function")
_OPENAI_BLOCKS = ("image_url", "input_audio", "file", "refusal")
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def form_of(messages: Sequence[Any]) -> str:
    """Return the API that a list of messages is for; Anthropic's if they hold text only and suit both."""
    for number, message in enumerate(messages_in(messages)):
        role, blocks = message["role"], message.get("content")
        if role in _OPENAI_ROLES or "tool_calls" in message or (role == "system" and number == 0):
            return OPENAI
        for block in blocks if isinstance(blocks, list) else []:
            if block.get("type") != "text":
                return OPENAI if block.get("type") in _OPENAI_BLOCKS else ANTHROPIC
    return ANTHROPIC


def plain(value: Any) -> Any:
    """Return `value` with SDK objects converted to plain dicts and lists."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


def role_of(item: ContextItem) -> str:
    """Return the role of an item: "user" unless it is the system's or the assistant's."""
    match item.type:
        case ItemType.SYSTEM:
            return "system"
        case ItemType.ASSISTANT:
            return "assistant"
        case _:
            return "user"


def by_message(items: Iterable[ContextItem], form: str) -> Iterator[list[ContextItem]]:
    """Yield consecutive items that form one message: those that came as one, and those that came from elsewhere.

    Consecutive tool results always form one message.
    """
    group: list[ContextItem] = []
    last = ("", "")
    for item in items:
        key = role_of(item), item.message if item.form == form else ""
        if item.answers and group and group[-1].answers:
            key = last
        if group and key != last:
            yield group
            group = []
        group.append(item)
        last = key
    if group:
        yield group


def name_for_api(name: str, most: int) -> str:
    """Return the name of a tool or a call in the characters and length that the APIs allow."""
    allowed = _NOT_IN_A_NAME.sub("_", name) or "unnamed"
    if len(allowed) <= most:
        return allowed
    return f"{allowed[: most - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def arguments(text: str) -> dict[str, Any]:
    """Return the arguments of a tool call; text that is not a JSON object becomes the argument `arguments`."""
    try:
        given = json.loads(text or "{}")
    except ValueError:
        given = text
    return given if isinstance(given, dict) else {"arguments": given}


def messages_in(messages: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield messages as plain dicts. Raise `Refused` for an entry that is not a message."""
    for number, given in enumerate(messages):
        message = plain(given)
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise Refused(
                f"Entry {number} of the list is not a message.", "A message has a `role` and a `content`."
            )
        yield message
