"""What the store keeps about memories and about itself: projects, changes, reviews, gaps, audit and health."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from recollect.frozen import frozen

# The setting of a project that was forgotten: `at` what time, by which `change`.
FORGOTTEN_SETTING = "forgotten"


@frozen
class Project:
    id: str
    name: str
    root: str
    why: str  # how it was recognised


@frozen
class Gap:
    """A question that memory could not answer."""

    id: str
    project_id: str | None  # None = outside any project
    context: str
    created_at: datetime
    session: str | None = None
    closed_at: datetime | None = None  # None = still open


@frozen
class Change:
    """A change to memories that can be listed and undone: a consolidation, an import, a merge."""

    id: str
    user_id: str
    project_id: str | None  # None = outside any project, or in several
    at: datetime
    actor: str
    action: str
    summary: str  # for people; counts and ids, never a memory's text
    finished_at: datetime | None = None  # None = running or interrupted
    undone_at: datetime | None = None  # None = not undone


@frozen
class Undone:
    """The result of undoing a change."""

    change: str
    restored: tuple[str, ...]  # memories that are as they were before the change
    left_alone: tuple[str, ...]  # memories that have changed since
    undo: str = ""  # the change that undid it, which can be undone too


@frozen
class Review:
    """A question that a person has to decide."""

    id: str
    user_id: str
    project_id: str | None  # None = about global memories
    kind: str  # a kind of `memory.maintenance.review`
    memories: tuple[str, ...]  # those it is about, in the order its kind says
    reason: str
    created_at: datetime
    decided_at: datetime | None = None  # None = still open
    decision: str | None = None  # None = still open


@frozen
class AuditLine:
    seq: int
    at: datetime
    actor: str
    action: str
    memory_id: str | None  # None for what concerns the whole store
    detail: Mapping[str, Any]  # ids, names and counts; never a memory's text
    hash: str  # of this line and the hash before it


@frozen
class StoreProblem:
    """Two parts of the store that disagree, and what to do about it."""

    what: str
    hint: str


@frozen
class BackupCheck:
    """A backup, and what is damaged in it."""

    path: str
    made_at: datetime
    problem: str | None


@frozen
class AuditCheck:
    """How much of the audit log is intact."""

    lines: int  # that follow from one another, archived lines included
    archived: int
    problem: StoreProblem | None  # None = the log is intact to its end


@frozen
class StoreInfo:
    location: str
    version: int
    size: int  # bytes
    encrypted: bool
    free: int = 0  # unused bytes within `size`


@frozen
class KeyNote:
    """What is written beside an encrypted store: how to recognise its key and where to look for it."""

    check: str  # recognises the key
    salt: str  # for keys that are passphrases
    where: str  # "variable", "keychain", or the path of the key's file
    public: str = (
        ""  # the public key for lines that are written without the key; "" in notes of older versions
    )


@frozen
class Cleared:
    """How many rows were cleared."""

    memories: int
    messages: int
    sessions: int
    findings: int
    gaps: int

    @property
    def anything(self) -> bool:
        return self != Cleared(0, 0, 0, 0, 0)


@frozen
class Purged:
    """What was permanently deleted."""

    memories: tuple[str, ...] = ()
    messages: int = 0
    changes: int = 0  # that can no longer be undone


@frozen
class Stale:
    """Why and since when a memory no longer fits the code it is about."""

    why: str  # a clause for people
    since: datetime


# What decides who sees a memory: user, project, scope, branch, visibility, state, kind, whether it is a proposal, and session.
VisibilityKey = tuple[str, str | None, str, str | None, str, str, str, bool, str | None]


class TextRow(NamedTuple):
    """The text of a memory, and who may see it."""

    num: int  # never changes; greater for younger memories
    id: str
    content: str
    tags: tuple[str, ...]
    file_paths: tuple[str, ...]
    when_needed: tuple[str, ...]
    kind: str
    key: VisibilityKey


class VectorRow(NamedTuple):
    """The vector of a memory, and who may see it."""

    num: int  # as in `TextRow`
    id: str
    key: VisibilityKey
    vector: bytes | None  # None = not embedded by the model yet


class MemoryEdge(NamedTuple):
    """A hop from one memory to another, by a link or by a tag or cluster that both have."""

    source: str
    target: str
    relation: str  # of a link; or "tag" or "cluster"
    name: str  # of the tag, the cluster's label; "" for a link
    weight: float
    degree: int  # how many memories lie one such hop from `source`: all its links, or all others with the tag
    forward: bool  # False where a link is followed against its direction
