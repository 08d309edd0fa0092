"""People who share memories: their roles, invitations and tokens. Times are UTC and aware."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from recollect.frozen import frozen

READ, WRITE, ADMIN = "read", "write", "admin"
ACTIONS = frozenset({READ, WRITE, ADMIN})
CONSENT = "server"  # the consent to store memories on the server; without it nothing more is stored
EMBEDDINGS = "embeddings"  # the consent that the server makes vectors of one's texts


class Role(StrEnum):
    OWNER = "owner"  # an admin who cannot be removed while being the last one
    ADMIN = "admin"  # all that is shared, people, tokens and audit; not other people's private memories
    MEMBER = "member"  # reads what is shared, writes their own
    READER = "reader"  # reads what is shared
    SERVICE = "service"  # the server's own work in one tenant; no token has it

    @property
    def is_admin(self) -> bool:
        return self in (Role.OWNER, Role.ADMIN)


@frozen
class Identity:
    """Who calls, as the server has verified it from a token. Nothing of it comes from the body of a request."""

    tenant: str
    user: str
    name: str
    role: Role
    agent: str = ""  # the agent or job that the token was made for; "" = a person's own client
    projects: frozenset[str] | None = None  # the token is for these projects only; None = all
    actions: frozenset[str] = ACTIONS
    token: str = ""  # the token's id
    is_new: bool = False  # a new or flagged member: what their agents write is a candidate until reviewed
    agrees: bool = True  # False = the person no longer agrees that the server stores what is theirs
    embeds: bool = True  # False = the person does not agree that the server makes vectors of their texts


@frozen
class Person:
    tenant: str
    id: str  # opaque: names are in this row only
    name: str
    role: Role
    joined_at: datetime
    is_flagged: bool = False  # what their agents write is quarantined
    left_at: datetime | None = None  # None = still there


@frozen
class Invite:
    """An invitation that works once."""

    id: str
    tenant: str
    name: str  # of the person
    role: Role
    code_hash: str
    invited_by: str
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None  # None = still open


@frozen
class Token:
    """What a client shows to the server. Only its hash is stored."""

    id: str
    tenant: str
    user: str
    name: str  # for people: "laptop", "ci"
    hash: str
    created_at: datetime
    agent: str = ""  # "" = a person's own client
    actions: frozenset[str] = ACTIONS
    projects: frozenset[str] | None = None  # None = all
    expires_at: datetime | None = None  # None = never
    last_used_at: datetime | None = None  # None = never
    revoked_at: datetime | None = None  # None = not revoked


@frozen
class TeamProject:
    id: str
    name: str
    members: frozenset[str] | None = None  # None = open to everybody in the team


class Notice(NamedTuple):
    """Something has changed. It names ids only: whoever is told reads the rows with their own rights."""

    tenant: str  # "" = of all tenants: anything may have changed
    project_id: str | None  # None = outside any project, or in several
    seq: int
    only: str | None = None  # the one person who may see it; None = others may too
    people: bool = (
        False  # somebody has left or has another role, or a token was revoked; no memory has changed
    )


@frozen
class Erased:
    """What was erased of a person, by table."""

    user: str
    rows: dict[str, int]


@frozen
class Erasure:
    """A request to erase everything of a person."""

    user: str  # opaque: nobody can tell any more who that was, once it is done
    requested_at: datetime
    due_at: datetime
    done_at: datetime | None  # None = it can still be withdrawn
    rows: dict[str, int]  # that were erased, by table


@frozen
class Retention:
    """How long a team keeps memories."""

    forgotten_days: int = 30  # after which what was forgotten is permanently deleted
    unused_days: int | None = None  # after which what nobody used or changed is forgotten; None = never
