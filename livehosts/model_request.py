"""A request that a host sent to its model, in one form for all APIs, and how it looks to a reader."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# What a request part is. The system prompt, words of a message, a call of a tool, or what a tool answered.
SYSTEM, WORDS, CALL, RESULT = "system", "words", "call", "result"


@dataclass(frozen=True, slots=True)
class RequestPart:
    """One piece of a request: whose it is, what it is, and what the model reads."""

    author: str  # system, user, assistant
    kind: str
    text: str
    tool: str = ""  # of a call or a result


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that the model may call."""

    name: str
    definition: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What the model was sent."""

    api: str
    path: str
    body: Mapping[str, Any]
    parts: tuple[RequestPart, ...]
    tools: tuple[OfferedTool, ...] = ()
    streamed: bool = True
    number: int = 0  # from 1 on, in the order of the requests to one server
    at: float = 0.0  # seconds since the epoch
    reply: str = field(default="", compare=False)  # what was answered, for the record

    @property
    def is_turn(self) -> bool:
        """Whether this is a turn of the agent; hosts also ask for titles and summaries, and offer no tools then."""
        return bool(self.tools)

    @property
    def text(self) -> str:
        """Everything that the model reads, in order, the definitions of tools aside."""
        return "\n".join(part.text for part in self.parts)

    def tool_named(self, *endings: str) -> str:
        """Return the name of the first offered tool that ends in one of `endings`; empty if there is none."""
        names = [tool.name for tool in self.tools]
        return next((name for end in endings for name in names if name == end), "") or next(
            (name for end in endings for name in names if name.endswith(end)), ""
        )


def content_parts(author: str, content: Any) -> Iterator[RequestPart]:
    """Yield the words of a message whose content is a string, or a list of blocks with a `text`."""
    if isinstance(content, str):
        yield RequestPart(author, SYSTEM if author == "system" else WORDS, content)
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            yield RequestPart(author, SYSTEM if author == "system" else WORDS, block["text"])


def as_text(value: Any) -> str:
    """Return a tool's answer as text: itself, the text of its blocks, or JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(
            as_text(block["text"] if isinstance(block, dict) and "text" in block else block)
            for block in value
        )
    return json.dumps(value, ensure_ascii=False)
