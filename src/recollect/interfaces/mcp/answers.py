"""The structured answers of the tools. Their keys are stable from version to version.

The dataclasses have no slots: the MCP library would describe them to clients as defaults.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class MemoryLine:
    """A memory in a list."""

    id: str  # short; any tool takes it
    kind: str
    text: str  # the whole statement
    marks: list[str]  # what to know before believing it: stale, unconfirmed, in conflict…
    conflicts_with: list[str]  # ids of memories that say otherwise


@dataclass(frozen=True)
class MemoryList:
    """Memories that match, best first."""

    results: list[MemoryLine]
    shown_before: list[str]  # ids of matches that this session was shown already
    notes: list[str]  # why something may be missing


@dataclass(frozen=True)
class CloseLine:
    """A memory that may be about the same as one that was just recorded."""

    id: str
    said_by: str  # user, agent:NAME, or the name of another person of the team
    text: str  # in one line


@dataclass(frozen=True)
class RecordedMemory:
    """What happened to a statement."""

    id: str
    outcome: str  # stored, reinforced, superseded or conflict
    message: str
    supersedes: list[str]
    conflicts_with: list[str]
    redactions: list[str]  # types of the secrets that were removed
    notes: list[str]
    close_to: list[CloseLine]  # nearest first; the recorder says how they relate


@dataclass(frozen=True)
class ActionResult:
    """The answer of `memory`, whatever the action."""

    action: str
    message: str  # what happened; for recall, the briefing
    id: str  # of the memory that was changed; empty if there is none
    results: list[MemoryLine]
    shown_before: list[str]


@dataclass(frozen=True)
class SessionLine:
    """A message of a session."""

    session: str
    message: int
    author: str
    at: str
    text: str


@dataclass(frozen=True)
class SessionLines:
    results: list[SessionLine]


@dataclass(frozen=True)
class MemorySource:
    """A whole memory, and the messages it came from."""

    id: str
    kind: str
    content: str
    state: str
    created_at: str
    created_by: str
    source: str  # how it is known: user_stated, observed…
    files: list[str]
    tags: list[str]
    messages: list[SessionLine]


@dataclass(frozen=True)
class ModuleEntry:
    """A module of the codebase."""

    name: str
    description: str
    files: list[str]
    entry_points: list[str]
    tests: list[str]
    dependencies: list[str]
    related: list[str]
    confidence: str  # shallow, partial or mapped
    marks: list[str]  # that an agent named or described it


@dataclass(frozen=True)
class ModuleMapAnswer:
    modules: list[ModuleEntry]
    commands: dict[str, str]  # build, test, lint…


@dataclass(frozen=True)
class CodeLine:
    """A place in the code."""

    place: str  # path:line
    name: str
    says: str  # its signature, or how it is connected
    confidence: float  # 1 = certain


@dataclass(frozen=True)
class CodeList:
    results: list[CodeLine]
    left_off: int  # how many more there are


@dataclass(frozen=True)
class PastAction:
    """Past work: a task, a file that was touched, a tool's success rate."""

    what: str
    at: str
    outcome: str
    files: list[str]


@dataclass(frozen=True)
class PastWork:
    results: list[PastAction]
