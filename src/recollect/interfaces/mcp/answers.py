"""What tools answer with: the keys are the same from version to version, and say no more than is needed.

Without slots, which the protocol's library would take for defaults when it describes them to clients.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """A memory in a list."""

    id: str  # short; any tool takes it
    kind: str
    text: str  # its gist; `read_source` has all of it


@dataclass(frozen=True)
class Found:
    """Memories that fit, best first."""

    results: list[Note]
    shown_before: list[str]  # ids of those that fit as well, and were shown in this session already
    notes: list[str]  # why something may be missing


@dataclass(frozen=True)
class Kept:
    """What became of a statement."""

    id: str
    outcome: str  # stored, reinforced, superseded or conflict
    message: str
    supersedes: list[str]
    conflicts_with: list[str]
    redactions: list[str]  # what sorts of secret were taken out
    notes: list[str]


@dataclass(frozen=True)
class Done:
    """What `memory` answers, whatever the action."""

    action: str
    message: str  # what happened; for recall, the briefing
    id: str  # of the memory it happened to; empty where it was none
    results: list[Note]
    shown_before: list[str]


@dataclass(frozen=True)
class Line:
    """Something that was said in a session."""

    session: str
    message: int
    author: str
    at: str
    text: str


@dataclass(frozen=True)
class Said:
    results: list[Line]


@dataclass(frozen=True)
class Source:
    """A memory in full, and what was said where it came from."""

    id: str
    kind: str
    content: str
    state: str
    created_at: str
    created_by: str
    source: str  # how we know: user_stated, observed…
    files: list[str]
    tags: list[str]
    messages: list[Line]


@dataclass(frozen=True)
class Part:
    """A module of the codebase."""

    name: str
    description: str
    files: list[str]
    entry_points: list[str]
    tests: list[str]
    dependencies: list[str]
    related: list[str]
    confidence: str  # shallow, partial or mapped


@dataclass(frozen=True)
class CodeMap:
    modules: list[Part]
    commands: dict[str, str]  # build, test, lint…


@dataclass(frozen=True)
class CodeLine:
    """Something in the code."""

    place: str  # path:line
    name: str
    says: str  # its signature, or how it is connected
    confidence: float  # 1 = it stands there


@dataclass(frozen=True)
class Code:
    results: list[CodeLine]
    left_off: int  # how many more there are


@dataclass(frozen=True)
class Deed:
    """Something that was done before: a task, a file touched, a tool's record."""

    what: str
    at: str
    outcome: str
    files: list[str]


@dataclass(frozen=True)
class Work:
    results: list[Deed]
