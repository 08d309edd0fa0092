"""Memories and what connects them, and the view that decides who sees which."""

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.frozen import frozen
from recollect.model.encoding import from_text

# Marks everything Recollect injects into an agent's context, so that it is never learned again.
INJECTED_MARK = "recollect-memory"

# Ends the name of the model under which the vector of a memory's situations is stored.
WHEN_MODEL = "+when"


class Scope(StrEnum):
    GLOBAL = "global"
    PROJECT = "project"
    SESSION = "session"


class Standing(StrEnum):
    CANDIDATE = "candidate"
    CONFIRMED = "confirmed"
    PINNED = "pinned"


class State(StrEnum):
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    DEPRECATED = "deprecated"
    ARCHIVED = "archived"
    DELETED = "deleted"


ALL_STATES = frozenset(State)


class Source(StrEnum):
    USER_CORRECTED = "user_corrected"
    USER_STATED = "user_stated"
    OBSERVED = "observed"
    EXTRACTED = "extracted"
    SEEDED = "seeded"
    INFERRED = "inferred"


TRUST = {
    Source.USER_CORRECTED: 1.0,
    Source.USER_STATED: 0.9,
    Source.OBSERVED: 0.7,
    Source.EXTRACTED: 0.6,
    Source.SEEDED: 0.6,
    Source.INFERRED: 0.5,
}


class Visibility(StrEnum):
    PRIVATE = "private"
    PROJECT = "project"
    TEAM = "team"


class Relation(StrEnum):
    RELATES_TO = "relates_to"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    DERIVED_FROM = "derived_from"
    DEPENDS_ON = "depends_on"
    CAUSED_BY = "caused_by"


@frozen
class Provenance:
    """One step of how a memory came to be known."""

    source: Source
    at: datetime
    session: str | None = None
    messages: tuple[int, int] | None = None  # first and last message that state it
    agent: str | None = None
    branch: str | None = None
    snippet: str = ""  # what was being discussed
    reason: str = ""  # why this confidence


@frozen
class Reinforcement:
    """A record that the memory was stated again."""

    at: datetime
    by: str
    session: str | None = None
    said: str = ""  # the wording, where it differs from the memory's


@frozen
class Anchor:
    """The piece of code a memory is about."""

    path: str
    symbol: str = ""
    digest: str = ""  # of the symbol's normalised text


@frozen
class Procedure:
    name: str
    trigger: str = ""
    steps: tuple[str, ...] = ()
    prerequisites: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@frozen
