"""The items of a context window: each has a type, a number of tokens, and the parts that an API would see."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import recollect.model as m
from recollect.frozen import frozen
from recollect.text import tokens

PICTURE = 1_600  # tokens: the most that the APIs count for an image, which they scale down
OVERHEAD = 6  # tokens of an item besides its text: roles, ids, brackets
SHOWN_ID = 6  # characters: the end of an id, which is random

Json = Mapping[str, Any]


class ItemType(StrEnum):
    SYSTEM = "system_prompt"
    USER = "user_message"
    ASSISTANT = "assistant_response"
    TOOL_RESULT = "tool_result"
    CODE = "code_snippet"
    TASK = "task_state"
    GRAPH = "knowledge_graph_query"  # and anything else that can be queried again


@frozen
class Text:
    text: str
    raw: Json | None = None  # the API's block if it holds more than the text


@frozen
class Image:
    url: str  # https: or data:
    raw: Json | None = None


@frozen
class ToolCall:
    id: str
    name: str
    input: Json
    raw: Json | None = None

    @property
    def text(self) -> str:
        return f"{self.name} {json.dumps(self.input, ensure_ascii=False)}"


@frozen
class ToolResult:
    call: str
    text: str
    failed: bool = False
    raw: Json | None = None


@frozen
class Thought:
    """Hidden reasoning: passed back to its API as long as that requires it, and never stored."""

    raw: Json


@frozen
class Other:
    """A block that only its API understands: a document, a server-side search."""

    raw: Json


ContentPart = Text | Image | ToolCall | ToolResult | Thought | Other
# The names are stored.
_PARTS: dict[str, type[ContentPart]] = {
    "Text": Text,
    "Image": Image,
    "Call": ToolCall,
    "Result": ToolResult,
    "Thought": Thought,
    "Other": Other,
}
_PART_NAMES = {kind: name for name, kind in _PARTS.items()}


@frozen
class ContextItem:
    id: str
    type: ItemType
    parts: tuple[ContentPart, ...]
    timestamp: datetime
    tokens: int
    relevance: float = 1.0  # 0 to 1, given by the caller
    task: str | None = None
    dependencies: tuple[str, ...] = ()  # ids of items that this one needs to make sense
    sticky: bool = False  # never removed
    path: str = ""  # of the file it shows
    lines: tuple[int, int] | None = None  # of that file; None = unknown
    form: str = ""  # the API whose message it was; "" = none
    message: str = ""  # id that the items of one API message share
    fields: Json = field(default_factory=dict)  # other fields of that message
    cut: bool = False  # shorter than the text stored under its id
    stands_for: tuple[str, ...] = ()  # ids of removed items; an item with some is a stub
    gists: tuple[str, ...] = ()  # summaries of the last of those
    gone: int = 0  # tokens that were removed

    @property
    def content(self) -> str:
        """Return the readable text of all parts."""
        return "\n".join(text for part in self.parts if (text := readable(part)))

    @property
    def calls(self) -> tuple[str, ...]:
        """Return the ids of the tool calls in this item."""
        return tuple(part.id for part in self.parts if isinstance(part, ToolCall))

    @property
    def answers(self) -> str:
        """Return the id of the call whose result this is, or ""."""
        return next((part.call for part in self.parts if isinstance(part, ToolResult)), "")

    @property
    def is_stub(self) -> bool:
        return bool(self.stands_for)

    def with_parts(self, parts: Iterable[ContentPart]) -> "ContextItem":
        """Return a copy with other parts and their token count."""
        new_parts = tuple(parts)
        return replace(self, parts=new_parts, tokens=token_count(new_parts))


def readable(part: ContentPart) -> str:
    match part:
        case Text() | ToolCall() | ToolResult():
            return part.text
        case Image():
            return "[an image]"
        case Thought():
            return ""
        case Other(raw):
            return f"[{raw.get('type', 'a block')}]"


def token_count(parts: Sequence[ContentPart]) -> int:
    """Return the tokens that an item with these parts takes in a window."""
    return OVERHEAD + sum(_part_tokens(part) for part in parts)


def _part_tokens(part: ContentPart) -> int:
    match part:
        case Image():
            return PICTURE
        case Thought(raw) | Other(raw):
            return _value_tokens(raw)
        case Text(text):
            return tokens.count(text)
        case ToolResult(_, text, _, raw):
            return OVERHEAD + (tokens.count(text) if raw is None else _value_tokens(raw.get("content", text)))
        case ToolCall():
            return OVERHEAD + tokens.count(part.text)


def _value_tokens(value: Any) -> int:
    """Return the tokens of a block; pictures count the most they can take, other data by its size."""
    if isinstance(value, str):
        return tokens.count(value)
    if isinstance(value, Mapping):
        if value.get("type") in ("image", "image_url"):
            return PICTURE
        return sum(
            max(PICTURE, len(item) // 40) if name == "data" and isinstance(item, str) else _value_tokens(item)
            for name, item in value.items()
            if name not in ("signature", "cache_control")
        )
    if isinstance(value, Sequence):
        return sum(_value_tokens(item) for item in value)
    return 1


def short(name: str) -> str:
    """Return the part of an id that is shown."""
    return name[-SHOWN_ID:]


def as_json(item: ContextItem) -> dict[str, Any]:
    """Return an item as data to store, without hidden reasoning."""
    data = {column.name: getattr(item, column.name) for column in fields(item)}
    data["timestamp"] = m.to_text(item.timestamp)
    data["parts"] = [
        {
            "part": _PART_NAMES[type(part)],
            **{column.name: getattr(part, column.name) for column in fields(part)},
        }
        for part in item.parts
        if not isinstance(part, Thought)
    ]
    return data


def from_json(data: Mapping[str, Any]) -> ContextItem:
    parts = tuple(_part_from(part) for part in data["parts"])
    lines = data["lines"]
    return ContextItem(
        **{
            **data,
            "type": ItemType(data["type"]),
            "parts": parts,
            "tokens": token_count(parts),
            "timestamp": m.from_text(data["timestamp"]),
            "lines": tuple(lines) if lines else None,
            **{name: tuple(data[name]) for name in ("dependencies", "stands_for", "gists")},
        }
    )


def _part_from(data: Mapping[str, Any]) -> ContentPart:
    values = dict(data)
    return _PARTS[values.pop("part")](**values)
