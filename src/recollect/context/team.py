"""What the team server needs of a database: a store for each verified caller, and the directory of people and tokens."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from recollect.context.store import Store
from recollect.model.team import (
    Erased,
    Erasure,
    Identity,
    Invite,
    Notice,
    Person,
    Retention,
    Role,
    TeamProject,
    Token,
)


class Directory(Protocol):
    """People, invitations and tokens of all tenants. It knows hashes, never a token or a code."""

    def create_team(self, name: str, owner: str, at: datetime) -> Person:
        """Create a tenant and its first owner, who is called `owner`."""

    def team_name(self, tenant: str) -> str:
        """Return the name of the tenant."""

    def invite(self, invite: Invite) -> None:
        """Store an invitation."""

    def invites(self, tenant: str) -> list[Invite]:
        """Return the invitations that nobody has used, newest first."""

    def withdraw_invite(self, tenant: str, invite: str) -> bool:
        """Delete an invitation that nobody has used; return False if there is none with this id."""

    def accept(self, code_hash: str, at: datetime, identity: str | None = None) -> Person | None:
        """Use the invitation and create its person; None if it is unknown, used or expired. It works once.

        `identity` is a hash by which the person signs in from then on; see `linked`. Raise `Refused` if somebody in the
        team does so already.
        """

    def linked(self, identity: str) -> Person | None:
        """Return who signs in with this identity and is still there; in several teams, in the one that they joined last."""

    def people(self, tenant: str) -> list[Person]:
        """Return everybody who is or was in the tenant, in the order they joined."""

    def set_role(self, tenant: str, user: str, role: Role) -> None:
        """Change a role, and withdraw invitations that the person could no longer make. Raise `Refused` for the last owner."""

    def flag(self, tenant: str, user: str, on: bool) -> None:
        """Quarantine what the person's agents write from now on, or no longer. Their sessions are shared no more."""

    def remove(self, tenant: str, user: str, at: datetime) -> None:
        """Let a person leave; revoke their tokens and withdraw their invitations at once. Raise `Refused` for the last owner."""

    def put_token(self, token: Token) -> None:
        """Store a token."""

    def identify(self, token_hash: str, at: datetime) -> Identity | None:
        """Return who the token is, if it and its person are valid at that time."""

    def tokens(self, tenant: str, user: str | None = None) -> list[Token]:
        """Return the tokens of a person or of everybody, newest first."""

    def revoke(self, tenant: str, token: str, at: datetime) -> bool:
        """Revoke the token with this id; return False if there is none or it is revoked already."""

    def touch(self, tenant: str, token: str, at: datetime) -> None:
        """Note that the token was used."""

    def projects(self, tenant: str) -> list[TeamProject]:
        """Return the projects of the tenant, by name."""

    def restrict(self, tenant: str, project: str, members: frozenset[str] | None) -> None:
        """Let only these people see the project; None opens it to everybody in the team."""

    def hide(self, tenant: str, user: str, memory: str, on: bool) -> None:
        """Hide a memory for one person, or show it again."""

    def consent(self, tenant: str, user: str, what: str, on: bool, at: datetime) -> None:
        """Record that a person agrees to something, or does not or no longer."""

    def consents(self, tenant: str, user: str) -> dict[str, datetime]:
        """Return what the person agrees to, and since when."""

    def count_use(self, tenant: str, user: str, period: str, name: str, count: int = 1) -> int:
        """Count use within a period, such as a day, and return how much it is now. "" counts for the whole tenant."""

    def unanswered(self, tenant: str, since: datetime, limit: int) -> list[tuple[str, str | None, str]]:
        """Return searches without an answer since then, newest first: person, project, question.

        What is made of it must say nothing about few people: see `analytics`.
        """

    def tenants(self) -> list[str]:
        """Return the ids of all tenants, for jobs that go through them one by one."""

    def retention(self, tenant: str) -> Retention:
        """Return how long the team keeps memories."""

    def set_retention(self, tenant: str, retention: Retention) -> None:
        """Change how long the team keeps memories."""

    def request_erasure(self, tenant: str, user: str, at: datetime, due: datetime) -> None:
        """Note that everything of a person is to be erased when it is due. Raise `Refused` for the last owner."""

    def withdraw_erasure(self, tenant: str, user: str) -> bool:
        """Keep the person's data after all; return False if nothing was waiting."""

    def due_erasures(self, tenant: str, now: datetime) -> list[str]:
        """Return the people whose data is to be erased by now."""

    def records(self, tenant: str, user: str, offset: int, limit: int) -> list[tuple[str, dict[str, Any]]]:
        """Return what is stored of a person beside their memories: tables and rows, without vectors and hashes of secrets."""

    def erasures(self, tenant: str, user: str | None = None) -> list[Erasure]:
        """Return the requests of a person or of everybody, newest first, with what was erased."""

    def erase(self, tenant: str, user: str, at: datetime) -> Erased:
        """Permanently delete everything of a person: rows, vectors, links, undo images and their name."""


class TeamStore(Store, Protocol):
    """A caller's store: it shows what they may see, and nothing else."""

    def once(self, key: str) -> str | None:
        """Return the answer that was kept under the key by this person; None if there is none."""

    def keep_answer(self, key: str, answer: str, at: datetime) -> None:
        """Keep the answer of a write in the same transaction, so that a repeated request is answered and not run."""

    def drop_answer(self, key: str) -> None:
        """Forget that an answer was kept under the key: the request has failed."""

    def hidden(self) -> frozenset[str]:
        """Return the memories that the person has hidden for themselves."""

    def reading_together(self) -> AbstractContextManager[None]:
        """Let all reads of this thread in the block see the same moment, which also takes less time."""

    def forget_unused(self, before: datetime, at: datetime) -> int:
        """Forget memories that nobody has used or changed since then, except pinned ones; return how many."""

    def share_session(self, session_id: str, on: bool) -> None:
        """Let everybody in the project see the session and its findings, or no longer. Its messages stay private."""


class TeamBackend(Protocol):
    """The database behind a team server. It can be used from any thread."""

    @property
    def directory(self) -> Directory: ...

    def store(self, identity: Identity) -> TeamStore:
        """Return a store with the rights of this caller; close it after use."""

    def ready(self) -> bool:
        """Whether the database answers and has the tables of this version."""

    def listen(self, stop: Callable[[], bool]) -> Iterator[Notice]:
        """Yield what has changed, as it happens, until `stop` says so, which is asked every second.

        The first notice has no tenant: it says that changes are heard of from now on.
        """

    def close(self) -> None:
        """Close all connections."""