class Memory:
    """One statement that is remembered."""

    id: str
    user_id: str
    project_id: str | None  # None = global
    scope: Scope
    kind: str
    content: str
    summary: str
    fingerprint: str
    created_at: datetime
    updated_at: datetime
    valid_from: datetime
    provenance: tuple[Provenance, ...]  # the first is where it came from
    created_by: str = "user"
    visibility: Visibility = Visibility.PRIVATE
    standing: Standing = Standing.CONFIRMED
    state: State = State.ACTIVE
    state_reason: str | None = None  # None while active
    superseded_by: str | None = None  # None unless superseded
    tags: tuple[str, ...] = ()
    file_paths: tuple[str, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    triggers: tuple[str, ...] = ()
    when_needed: tuple[str, ...] = ()  # situations in which it is needed, in other words than its own
    procedure: Procedure | None = None  # None unless it has steps
    season: str | None = None  # None = all year round
    branch: str | None = None  # None = every branch
    importance: float = 0.5
    confidence: float = 0.9
    trust: float = 0.9
    strength: int = 1
    access_count: int = 0
    last_accessed_at: datetime | None = None  # None = never used
    valid_to: datetime | None = None  # None = still valid
    deleted_at: datetime | None = None  # None = not deleted
    reinforcements: tuple[Reinforcement, ...] = ()
    order: int | None = None  # position in its session, for imported lines; None = unknown
    promoted_at: datetime | None = None  # when a program decided to keep it; None = a person did
    settled_at: datetime | None = None  # when its quarantine was decided; None = not yet, or there was none

    @property
    def source(self) -> Source:
        """The most trusted of its sources: what an agent noticed first, and the user said later, is the user's."""
        return max((origin.source for origin in self.provenance), key=TRUST.__getitem__)

    @property
    def session(self) -> str | None:
        return self.provenance[0].session

    @property
    def pinned(self) -> bool:
        return self.standing is Standing.PINNED

    @property
    def is_proposal(self) -> bool:
        """Whether it is a repository's word that no person has accepted, pinned or said too."""
        return is_proposal(self.created_by, self.trust, self.standing)


@frozen
class Draft:
    """Something to remember, as an interface passes it on."""

    content: str
    kind: str | None = None  # None = a procedure if it has steps, else a fact
    scope: str | None = None  # None = the project, or the user where there is none
    tags: tuple[str, ...] = ()
    file_paths: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    when_needed: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    prerequisites: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    season: str | None = None
    branch: str | None = None
    importance: float | None = None
    created_by: str = "user"
    session: str | None = None
    visibility: str | None = None  # None = private for a user, project for an agent
    correction: bool = False
    source: str | None = None  # None = chosen by the writer: stated or observed
    messages: tuple[int, int] | None = None
    snippet: str = ""
    project_id: str | None = None  # None = the project the engine is open in
    standing: str | None = None  # None = confirmed; what was promoted automatically is a candidate
    said_at: datetime | None = None  # when it was said, if that was earlier; None = now
    evidence: str = ""  # how it is known that a user said it, or why that is not known


PROPOSED = "proposed"  # the verdict of a link that is not stored: a person is asked whether it is right


@frozen
class Link:
    """A typed, weighted edge from one memory to another."""

    source: str
    target: str
    relation: Relation
    created_at: datetime
    weight: float = 1.0
    reason: str = ""
    verdict: str | None = None  # for contradicts: contradictory, superseded or ambiguous; or `PROPOSED`
    resolved_at: datetime | None = None  # for contradicts: None = still open


@frozen
class Tag:
    name: str
    description: str
    count: int


@frozen
class Cluster:
    id: str
    project_id: str | None  # None = the cluster of global memories
    label: str
    model: str
    centroid: bytes  # float32
    members: tuple[str, ...]
    updated_at: datetime


@frozen
class View:
    """Who is looking, and from where. A store shows nothing outside a view."""

    user_id: str
    project_id: str | None = None  # None = no project: global memories only
    session: str | None = None  # None = no session-scoped memories
    branches: frozenset[str] | None = None  # None = whatever branch
    all_projects: bool = False
    all_sessions: bool = False
    states: frozenset[State] = frozenset({State.ACTIVE})
    kinds: frozenset[str] | None = None  # None = all kinds
    scopes: frozenset[Scope] | None = None  # None = all scopes
    proposals: bool = True  # also a repository's words that no person has accepted

    def shows(
        self,
        *,
        user_id: str,
        project_id: str | None,
        scope: str,
        session: str | None,
        branch: str | None,
        visibility: str,
        state: str,
        kind: str,
        is_proposal: bool,
    ) -> bool:
        """Return whether the view shows a memory with these values. The rule is decided here and nowhere else."""
        return (
            state in self.states
            and (self.kinds is None or kind in self.kinds)
            and (self.scopes is None or scope in self.scopes)
            and (project_id is None or self.all_projects or project_id == self.project_id)
            and (
                scope != Scope.SESSION
                or self.all_sessions
                or (session is not None and session == self.session)
            )
            and (branch is None or self.branches is None or branch in self.branches)
            and (user_id == self.user_id or visibility != Visibility.PRIVATE)
            and (self.proposals or not is_proposal)
        )

    def shows_memory(self, memory: Memory) -> bool:
        return self.shows(
            user_id=memory.user_id,
            project_id=memory.project_id,
            scope=memory.scope,
            session=memory.session,
            branch=memory.branch,
            visibility=memory.visibility,
            state=memory.state,
            kind=memory.kind,
            is_proposal=memory.is_proposal,
        )


@frozen
class MemoryFilter:
    """What a list of memories is narrowed to, beyond what a view shows. None, and False, narrow nothing."""

    tag: str | None = None
    file: str | None = None  # a path, or its end
    standing: Standing | None = None
    author: str | None = None
    branch: str | None = None
    ids: frozenset[str] | None = None  # only these
    but: frozenset[str] = frozenset()  # none of these
    in_conflict: bool = False  # only those with an open contradiction

    def passes(self, memory: Memory) -> bool:
        """Return whether the memory passes; whether it is in conflict is for the caller to know, by `ids`."""
        return (
            (self.tag is None or self.tag in memory.tags)
            and (self.file is None or any(_ends(path, self.file) for path in memory.file_paths))
            and (self.standing is None or memory.standing is self.standing)
            and (self.author is None or memory.created_by == self.author)
            and (self.branch is None or memory.branch == self.branch)
            and (self.ids is None or memory.id in self.ids)
            and memory.id not in self.but
        )


def _ends(path: str, file: str) -> bool:
    return path == file or path.endswith(f"/{file}")


class MemoryOrder(StrEnum):
    """The orders of a list of memories, each with the most first."""

    NEWEST = "newest"
    UPDATED = "updated"
    USED = "used"
    CONFIDENCE = "confidence"
    IMPORTANCE = "importance"


def scope_of(memory: Memory) -> View:
    """Return a view of the scope the memory belongs to: the memories it is compared with."""
    return View(
        user_id=memory.user_id,
        project_id=memory.project_id,
        session=memory.session,
        scopes=frozenset({memory.scope}),
    )


def same_matter(one: Memory, other: Memory) -> bool:
    """Return whether two memories are about the same project, branch and season."""
    return (one.branch, one.season, one.project_id) == (other.branch, other.season, other.project_id)


LONGEST_AUTHOR = 80  # characters
SEEDS_OF = "recollect:"  # how the author of a seed begins; the project's id follows


def is_proposal(created_by: str, trust: float, standing: str) -> bool:
    """Return whether a memory with these values is a repository's word that no person has accepted."""
    return (
        created_by.startswith(SEEDS_OF) and trust < TRUST[Source.USER_STATED] and standing != Standing.PINNED
    )


def is_agent(created_by: str) -> bool:
    """Return whether the writer is a program: an agent, a runner, or an import of what one wrote."""
    return created_by != "user" and not created_by.startswith("user:")


def plain_author(name: str) -> str:
    """Return the name of a writer as one word: what an agent calls itself stands in questions to the user and is no sentence."""
    if not is_agent(name):
        return name
    word = "-".join(re.findall(r"[\w.:@/+]+", name))[:LONGEST_AUTHOR]
    return word if word and is_agent(word) else f"agent:{word}"  # "(user)" is no person


def provenance_from(data: Mapping[str, Any]) -> Provenance:
    """Return the provenance that `as_json` wrote. These readers raise TypeError, ValueError or KeyError for other data."""
    messages = data.get("messages")
    return Provenance(
        source=Source(data["source"]),
        at=from_text(data["at"]),
        session=_text(data, "session"),
        messages=(int(messages[0]), int(messages[1])) if messages else None,
        agent=_text(data, "agent"),
        branch=_text(data, "branch"),
        snippet=_text(data, "snippet") or "",
        reason=_text(data, "reason") or "",
    )


def reinforcement_from(data: Mapping[str, Any]) -> Reinforcement:
    return Reinforcement(
        at=from_text(data["at"]),
        by=_text(data, "by") or "user",
        session=_text(data, "session"),
        said=_text(data, "said") or "",
    )


def procedure_from(data: Mapping[str, Any]) -> Procedure:
    return Procedure(
        name=_text(data, "name") or "",
        trigger=_text(data, "trigger") or "",
        steps=_texts(data, "steps"),
        prerequisites=_texts(data, "prerequisites"),
        warnings=_texts(data, "warnings"),
    )


def anchor_from(data: Mapping[str, Any]) -> Anchor:
    return Anchor(_text(data, "path") or "", _text(data, "symbol") or "", _text(data, "digest") or "")


def _text(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be a text")
    return value


def _texts(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = data.get(name) or ()
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{name} must be a list of texts")
    return tuple(values)
