"""Isolation: random operations of many people in many teams, each answer compared with a model of who may see what.

The model is written without the policies: it knows for each memory its team, author, project and visibility, for each person
a role, and for each project whether it is restricted and to whom. Some operations are an attacker's: ids, projects and
users of other teams, views in somebody else's name, SQL in every text.
"""

import random
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import recollect.model as m
from bench.local_postgres import SERVER, LocalPostgres
from recollect.errors import MemoryNotFound, RecollectError, Refused
from recollect.model.team import Identity, Role
from recollect.store.postgres.store import PostgresStore
from recollect.store.postgres.team import PostgresTeam

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PEOPLE = 5  # in each team
ROLES = [Role.OWNER, Role.ADMIN, Role.MEMBER, Role.MEMBER, Role.READER]
PROJECTS = ["shop", "bank", "till"]  # the same names in every team: a project is a team's
WORDS = "redis cache port deploy ledger invoice queue retry token schema index shard mutex".split()
SQL = [
    "'; DROP TABLE memories; --",
    "' OR tenant <> '",
    "%s",
    "\\'); SELECT set_config('recollect.tenant', 'x', true); --",
]


@dataclass
class Team:
    """What the model knows of one team."""

    tenant: str
    people: dict[str, Role]
    memories: dict[str, m.Memory] = field(default_factory=dict)
    links: set[tuple[str, str]] = field(default_factory=set)
    restricted: dict[str, frozenset[str]] = field(default_factory=dict)
    gaps: dict[str, str] = field(default_factory=dict)  # id → user
    messages: Counter[str] = field(default_factory=Counter)  # by user

    def is_open(self, user: str, project: str | None) -> bool:
        return project is None or project not in self.restricted or user in self.restricted[project]

    def sees(self, user: str, memory: m.Memory, token: frozenset[str] | None = None) -> bool:
        if token is not None and memory.project_id is not None and memory.project_id not in token:
            return False
        if memory.user_id == user or memory.visibility is m.Visibility.TEAM:
            return True
        admin = self.people[user] in (Role.OWNER, Role.ADMIN)
        return memory.visibility is m.Visibility.PROJECT and (admin or self.is_open(user, memory.project_id))

    def writes(self, user: str) -> bool:
        return self.people[user] is not Role.READER


@dataclass
class Outcome:
    operations: int = 0
    compared: int = 0  # answers
    rows: int = 0  # in those answers
    too_many: list[str] = field(default_factory=list)
    too_few: list[str] = field(default_factory=list)
    refused: int = 0  # as the model says
    by_operation: Counter[str] = field(default_factory=Counter)


