"""Sessions and what happened in them, and what language models have cost."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from recollect.frozen import frozen
from recollect.model.memory import Source


@frozen
class Session:
    id: str
    user_id: str
    project_id: str | None  # None = outside any project
    started_at: datetime
    agent: str = ""
    host: str = ""
    branch: str | None = None  # None = unknown, or no git
    parent: str | None = None  # the session it was forked from
    ended_at: datetime | None = None  # None = still open
    summary: str = ""
    transcript: str = ""  # the host's own file; empty where it has none
    active_at: datetime | None = None  # when something last happened in it; None = nothing yet
    extracted_at: datetime | None = None  # when all of it was last learned from; None = not yet


@frozen
class Message:
    """A message of a session."""

    session: str
    order: int
    author: str  # user or assistant
    text: str
    created_at: datetime
    user_id: str
    project_id: str | None  # None = outside any project


@frozen
class Finding:
    """Something noticed in a session that is not yet a memory of the project."""

    id: str
    session: str
    fingerprint: str
    kind: str
    content: str
    created_at: datetime
    importance: float = 0.5
    confidence: float = 0.6
    tags: tuple[str, ...] = ()
    file_paths: tuple[str, ...] = ()
    messages: tuple[int, int] | None = None  # first and last message that show it
    promoted_to: str | None = None  # the memory it became
    source: Source = Source.EXTRACTED
    signals: tuple[str, ...] = ()  # reasons to promote it, by name
    steps: tuple[str, ...] = ()  # of a procedure
    branch: str | None = None  # that was checked out when it was noticed; None = unknown, or no git


class MessageRow(NamedTuple):
    """A stored message with its number and its vector."""

    num: int  # grows with every message that is stored
    message: Message
    vector: bytes | None  # None = not embedded by the model you asked for


class StoredEvent(NamedTuple):
    """An event of a session, as it is stored until the session has been learnt from."""

    id: str  # given by whoever saw the event first
    at: datetime
    event: str  # JSON, redacted and clipped


class PrunedText(NamedTuple):
    """A text that left a context window."""

    id: str
    session: str
    task: str | None  # None = of no task
    at: datetime
    gist: str  # one line
    text: str
    tokens: int


class ShownItem(NamedTuple):
    """One thing that an agent was told."""

    key: str  # a memory's id; or "file src/a.py", "module x", "session y", "finding f", "fix …"
    tier: str
    probability: float | None = None  # that it is useful; None = it was not ranked
    used_at: datetime | None = None  # when the agent first used it; None = not so far


class DeliveryRecord(NamedTuple):
    """What a session was told at one moment."""

    id: str  # sorts by time
    user_id: str
    project_id: str | None  # None = outside any project
    session: str
    moment: str
    host: str
    at: datetime
    tokens: int
    text: str  # empty = nothing was said, or it was erased with a memory
    items: tuple[ShownItem, ...] = ()


class CallOutcome(StrEnum):
    ASKED = "asked"  # under way, or cut short with its process
    ANSWERED = "answered"
    MALFORMED = "malformed"  # answered with something that cannot be used
    REFUSED = "refused"  # turned away, and so not charged for
    SILENT = "silent"  # no answer, or not in time: it may have been charged for


@frozen
class LlmCall:
    id: str
    user_id: str
    at: datetime
    place: str
    purpose: str
    tokens_in: int
    tokens_out: int
    micros: int
    outcome: CallOutcome = CallOutcome.ASKED


@frozen
class SpendingCap:
    """The most that may be spent since a time."""

    since: datetime
    tokens: int
    micros: int
