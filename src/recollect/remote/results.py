"""What operations for people and tokens return."""

from dataclasses import dataclass
from datetime import datetime

import recollect.model as m
from recollect.model.team import Role


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class NewInvite:
    id: str
    name: str
    role: Role
    expires_at: datetime
    code: str  # shown once


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Joined:
    """The answer to an invitation code."""

    token: str
    me: WhoAmI


@dataclass(frozen=True, slots=True)
class Adopted:
    """What became of memories that were moved to the team."""

    ids: tuple[str | None, ...]  # in the order they came; None = refused
    change: str | None  # for `undo`; None = all were known already
    refused: tuple[tuple[int, str], ...]  # the number of a memory, and why
    redacted: int  # secrets that were removed


@dataclass(frozen=True, slots=True)
class MemoryPage:
    memories: tuple[m.Memory, ...]
    next: int | None  # the offset of the next page; None = this was the last


@dataclass(frozen=True, slots=True)
class MyData:
    """A page of what is stored of a person."""

    me: WhoAmI
    memories: tuple[m.Memory, ...]
    tokens: tuple[IssuedToken, ...]
    next: int | None  # the offset of the next page; None = this was the last
