"""What operations for people and tokens return."""

from datetime import datetime
from typing import Any

import recollect.model as m
from recollect.frozen import frozen
from recollect.model.team import Erasure, Role


@frozen
class WhoAmI:
    tenant: str
    team: str
    user: str
    name: str
    role: Role
    agent: str  # "" = a person's own client
    actions: tuple[str, ...]
    projects: tuple[str, ...] | None  # None = all
    consents: dict[str, datetime]
    token: str = ""  # the id of the token


@frozen
class NewInvite:
    id: str
    name: str
    role: Role
    expires_at: datetime
    code: str  # shown once


@frozen
class IssuedToken:
    id: str
    user: str
    name: str
    agent: str
    actions: tuple[str, ...]
    projects: tuple[str, ...] | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    secret: str = ""  # only in the answer that makes it


@frozen
class Joined:
    """The answer to an invitation code."""

    token: str
    me: WhoAmI


@frozen
class IdentityProvider:
    """Where people sign in, and as which program."""

    issuer: str
    client_id: str
    scope: str


@frozen
class Adopted:
    """What became of memories that were moved to the team."""

    ids: tuple[str | None, ...]  # in the order they came; None = refused
    change: str | None  # for `undo`; None = all were known already
    refused: tuple[tuple[int, str], ...]  # the number of a memory, and why
    redacted: int  # secrets that were removed


@frozen
class MemoryPage:
    memories: tuple[m.Memory, ...]
    next: int | None  # the offset of the next page; None = this was the last
    after: str | None = None  # where the next page begins; None = this was the last, or the server is older


@frozen
class LinkPage:
    links: tuple[m.Link, ...]
    next: int | None  # the offset of the next page; None = this was the last


@frozen
class RecordPage:
    records: tuple[tuple[str, dict[str, Any]], ...]  # a table, and a row of it
    next: int | None  # the offset of the next page; None = this was the last


@frozen
class CommonQuestion:
    """A search without an answer that many people made."""

    question: str
    people: int  # at least so many: a multiple of five


@frozen
class TeamAnalytics:
    """What a team runs into. What people do privately is in it only where five or more of them do it."""

    gotchas: tuple[m.Memory, ...]  # that are shared, most used first
    questions: tuple[CommonQuestion, ...]  # most common first
    unanswered: int | None  # searches without an answer in 30 days; None = fewer than five people made them


@frozen
class MyData:
    """A page of what is stored of a person."""

    me: WhoAmI
    memories: tuple[m.Memory, ...]
    # The rest is in the first page, at most a thousand of each.
    tokens: tuple[IssuedToken, ...] = ()
    sessions: tuple[m.Session, ...] = ()  # that showed findings to others
    findings: tuple[m.Finding, ...] = ()
    gaps: tuple[m.Gap, ...] = ()  # searches without an answer
    hidden: tuple[str, ...] = ()  # memories that you have hidden for yourself
    changes: tuple[m.Change, ...] = ()
    erasures: tuple[Erasure, ...] = ()
    next: int | None = None  # the offset of the next page; None = this was the last
