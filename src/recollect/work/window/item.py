"""What a context window is made of: items with a type, a weight in tokens, and the parts an API would see."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import recollect.model as m
from recollect.text import tokens

PICTURE = 1_600  # tokens: what the APIs take at most for an image that they scale down
OVERHEAD = 6  # tokens an item takes besides its text: roles, ids, brackets
SHOWN_ID = 6  # characters: the end of an id, which is chance

Json = Mapping[str, Any]


class ItemType(StrEnum):
    SYSTEM = "system_prompt"
    USER = "user_message"
    ASSISTANT = "assistant_response"
    TOOL_RESULT = "tool_result"
    CODE = "code_snippet"
    TASK = "task_state"
    GRAPH = "knowledge_graph_query"  # and whatever else can be asked for again


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    raw: Json | None = None  # as its API has it, where that is more than the text; None = it is not


@dataclass(frozen=True, slots=True)
class Image:
    url: str  # https: or data:
    raw: Json | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """Of a tool."""

    id: str
    name: str
    input: Json
    raw: Json | None = None

    @property
    def text(self) -> str:
        return f"{self.name} {json.dumps(self.input, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered."""

    call: str
    text: str
    failed: bool = False
    raw: Json | None = None


@dataclass(frozen=True, slots=True)
class Thought:
    """Hidden reasoning: passed back to the API it came from while it asks for it, and never kept."""

    raw: Json


@dataclass(frozen=True, slots=True)
class Other:
    """A block that only its API understands: a document, a search of the server's."""

    raw: Json


Part = Text | Image | Call | Result | Thought | Other
_PARTS: dict[str, type[Part]] = {kind.__name__: kind for kind in (Text, Image, Call, Result, Thought, Other)}


@dataclass(frozen=True, slots=True)
class ContextItem:
    id: str
    type: ItemType
    parts: tuple[Part, ...]
    timestamp: datetime
    tokens: int
    relevance: float = 1.0  # 0 to 1, by whoever put it there
    task: str | None = None  # None = of no task
    dependencies: tuple[str, ...] = ()  # ids of items it makes no sense without
    sticky: bool = False  # never removed
    path: str = ""  # of the file it shows
    lines: tuple[int, int] | None = None  # of that file; None = not said
    form: str = ""  # the API whose message it was; "" = none
    message: str = ""  # shared by the items of one message of that API
    fields: Json = field(default_factory=dict)  # what else stood in that message
    cut: bool = False  # shorter than what is kept under its id
    stands_for: tuple[str, ...] = ()  # ids of what was removed; an item with some is a stub
    gists: tuple[str, ...] = ()  # of the last of those
    gone: int = 0  # tokens that were removed

    @property
    def content(self) -> str:
        """All there is to read of it."""
        return "\n".join(text for part in self.parts if (text := readable(part)))

    @property
    def calls(self) -> tuple[str, ...]:
        """Ids of the calls it makes."""
        return tuple(part.id for part in self.parts if isinstance(part, Call))

    @property
    def answers(self) -> str:
        """Id of the call it is the result of; "" for none."""
        return next((part.call for part in self.parts if isinstance(part, Result)), "")

    @property
    def is_stub(self) -> bool:
        return bool(self.stands_for)

    def having(self, parts: Iterable[Part]) -> "ContextItem":
        """The same with other parts, weighed anew."""
        kept = tuple(parts)
        return replace(self, parts=kept, tokens=weigh(kept))


def readable(part: Part) -> str:
    match part:
        case Text() | Call() | Result():
            return part.text
        case Image():
            return "[an image]"
        case Thought():
            return ""
        case Other(raw):
            return f"[{raw.get('type', 'a block')}]"


def weigh(parts: Sequence[Part]) -> int:
    """Tokens that they take in a window."""
    return OVERHEAD + sum(_weight(part) for part in parts)


def _weight(part: Part) -> int:
    match part:
        case Image():
            return PICTURE
        case Thought(raw) | Other(raw):
            return _weight_of(raw)
        case Text(text):
            return tokens.count(text)
        case Result(_, text, _, raw):
            return OVERHEAD + (tokens.count(text) if raw is None else _weight_of(raw.get("content", text)))
        case Call():
            return OVERHEAD + tokens.count(part.text)


def _weight_of(value: Any) -> int:
    """Of a block, with what is not text in it estimated: pictures by what they take at most, other data by its size."""
    if isinstance(value, str):
        return tokens.count(value)
    if isinstance(value, Mapping):
        if value.get("type") in ("image", "image_url"):
            return PICTURE
        return sum(
            max(PICTURE, len(each) // 40) if name == "data" and isinstance(each, str) else _weight_of(each)
            for name, each in value.items()
            if name not in ("signature", "cache_control")
        )
    if isinstance(value, Sequence):
        return sum(_weight_of(each) for each in value)
    return 1


def short(name: str) -> str:
    """An id as it is shown."""
    return name[-SHOWN_ID:]


def as_json(item: ContextItem) -> dict[str, Any]:
    """Without hidden reasoning, which is never kept."""
    told = {each.name: getattr(item, each.name) for each in fields(item)}
    told["timestamp"] = m.to_text(item.timestamp)
    told["parts"] = [
        {"part": type(part).__name__, **{each.name: getattr(part, each.name) for each in fields(part)}}
        for part in item.parts
        if not isinstance(part, Thought)
    ]
    return told


def from_json(told: Mapping[str, Any]) -> ContextItem:
    parts = tuple(_part_from(part) for part in told["parts"])
    lines = told["lines"]
    return ContextItem(
        **{
            **told,
            "type": ItemType(told["type"]),
            "parts": parts,
            "tokens": weigh(parts),
            "timestamp": m.from_text(told["timestamp"]),
            "lines": tuple(lines) if lines else None,
            **{name: tuple(told[name]) for name in ("dependencies", "stands_for", "gists")},
        }
    )


def _part_from(told: Mapping[str, Any]) -> Part:
    values = dict(told)
    return _PARTS[values.pop("part")](**values)
