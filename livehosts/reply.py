"""What the scripted model answers: words, or one call of a tool."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelReply:
    """An answer of the model. With a tool's name it is a call, and `text` is said before it."""

    text: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] | None = None
    custom_input: str | None = None  # for a tool that takes text instead of arguments
