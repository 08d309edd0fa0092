"""Who may see what in some teams, written without the policies of the database: what answers are compared with."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from recollect.model.team import Role
from recollect.remote.wire import team_project_id

ROLES = [Role.OWNER, Role.ADMIN, Role.MEMBER, Role.MEMBER, Role.READER]
PROJECTS = ["shop", "bank", "till"]  # the same in every team: a project is a team's
_SYLLABLES = [first + second for first in "bdfgklmnprtvz" for second in "aeiou"]


@dataclass(frozen=True)
class KnownToken:
    """A token, and what it was made for."""

    secret: str
    projects: frozenset[str] | None = None  # ids; None = all
    agent: str = ""
    can_write: bool = True

    @property
    def limits(self) -> str:
        return f"{self.agent or 'person'} {'writes' if self.can_write else 'reads'} {sorted(self.projects or ())}"


@dataclass
class KnownPerson:
    id: str
    name: str
    role: Role
    tokens: list[KnownToken]
    hidden: set[str] = field(default_factory=set)
    is_flagged: bool = False  # what their agents write is seen by nobody else

    @property
    def is_admin(self) -> bool:
        return self.role in (Role.OWNER, Role.ADMIN)


@dataclass
class KnownMemory:
    id: str
    author: str
    project: str | None
    visibility: str
    content: str
    tags: frozenset[str]
    state: str = "active"
    is_elsewhere: bool = (
        False  # it is of a branch or a session, which an attacker can name: lists do not show it
    )

    @property
    def marks(self) -> frozenset[str]:
        """The words that are in this memory and in no other."""
        return frozenset(word for word in self.content.split() if len(word) >= 8)


@dataclass
class KnownTeam:
    tenant: str
    people: list[KnownPerson]
    memories: dict[str, KnownMemory] = field(default_factory=dict)
    restricted: dict[str, frozenset[str]] = field(default_factory=dict)  # by project
    registered: set[str] = field(default_factory=set)  # names of projects that somebody has written to

    def is_open(self, person: KnownPerson, project: str | None) -> bool:
        return project is None or project not in self.restricted or person.id in self.restricted[project]

    def sees(self, person: KnownPerson, token: KnownToken, memory: KnownMemory) -> bool:
        if token.projects is not None and memory.project is not None and memory.project not in token.projects:
            return False
        if memory.author == person.id or memory.visibility == "team":
            return True
        return memory.visibility == "project" and (person.is_admin or self.is_open(person, memory.project))

    def visible(self, person: KnownPerson, token: KnownToken) -> dict[str, KnownMemory]:
        return {name: memory for name, memory in self.memories.items() if self.sees(person, token, memory)}

    def may_change(self, person: KnownPerson, token: KnownToken, memory: KnownMemory) -> bool:
        """Whether a person may change or delete a memory that they see."""
        mine = memory.author == person.id
        return token.can_write and person.role is not Role.READER and (mine or person.is_admin)


def place(project: str | None) -> dict[str, Any]:
    """Return where a call comes from, as it is sent."""
    if project is None:
        return {"keys": [], "name": ""}
    key = f"local:{project[1:]}" if project.startswith("~") else f"remote:example.com/team/{project}"
    return {"keys": [key], "name": project}


def project_id(person: str, project: str | None) -> str | None:
    return team_project_id(person, place(project)["keys"])


def new_texts(chosen: random.Random) -> Iterator[str]:
    """Yield statements that share no long word, so that none is a duplicate of another or contradicts it."""
    for number in itertools.count():
        words = ["".join(chosen.choices(_SYLLABLES, k=4)) + _SYLLABLES[number % 60] for _ in range(4)]
        yield f"The {words[0]} of {words[1]} is {words[2]} {words[3]}"
