"""What the adapters share: plain values, messages put together from items, and which API a list is for."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from recollect.errors import Refused
from recollect.work.window.item import ContextItem, ItemType

ANTHROPIC = "anthropic"
OPENAI = "openai"
PLAIN = "plain"  # in an item's fields: the content was a text, not a list

_OPENAI_ROLES = ("developer", "tool", "function")
_OPENAI_BLOCKS = ("image_url", "input_audio", "file", "refusal")
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def form_of(messages: Sequence[Any]) -> str:
    """The API that a list is for; one of texts alone is for both, and taken for Anthropic's."""
    for number, message in enumerate(messages_in(messages)):
        role, blocks = message["role"], message.get("content")
        if role in _OPENAI_ROLES or "tool_calls" in message or (role == "system" and number == 0):
            return OPENAI
        for block in blocks if isinstance(blocks, list) else []:
            if block.get("type") != "text":
                return OPENAI if block.get("type") in _OPENAI_BLOCKS else ANTHROPIC
    return ANTHROPIC


def plain(value: Any) -> Any:
    """`value` without objects of an SDK in it."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [plain(each) for each in value]
    return value


def role_of(item: ContextItem) -> str:
    """Who says it: whatever is neither the system's nor the assistant's is told by the user."""
    match item.type:
        case ItemType.SYSTEM:
            return "system"
        case ItemType.ASSISTANT:
            return "assistant"
        case _:
            return "user"


def by_message(items: Iterable[ContextItem], form: str) -> Iterator[list[ContextItem]]:
    """Items in a row that make one message: those that came as one, and those that came as none of this API.

    Results in a row are always one.
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
    """A name of a tool or a call as the APIs allow it."""
    allowed = _NOT_IN_A_NAME.sub("_", name) or "unnamed"
    if len(allowed) <= most:
        return allowed
    return f"{allowed[: most - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def arguments(text: str) -> dict[str, Any]:
    """What a tool was called with; text that is no JSON object stands under its own name."""
    try:
        given = json.loads(text or "{}")
    except ValueError:
        given = text
    return given if isinstance(given, dict) else {"arguments": given}


def messages_in(messages: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Raises `Refused` for what is no message."""
    for number, given in enumerate(messages):
        message = plain(given)
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise Refused(f"Entry {number} of the list is no message.", "Each has a `role` and a `content`.")
        yield message
