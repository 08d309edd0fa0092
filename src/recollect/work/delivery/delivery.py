"""What can be asked of the composer, and what it returns."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

import recollect.model as m
from recollect.frozen import frozen
from recollect.memory.briefing.budget import Allocation


class Moment(StrEnum):
    """When an agent is told something."""

    START = "start"  # of a session
    PROMPT = "prompt"
    BEFORE_TOOL = "before_tool"
    FILE_OPENED = "file_opened"  # the agent has read or changed files
    AFTER_FAILURE = "after_failure"
    AFTER_COMPACTION = "after_compaction"  # the agent no longer sees what it was told
    ON_REQUEST = "on_request"
    TURN_END = "turn_end"  # when an agent that recorded nothing is asked to do so, once in a session


@frozen
class DeliveryRequest:
    """A moment in a session."""

    moment: Moment
    text: str = ""  # the prompt, the task, the tool's words, or the error
    command: str = ""  # that failed
    tool: str = ""  # that is about to run
    files: tuple[str, ...] = ()  # open, named in the task, or just read or changed
    session: str | None = None
    host: str = "gemini"  # decides the format; Markdown for everyone else
    role: str | None = None
    remaining: int = 100_000  # tokens of the agent's context
    budget: int | None = None  # the most tokens; None = the project's
    longest: int | None = None  # characters that the host shows at most
    use_model: bool = True  # False: by words only; no embedding model is loaded
    preview: bool = False  # True: a person looks; nothing is noted, neither the search nor what is shown

    @property
    def needs_model(self) -> bool:
        """Whether the search for what is said is better with an embedding model."""
        return bool(self.text) and self.moment not in (Moment.START, Moment.BEFORE_TOOL, Moment.FILE_OPENED)


@frozen
class Delivery:
    """What an agent is told."""

    text: str  # rendered and fenced; empty = there is nothing to say
    tokens: int
    shown: tuple[m.ShownItem, ...]
    ask: str = ""  # a rule of the user's that forbids the tool: why the host should ask the user
    host: str = ""
    by_tier: Mapping[str, int] = field(default_factory=dict)  # with "frame"; they add up to `tokens`
    conflicts: int = 0  # shown
    budget: Allocation = field(default_factory=lambda: Allocation(0))
    notes: tuple[str, ...] = ()  # about the search, for people: that it was cut off, say
    hits: tuple[m.Hit, ...] = ()  # the memories that were shown because they match, best first
    starts: bool = False  # it has what a session is told at its start, as far as there is anything

    @property
    def memories(self) -> tuple[str, ...]:
        """The ids of the memories that are shown, in the order of the text."""
        return tuple(item.key for item in self.shown if is_memory(item.key))


def is_memory(key: str) -> bool:
    """Return whether the key of a shown item is a memory's id; the others say what they are."""
    return " " not in key and key != "project"