class Trial:
    """Teams in a database, and the model of them."""

    def __init__(self, backend: PostgresTeam, teams: int, people: int, seed: int) -> None:
        self._backend = backend
        self._random = random.Random(seed)
        self._teams = [
            Team(m.new_id(), {m.new_id(): ROLES[place % len(ROLES)] for place in range(people)})
            for _ in range(teams)
        ]
        self.outcome = Outcome()

    def run(self, operations: int) -> Outcome:
        ways = {
            self.write: 25,
            self.change: 10,
            self.delete: 5,
            self.link: 5,
            self.restrict: 1,
            self.read: 40,
            self.feed: 4,
            self.private: 10,
        }
        chosen = self._random.choices(list(ways), list(ways.values()), k=operations)
        for way in chosen:
            team = self._random.choice(self._teams)
            user = self._random.choice(list(team.people))
            token = frozenset(self._random.sample(PROJECTS, 1)) if self._random.random() < 0.15 else None
            store = self._backend.store(Identity(team.tenant, user, "", team.people[user], projects=token))
            self.outcome.operations += 1
            self.outcome.by_operation[way.__name__] += 1
            way(team, user, token, store)
        return self.outcome

    # operations

    def write(self, team: Team, user: str, token: frozenset[str] | None, store: PostgresStore) -> None:
        author = user if self._random.random() < 0.9 else self._random.choice(list(team.people))  # forged
        content = " ".join(self._random.sample(WORDS, 3)) + (
            self._random.choice(SQL) if self._random.random() < 0.2 else ""
        )
        memory = m.Memory(
            id=m.new_id(),
            user_id=author,
            project_id=self._random.choice([None, *PROJECTS]),
            scope=m.Scope.PROJECT,
            kind="fact",
            content=content,
            summary=content,
            fingerprint=m.fingerprint(content),
            created_at=NOW,
            updated_at=NOW,
            valid_from=NOW,
            provenance=(m.Provenance(m.Source.USER_STATED, NOW, snippet=f"said by {author}"),),
            visibility=self._random.choice(list(m.Visibility)),
            tags=(self._random.choice(WORDS),),
        )
        may = (
            team.writes(user)
            and author == user
            and team.is_open(user, memory.project_id)
            and (token is None or memory.project_id is None or memory.project_id in token)
        )
        if self._attempt("write", may, lambda: store.put(memory)):
            store.put_vector(memory.id, "fake", b"\0\0\x80\x3f")
            team.memories[memory.id] = memory

    def change(self, team: Team, user: str, token: frozenset[str] | None, store: PostgresStore) -> None:
        memory = self._some_memory(team)
        if memory is None:
            return
        memory = store.get_many([memory.id]).get(memory.id, memory)  # as this person sees it
        changed = self._random.choice(
            [
                replace(memory, content=f"{memory.content} {self._random.choice(WORDS)}"),
                replace(memory, visibility=self._random.choice(list(m.Visibility))),
                replace(memory, strength=memory.strength + 1, access_count=memory.access_count + 1),
            ]
        )
        changed = replace(changed, fingerprint=m.fingerprint(changed.content))
        known = team.memories.get(memory.id)
        visible = known is not None and team.sees(user, known, token)
        admin = team.people[user] in (Role.OWNER, Role.ADMIN)
        used = (changed.content, changed.visibility) == (memory.content, memory.visibility)
        may = (
            visible
            and team.writes(user)
            and (memory.user_id == user or admin or used)
            and (memory.user_id == user or changed.visibility is not m.Visibility.PRIVATE or used)
        )
        if may and changed.visibility is not memory.visibility and not team.sees(user, changed, token):
            may = False
        if self._attempt("change", may, lambda: store.put(changed)):
            team.memories[memory.id] = changed
            if changed.content != memory.content:
                store.put_vector(memory.id, "fake", b"\0\0\x80\x3f")

    def delete(self, team: Team, user: str, token: frozenset[str] | None, store: PostgresStore) -> None:
        memory = self._some_memory(team)
        if memory is None:
            return
        known = team.memories.get(memory.id)
        admin = team.people[user] in (Role.OWNER, Role.ADMIN)
        may = (
            known is not None
            and team.sees(user, known, token)
            and team.writes(user)
            and (known.user_id == user or (admin and known.visibility is not m.Visibility.PRIVATE))
        )
        if self._attempt("delete", may, lambda: store.delete(memory.id)):
            del team.memories[memory.id]
            team.links = {pair for pair in team.links if memory.id not in pair}

    def link(self, team: Team, user: str, token: frozenset[str] | None, store: PostgresStore) -> None:
        ends = [self._some_memory(team), self._some_memory(team)]
        if None in ends or ends[0] == ends[1]:
            return
        source, target = (end.id for end in ends if end is not None)
        may = team.writes(user) and all(
            name in team.memories and team.sees(user, team.memories[name], token) for name in (source, target)
        )
        if (source, target) in team.links:
            return
        made = m.Link(source, target, m.Relation.RELATES_TO, NOW)
        if self._attempt("link", may, lambda: store.put_link(made)):
            team.links.add((source, target))

    def restrict(self, team: Team, user: str, token: frozenset[str] | None, store: PostgresStore) -> None:
        project = self._random.choice(PROJECTS)
        members = (
            frozenset(self._random.sample(list(team.people), 2)) if self._random.random() < 0.7 else None
        )
        self._backend.directory.restrict(team.tenant, project, members)
        team.restricted.pop(project, None)
        if members is not None:
            team.restricted[project] = members

    def read(self, team: Team, user: str, token: frozenset[str] | None, store: PostgresStore) -> None:
        name = self._random.choice(
            [user, user, user, *team.people]
        )  # a view in somebody else's name is forged
        view = m.View(
            name,
            self._random.choice([None, *PROJECTS]),
            all_projects=self._random.random() < 0.5,
            all_sessions=True,
            states=m.ALL_STATES,
        )
        visible = {
            memory.id: memory
            for memory in team.memories.values()
            if team.sees(user, memory, token) and view.shows_memory(memory)
        }
        word = self._random.choice(WORDS)
        every = [name for other in self._teams for name in other.memories]  # ids of everybody
        asked = self._random.sample(every, min(20, len(every)))
        readable = {
            name for name in asked if name in team.memories and team.sees(user, team.memories[name], token)
        }
        way = self._random.randrange(9)
        if way == 0:
            self._compare("newest", {each.id for each in store.newest(view)}, set(visible))
        elif way == 1:
            found = store.get_many(asked)
            self._compare("get_many", set(found), readable)
            for memory in found.values():
                said = {entry.snippet for entry in memory.provenance} - {""}
                self._compare("snippet", said, {f"said by {user}"} if memory.user_id == user else set())
        elif way == 2:
            hits = {name for name, _ in store.match(view, f"{word} {self._random.choice(SQL)}", 10_000)}
            wanted = {
                name
                for name, memory in visible.items()
                if word in memory.content.split() or word in memory.tags
            }
            self._compare("match", hits & set(visible) - wanted, hits & set(visible) - wanted)
            self._compare("match", {*hits, *wanted} & hits, hits if hits <= set(visible) else set())
            self._compare("match", wanted & hits, wanted)
        elif way == 3:
            self._compare("vectors", {name for name, _ in store.vectors(view, "fake")}, set(visible))
        elif way == 4:
            self._compare("count", {f"{store.count(view)}"}, {f"{len(visible)}"})
        elif way == 5:
            ends = {(link.source, link.target) for link in store.all_links(view)}
            wanted_links = {pair for pair in team.links if set(pair) <= set(visible)}
            self._compare(
                "links", {" ".join(pair) for pair in ends}, {" ".join(pair) for pair in wanted_links}
            )
        elif way == 6:
            for name in asked[:5]:
                try:
                    resolved = {store.resolve(replace(view, all_projects=True), name)}
                except MemoryNotFound:
                    resolved = set()
                shown = name in readable and replace(view, all_projects=True).shows_memory(
                    team.memories[name]
                )
                self._compare("resolve", resolved, {name} if shown else set())
        elif way == 7:
            tags = {tag.name: tag.count for tag in store.tags(view)}
            counted = Counter(tag for memory in visible.values() for tag in memory.tags)
            self._compare(
                "tags",
                {f"{tags}"} and {f"{k} {v}" for k, v in tags.items()},
                {f"{k} {v}" for k, v in counted.items()},
            )
        else:
            mark = (
                m.fingerprint(team.memories[self._random.choice(list(team.memories))].content)
                if team.memories
                else ""
            )
            same = {name for name, memory in visible.items() if memory.fingerprint == mark}
            self._compare("with_fingerprint", {each.id for each in store.with_fingerprint(view, mark)}, same)

    def feed(self, team: Team, user: str, token: frozenset[str] | None, store: PostgresStore) -> None:
        visible = {name for name, memory in team.memories.items() if team.sees(user, memory, token)}
        self._compare("texts_since", {row.id for row in store.texts_since(-1)}, visible)
        self._compare(
            "vectors_since", {row.id for row in store.vectors_since("fake", -1) if row.vector}, visible
        )

    def private(self, team: Team, user: str, token: frozenset[str] | None, store: PostgresStore) -> None:
        """What is a person's alone: gaps and messages, read in any name."""
        if token is not None:
            return
        gap = m.Gap(m.new_id(), None, self._random.choice(WORDS), NOW)
        store.put_gap(gap)
        team.gaps[gap.id] = user
        order = team.messages[user]
        store.messages.put([m.Message("s", order, "user", "hi", NOW, user, None)], None, None)
        team.messages[user] += 1
        other = self._random.choice(list(team.people))
        mine = {name for name, owner in team.gaps.items() if owner == user}
        found = {each.id for each in store.iter_gaps(m.View(other, all_projects=True))}
        self._compare("gaps", found, mine if other == user else set())
        read = {str(each.order) for each in store.messages.session(other, "s")}
        self._compare(
            "messages", read, {str(n) for n in range(team.messages[user])} if other == user else set()
        )

    # comparing

    def _some_memory(self, team: Team) -> m.Memory | None:
        """A memory of the team, or now and then of another one."""
        source = team if self._random.random() < 0.9 else self._random.choice(self._teams)
        return self._random.choice(list(source.memories.values())) if source.memories else None

    def _attempt(self, what: str, may: bool, act: object) -> bool:
        try:
            act()  # type: ignore[operator]
        except (Refused, MemoryNotFound):
            if may:
                self.outcome.too_few.append(f"{what} was refused")
            self.outcome.refused += 1
            return False
        except RecollectError as error:
            self.outcome.too_few.append(f"{what}: {error}")
            return False
        if not may:
            self.outcome.too_many.append(f"{what} was allowed")
        return may

    def _compare(self, what: str, found: set[str], expected: set[str]) -> None:
        self.outcome.compared += 1
        self.outcome.rows += len(found)
        self.outcome.too_many += [f"{what}: {name}" for name in sorted(found - expected)]
        self.outcome.too_few += [f"{what}: {name}" for name in sorted(expected - found)]


def run(operations: int = 10_000, teams: int = 20, seed: int = 1) -> dict[str, Any]:
    server = LocalPostgres()
    try:
        server.create()
        server.start()
        server.prepare()
        backend = PostgresTeam(server.url(SERVER))
        outcome = Trial(backend, teams, PEOPLE, seed).run(operations)
        backend.close()
    finally:
        server.stop()
    return {"teams": teams, "people": teams * PEOPLE, **asdict(outcome)}


def show(figures: dict[str, Any]) -> None:
    print(
        f"{figures['teams']} teams, {figures['people']} people, {figures['operations']:,} operations:"
        f" {figures['compared']:,} answers with {figures['rows']:,} rows compared, {figures['refused']:,} refused;"
        f" {len(figures['too_many'])} rows too many, {len(figures['too_few'])} too few"
    )
    for line in [*figures["too_many"][:10], *figures["too_few"][:10]]:
        print(f"  {line}")
