"""What happens in a session, as one kind of event for every host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from recollect.frozen import frozen

USER = "user"
ASSISTANT = "assistant"
TOOL = "tool"


@frozen
class Event:
    """A message, a tool call or its result. Hidden reasoning is never an event."""

    session: str
    order: int  # within its session, from 0; what findings cite. A sub-agent with a file of its own has its own count
    author: str  # "user", "assistant" or "tool"
    text: str  # what was said, or what the tool answered; "" for a call
    at: datetime | None = None  # None = the host does not say; else with its zone
    tool: str = ""  # the tool's own name, for calls and answers; "" for what was said
    call: str = ""  # pairs a call with its answer
    input: Mapping[str, Any] = field(
        default_factory=dict
    )  # what the tool was called with; empty for an answer
    failed: bool | None = None  # of an answer; None = the host does not say
    cwd: str = ""
    branch: str = ""
    agent: str = ""  # of a sub-agent; "" for the main one
    injected: bool = False  # inserted by a host or a tool, not written by the person
    size: int = 0  # characters of the whole text if only its ends were kept; 0 = it is whole

    @property
    def is_message(self) -> bool:
        """Whether it is a message, of anybody."""
        return not self.tool and self.author != TOOL

    @property
    def is_call(self) -> bool:
        return bool(self.tool) and self.author != TOOL

    @property
    def is_answer(self) -> bool:
        return self.author == TOOL
