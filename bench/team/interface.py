"""Isolation through the interface: random requests of many people in many teams, each answer compared with a model.

Every answer is read for ids and words of memories that the caller may not see, whatever the operation; lists, counts and
searches must also be complete. `attacker` sends forged requests in between. From time to time the database itself is
compared with the model, row by row: a request that was refused has changed nothing, and one of another team neither.
"""

import http.client
import json
import random
import re
import tempfile
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

import recollect.model as m
from bench.local_postgres import SERVER, LocalPostgres
from bench.team.attacker import Attacker
from bench.team.model_of_teams import (
    PROJECTS,
    ROLES,
    KnownMemory,
    KnownPerson,
    KnownTeam,
    KnownToken,
    new_texts,
    place,
    project_id,
)
from bench.team.server_process import NO_LIMITS
from recollect.config import load_settings
from recollect.interfaces.team.app import TeamApp
from recollect.interfaces.team.server import Listening, TeamServer, build
from recollect.model.team import Role, Token
from recollect.remote.secrets import new_secret
from recollect.store.postgres.access import ACCESS
from recollect.store.postgres.team import PostgresTeam

PEOPLE = 5  # in each team
ALL_STATES = tuple(str(state) for state in m.State)
_OWN = ("my_data", "my_records", "gaps", "tokens")
# Tables with what a person did or was told themselves, perhaps of what they may no longer see.
_DONE = ("audit", "changes", "hidden_memories", "links", "deliveries", "delivered_items")
_IDS = re.compile(r"\b[0-9a-z]{18}\b")
_SUCCESSOR = re.compile(r'"superseded_by":"\w+"')
_LONG = re.compile(r"\b[a-z]{10}\b")


class WordVectors:
    """Each word has a direction of its own, so that texts which share no word are far apart."""

    model = "words"
    dim = 64
    query_prefix = ""

    def embed(self, texts: list[str]) -> Any:
        return np.stack([self._vector(text) for text in texts]) if texts else np.empty((0, self.dim), "<f4")

    def embed_each(self, batches: Any) -> Any:
        return map(self.embed, batches)

    def _vector(self, text: str) -> Any:
        total = np.zeros(self.dim)
        for word in re.findall(r"\w+", text.lower()) or [""]:
            total += np.random.default_rng(list(word.encode())).standard_normal(self.dim)
        return (total / np.linalg.norm(total)).astype("<f4")


@dataclass
class Answer:
    status: int
    value: Any
    text: str


class Connection:
    """A connection to the server, over which everybody's requests go."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def post(
        self,
        operation: str,
        token: str,
        arguments: dict[str, Any],
        where: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        **rest: Any,
    ) -> Answer:
        body = json.dumps({"place": where or place(None), "arguments": arguments, **rest}).encode()
        sent = {"authorization": f"Bearer {token}", "content-type": "application/json", **(headers or {})}
        self._connection.request("POST", f"/api/v1/{operation}", body, sent)
        response = self._connection.getresponse()
        text = response.read().decode()
        return Answer(response.status, json.loads(text), text)

    def close(self) -> None:
        self._connection.close()


@dataclass
class Outcome:
    operations: int = 0
    compared: int = 0  # answers that must be complete
    rows: int = 0  # in those answers
    refused: int = 0  # as the model says
    forged: int = 0  # requests of the attacker
    too_many: list[str] = field(default_factory=list)
    too_few: list[str] = field(default_factory=list)
    server_errors: list[str] = field(default_factory=list)
    by_operation: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Caller:
    """Who sends a request, and from where."""

    team: KnownTeam
    person: KnownPerson
    token: KnownToken
    project: str | None  # its name
    as_agent: bool = False

    @property
    def project_id(self) -> str | None:
        return project_id(self.person.id, self.project)

    @property
    def is_let_in(self) -> bool:
        return self.token.projects is None or self.project_id in self.token.projects

    @property
    def is_agent(self) -> bool:
        return self.as_agent or bool(self.token.agent)

    @property
    def may_read_own(self) -> bool:
        """Whether they may read all that is stored of them."""
        return self.token.projects is None and not self.is_agent

    @property
    def can_write(self) -> bool:
        return self.is_let_in and self.token.can_write and self.person.role is not Role.READER

    def visible(self) -> dict[str, KnownMemory]:
        return self.team.visible(self.person, self.token)

    def listed(
        self, *, everywhere: bool = False, states: tuple[str, ...] = ("active",), whole: bool = False
    ) -> set[str]:
        """The memories that a list from here shows, without those that the person has hidden."""
        everywhere = everywhere and not self.is_agent
        return {
            name
            for name, memory in self.visible().items()
            if memory.state in states
            and (everywhere or memory.project in (None, self.project_id))
            and (whole or not memory.is_elsewhere)
        }


class Trial:
    """Teams on a running server, and the model of them."""

    def __init__(self, backend: PostgresTeam, port: int, database: str, teams: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.texts = new_texts(self.random)
        self.outcome = Outcome()
        self.connection = Connection(port)
        self._backend = backend
        self._database = database
        self._owners: dict[str, set[str]] = {}  # of ids and words: the memories that have or had them
        self._asked: dict[str, set[str]] = {}  # by person: ids and words that they sent themselves
        self.teams = [self._new_team(number) for number in range(teams)]
        self.attacker = Attacker(self)

    def close(self) -> None:
        self.connection.close()

    def run(self, operations: int, compare_every: int = 1000) -> Outcome:
        ways = {
            self.remember: 20,
            self.repeat: 4,
            self.edit: 8,
            self.forget: 5,
            self.touch: 6,
            self.hide: 1,
            self.restrict: 1,
            self.change_people: 2,
            self.read: 34,
            self.attacker.forge_arguments: 12,
            self.attacker.forge_token: 3,
            self.attacker.forge_headers: 3,
            self.attacker.repeat_key: 2,
        }
        for number, way in enumerate(self.random.choices(list(ways), list(ways.values()), k=operations), 1):
            self.outcome.operations += 1
            self.outcome.by_operation[way.__name__] += 1
            way(self.caller())
            if number % compare_every == 0:
                self.compare_rows()
        self.compare_rows()
        self.compare_without_a_tenant()
        return self.outcome

    # people

    def _new_team(self, number: int) -> KnownTeam:
        owner = self._backend.directory.create_team(f"Team {number}", "Owner", m.utc_now())
        team = KnownTeam(owner.tenant, [])
        first = KnownPerson(owner.id, "Owner", Role.OWNER, [self._token(team, owner.id)])
        team.people.append(first)
        for place_, role in enumerate(ROLES[1:PEOPLE], 1):
            self._join(team, f"Person {place_}", role)
        return team

    def _join(self, team: KnownTeam, name: str, role: Role) -> None:
        owner = team.people[0].tokens[0].secret
        code = self.connection.post("invite", owner, {"name": name, "role": role}).value["code"]
        self.connection._connection.request("POST", "/api/v1/join", json.dumps({"code": code}))
        joined = json.loads(self.connection._connection.getresponse().read())
        self.connection.post("flag_member", owner, {"person": joined["me"]["user"], "on": False})
        user = joined["me"]["user"]
        person = KnownPerson(user, name, role, [KnownToken(joined["token"])])
        shop = frozenset({str(project_id(user, "shop"))})
        person.tokens.append(self._token(team, user, projects=shop))
        person.tokens.append(self._token(team, user, agent="ci"))
        person.tokens.append(self._token(team, user, can_write=False))
        team.people.append(person)

    def _token(self, team: KnownTeam, user: str, **limits: Any) -> KnownToken:
        secret, hashed = new_secret()
        known = KnownToken(secret, **limits)
        actions = frozenset({"read", "write", "admin"} if known.can_write else {"read"})
        stored = Token(
            m.new_id(), team.tenant, user, "t", hashed, m.utc_now(), known.agent, actions, known.projects
        )
        self._backend.directory.put_token(stored)
        return known

    def caller(self) -> Caller:
        team = self.random.choice(self.teams)
        person = self.random.choice(team.people)
        token = person.tokens[0] if self.random.random() < 0.7 else self.random.choice(person.tokens)
        project = self.random.choice([None, *PROJECTS, *PROJECTS, "~mine"])
        return Caller(team, person, token, project, self.random.random() < 0.2)

    # requests

    def ask(
        self, caller: Caller, operation: str, arguments: dict[str, Any], headers: dict[str, str] | None = None
    ) -> Answer:
        """Send a request and look for what its answer must not tell."""
        actor = {"recollect-actor": "agent:claude"} if caller.as_agent else {}
        self._asked.setdefault(caller.person.id, set()).update(_words_in(json.dumps(arguments)))
        answer = self.connection.post(
            operation, caller.token.secret, arguments, place(caller.project), {**actor, **(headers or {})}
        )
        self.look_for_secrets(caller, operation, arguments, answer)
        return answer

    def look_for_secrets(self, caller: Caller, operation: str, arguments: Any, answer: Answer) -> None:
        if answer.status >= 500:
            self.outcome.server_errors.append(f"{operation} {arguments} → {answer.text}"[:400])
        given, visible = json.dumps(arguments), caller.visible()
        text = _SUCCESSOR.sub("", answer.text)  # the id of a private memory says nothing of it
        if operation == "my_records" and answer.status == 200:
            text = json.dumps([row for row in answer.value["records"] if row[0] not in _DONE])
        # What is a person's alone has their own questions and names, with ids and words that they guessed.
        own = self._asked.get(caller.person.id, set()) if operation in _OWN else set()
        if operation in ("audit", "changes"):
            own = set(_IDS.findall(text))  # lines of one's own keep their ids
        if operation == "my_data" and answer.status == 200:
            own |= set(_IDS.findall(json.dumps(answer.value["changes"])))
        people = {
            person.id for person in caller.team.people
        }  # an attacker can give a memory the id of a person
        for word in _words_in(text) - own - people:
            owners = self._owners.get(word)
            if owners and word not in given and not owners & visible.keys():
                told = f"{operation} told a {caller.person.role} {word} of {owners}, asked with {arguments}"
                self.outcome.too_many.append(told[:600])

    def keep(self, team: KnownTeam, memory: KnownMemory, fields: str = "") -> None:
        """Add a memory to the model, or replace it. The words it had before are its secret still.

        An attacker may have written ids of others into its `fields`, and reads them there again.
        """
        team.memories[memory.id] = memory
        copied = {name for name in _IDS.findall(memory.content + fields) if name in self._owners}
        for word in (memory.id, *copied, *_LONG.findall(memory.content)):
            self._owners.setdefault(word, set()).add(memory.id)

    def learn(self, caller: Caller, name: str) -> KnownMemory | None:
        """Read a memory that the caller has written, as the caller sees it, and keep it in the model."""
        answer = self.connection.post(
            "get", caller.person.tokens[0].secret, {"name": name}, place(caller.project)
        )
        if answer.status != 200:
            self.outcome.too_few.append(f"get {name} after a write: {answer.text}"[:300])
            return None
        memory = known_memory(answer.value)
        known = caller.team.memories.get(name)
        if memory.author != (known.author if known else caller.person.id):
            self.outcome.too_many.append(f"{name} was written as {memory.author}")
        self.keep(caller.team, memory)
        return memory

    def expect(self, what: str, may: bool, answer: Answer) -> bool:
        """Note whether a request was rightly refused or rightly done; return whether it was done."""
        done = answer.status == 200
        if done and not may:
            self.outcome.too_many.append(f"{what} was allowed")
        if not done and may:
            self.outcome.too_few.append(f"{what} was refused: {answer.status} {answer.text}"[:400])
        self.outcome.refused += not done
        return done

    def compare(self, what: str, found: set[str], expected: set[str]) -> None:
        self.outcome.compared += 1
        self.outcome.rows += len(found)
        self.outcome.too_many += [f"{what}: {name}" for name in sorted(found - expected)]
        self.outcome.too_few += [f"{what}: {name}" for name in sorted(expected - found)]

    # writing

    def remember(self, caller: Caller) -> None:
        self._remember(caller, next(self.texts))

    def repeat(self, caller: Caller) -> None:
        """State what somebody has stated, perhaps in private or in another team."""
        team = caller.team if self.random.random() < 0.7 else self.random.choice(self.teams)
        if not team.memories:
            return
        memory = self.random.choice(list(team.memories.values()))
        knows = {each.content for each in caller.visible().values()}
        answer = self._remember(caller, memory.content)
        if answer is not None and answer.status == 200 and memory.content not in knows:
            told = {
                key: answer.value[key] for key in ("outcome", "is_duplicate", "conflicts_with", "supersedes")
            }
            as_new = {"outcome": "stored", "is_duplicate": False, "conflicts_with": [], "supersedes": []}
            if told != as_new:
                self.outcome.too_many.append(f"repeating what is secret told {told}")

    def _remember(self, caller: Caller, content: str) -> Answer | None:
        visibility = self.random.choice([None, "private", "project", "team"])
        arguments: dict[str, Any] = {"content": content, "kind": "fact"}
        if visibility:
            arguments["visibility"] = visibility
        if self.random.random() < 0.5:
            arguments["tags"] = [self.random.choice(["red", "blue", "green"])]
        is_global = caller.project is None or (not caller.is_agent and self.random.random() < 0.1)
        if is_global:
            arguments["scope"] = "global"
        project = None if is_global else caller.project_id
        may = (
            caller.can_write
            and not (is_global and caller.is_agent)
            and caller.team.is_open(caller.person, project)
        )
        visible = caller.visible()
        answer = self.ask(caller, "remember", arguments)
        if answer.status == 200 and answer.value["id"] in visible:
            may = (
                caller.can_write
            )  # it was known already, and is confirmed: nothing is added to a closed project
        if not self.expect(f"remember {arguments} in {caller.project}", may, answer):
            return answer
        known = caller.team.memories.get(answer.value["id"])
        memory = self.learn(caller, answer.value["id"])
        if memory and known is None:
            wanted = visibility or ("project" if caller.is_agent else "private")
            if caller.is_agent and caller.person.is_flagged:
                wanted = "private"
            if (memory.visibility, memory.project) != (wanted, project):
                self.outcome.too_many.append(f"remember {arguments} became {memory}")
        return answer

    def edit(self, caller: Caller) -> None:
        memory = self.some_memory(caller)
        if memory is None or caller.as_agent or caller.token.agent:
            return
        change = self.random.choice(["content", "visibility", "tags"])
        value: Any = {
            "content": next(self.texts),
            "visibility": self.random.choice(["private", "project", "team"]),
            "tags": [self.random.choice(["red", "blue", "green"])],
        }[change]
        if value in (memory.visibility, sorted(memory.tags)):
            return  # nothing would change, which nobody is refused
        may = self._may_change(caller, memory)
        mine = memory.author == caller.person.id
        if change == "visibility" and value == "private" and not mine and memory.visibility != "private":
            may = False  # nobody takes what another person shares out of everybody's sight but their own
        answer = self.ask(caller, "edit", {"name": memory.id, change: value})
        if self.expect(
            f"edit {change} of {memory} by a {caller.person.role} in {caller.project}", may, answer
        ):
            self.keep(caller.team, known_memory(answer.value[0]))

    def forget(self, caller: Caller) -> None:
        memory = self.some_memory(caller)
        if memory is None or caller.as_agent or caller.token.agent:
            return
        operation = "forget" if memory.state == "active" else "restore"
        answer = self.ask(caller, operation, {"name": memory.id})
        if answer.status == 200 and answer.value["id"] != memory.id:
            # The caller has written that id into a memory of their own, which is found by it as by any other word.
            memory = caller.team.memories[answer.value["id"]]
        may = self._may_change(caller, memory)
        if answer.status == 409 and operation == "restore":  # a memory that they see says the same
            others = [each for each in caller.visible().values() if each.id != memory.id]
            may = not any((each.content, each.state) == (memory.content, "active") for each in others)
        who = f"{caller.person.id}, a {caller.person.role}"
        if self.expect(f"{operation} {memory} by {who}", may, answer):
            self.keep(caller.team, known_memory(answer.value))

    def touch(self, caller: Caller) -> None:
        """Do to a memory what leaves its text alone. Nothing is done to one that the caller may not see."""
        memory = self.some_memory(caller)
        other = self.some_memory(caller)
        if memory is None or other is None:
            return
        operation, arguments = self.random.choice(
            [
                ("pin", {"name": memory.id, "on": True}),
                ("feedback", {"name": memory.id, "helpful": True}),
                ("link", {"source": memory.id, "target": other.id}),
                ("unlink", {"source": memory.id, "target": other.id, "relation": "relates_to"}),
                ("note_use", {"used": [memory.id, other.id]}),
                ("links", {"name": memory.id}),
                ("similar", {"name": memory.id}),
                ("audit", {"name": memory.id}),
                ("find", {"name": memory.id}),
                ("wrong", {"name": memory.id, "because": "it is not so", "restore": True}),
            ]
        )
        answer = self.ask(caller, operation, arguments)
        named = [memory, other] if operation in ("link", "unlink") else [memory]
        is_hidden = not all(self._sees(caller, each) for each in named)
        if answer.status == 200 and is_hidden and operation not in ("note_use", "audit", "unlink"):
            self.outcome.too_many.append(f"{operation} {arguments} was allowed")
        self.outcome.refused += answer.status != 200
        if operation == "wrong" and answer.status == 200:
            self._read_states(caller.team)

    def _read_states(self, team: KnownTeam) -> None:
        """Read the states of memories from the database: one that is marked as wrong may bring back an older one."""
        with psycopg.connect(self._database) as db:
            query = "SELECT id, state FROM recollect.memories WHERE tenant = %s"
            for name, state in db.execute(query, (team.tenant,)):
                if name in team.memories:  # if not, `compare_rows` says so
                    team.memories[name].state = state

    def hide(self, caller: Caller) -> None:
        memory = self.some_memory(caller)
        if memory is None:
            return
        on = memory.id not in caller.person.hidden
        may = (
            caller.is_let_in and caller.token.can_write and not caller.is_agent and self._sees(caller, memory)
        )
        if self.expect("hide", may, self.ask(caller, "hide", {"name": memory.id, "on": on})):
            (caller.person.hidden.add if on else caller.person.hidden.discard)(memory.id)

    def restrict(self, caller: Caller) -> None:
        project = self.random.choice(PROJECTS)
        chosen = self.random.sample(caller.team.people, 2) if self.random.random() < 0.6 else None
        arguments = {"project": project, "people": [each.id for each in chosen] if chosen else None}
        known = {
            memory.project for memory in caller.team.memories.values()
        }  # a project is known when something is written in it
        name = str(project_id("", project))
        may = caller.can_write and caller.person.is_admin and not caller.is_agent
        answer = self.ask(caller, "restrict_project", arguments)
        if answer.status == 409 and name not in known:
            may = False  # nobody has used it yet
        if self.expect("restrict_project", may, answer):
            caller.team.restricted.pop(name, None)
            if chosen is not None:
                caller.team.restricted[name] = frozenset(each.id for each in chosen)

    def change_people(self, caller: Caller) -> None:
        """Give a person another role, put one in quarantine or end it, or let one leave and another join."""
        team, person = caller.team, self.random.choice(caller.team.people[2:])
        owner = team.people[0].tokens[0].secret
        is_allowed = caller.can_write and caller.person.is_admin and not caller.is_agent
        if self.random.random() < 0.4:
            on = not person.is_flagged
            answer = self.ask(caller, "flag_member", {"person": person.id, "on": on})
            if self.expect("flag_member", is_allowed, answer):
                person.is_flagged = on
            return
        if self.random.random() < 0.7:
            role = self.random.choice([Role.MEMBER, Role.READER, Role.ADMIN])
            answer = self.ask(caller, "set_role", {"person": person.id, "role": role})
            if self.expect("set_role", is_allowed, answer):
                person.role = role
            return
        self.connection.post("remove_member", owner, {"person": person.id})
        for token in person.tokens:
            if self.connection.post("whoami", token.secret, {}).status != 401:
                self.outcome.too_many.append("a token of somebody who has left was let in")
        self.attacker.old_tokens += [token.secret for token in person.tokens]
        team.people.remove(person)
        self._join(team, f"Person {self.outcome.operations}", person.role)

    # reading

    def read(self, caller: Caller) -> None:
        way = self.random.choice(
            [
                *(self._list, self._list, self._count, self._get, self._get_many, self._search, self._search),
                *(self._export, self._my_data, self._tags, self._anything, self._projects),
            ]
        )
        way(caller)

    def _list(self, caller: Caller) -> None:
        everywhere = self.random.random() < 0.4
        state = self.random.choice([None, "all"])
        arguments = {"all_projects": everywhere, **({"state": state} if state else {})}
        answer = self.ask(caller, "list", arguments)
        if not self.expect("list", caller.is_let_in, answer):
            return
        states = ALL_STATES if state else ("active",)
        expected = caller.listed(everywhere=everywhere, states=states) - caller.person.hidden
        self.compare("list", {memory["id"] for memory in answer.value}, expected)
        for memory in answer.value:
            said = {entry.get("snippet") for entry in memory["provenance"]} - {"", None}
            if said and memory["user_id"] != caller.person.id:
                self.outcome.too_many.append(f"list: what {memory['user_id']} said: {said}")

    def _count(self, caller: Caller) -> None:
        everywhere = self.random.random() < 0.4
        answer = self.ask(caller, "count", {"all_projects": everywhere})
        if self.expect("count", caller.is_let_in, answer):
            self.compare("count", {str(answer.value)}, {str(len(caller.listed(everywhere=everywhere)))})

    def _get(self, caller: Caller) -> None:
        memory = self.some_memory(caller)
        if memory is not None:
            may = caller.is_let_in and self._sees(caller, memory) and self._in_view(caller, memory)
            name = memory.id if self.random.random() < 0.7 else memory.id[-10:]
            self.expect(f"get {memory} in {caller.project}", may, self.ask(caller, "get", {"name": name}))

    def _get_many(self, caller: Caller) -> None:
        every = [memory for team in self.teams for memory in team.memories.values()]
        asked = self.random.sample(every, min(30, len(every)))
        answer = self.ask(
            caller, "get_many", {"ids": [memory.id for memory in asked]} if asked else {"ids": []}
        )
        if self.expect("get_many", caller.is_let_in, answer):
            readable = {each.id for each in asked if self._sees(caller, each) and self._in_view(caller, each)}
            self.compare("get_many", set(answer.value), readable)

    def _search(self, caller: Caller) -> None:
        memory = self.some_memory(caller)
        if memory is None or not memory.marks:
            return
        everywhere = self.random.random() < 0.4
        by_meaning = self.random.random() < 0.3
        arguments = {
            "query": " ".join(sorted(memory.marks)),
            "all_projects": everywhere,
            "meaning": by_meaning,
            "limit": 50,
        }
        answer = self.ask(caller, "search", arguments)
        if not self.expect("search", caller.is_let_in, answer):
            return
        found = {hit["memory"]["id"] for hit in answer.value["results"]}
        listed = caller.listed(everywhere=everywhere) - caller.person.hidden
        matching = {name for name in listed if caller.team.memories[name].marks & memory.marks}
        self.compare("search", found & matching, matching)
        self.compare("search", found - listed, set())

    def _export(self, caller: Caller) -> None:
        found: set[str] = set()
        where: dict[str, Any] | None = {}
        by_offset = self.random.random() < 0.3
        while where is not None:
            answer = self.ask(caller, "export", where)
            if not self.expect("export", caller.is_let_in, answer):
                return
            found |= {memory["id"] for memory in answer.value["memories"]}
            after, offset = answer.value["after"], answer.value["next"]
            where = None if offset is None else {"offset": offset} if by_offset else {"after": after}
        self.compare("export", found, caller.listed(everywhere=True, states=ALL_STATES, whole=True))

    def _my_data(self, caller: Caller) -> None:
        answer = self.ask(caller, "my_data", {})
        if self.expect("my_data", caller.may_read_own, answer):
            mine = {
                name
                for name in caller.listed(everywhere=True, states=ALL_STATES, whole=True)
                if caller.team.memories[name].author == caller.person.id
            }
            self.compare("my_data", {memory["id"] for memory in answer.value["memories"]}, mine)

    def _tags(self, caller: Caller) -> None:
        answer = self.ask(caller, "tags", {})
        if self.expect("tags", caller.is_let_in, answer):
            counted = Counter(tag for name in caller.listed() for tag in caller.team.memories[name].tags)
            found = {f"{tag['name']} {tag['count']}" for tag in answer.value if tag["count"]}
            self.compare("tags", found, {f"{name} {count}" for name, count in counted.items()})

    def _projects(self, caller: Caller) -> None:
        answer = self.ask(caller, "projects", {})
        if not self.expect("projects", caller.is_let_in, answer):
            return
        for project in answer.value:
            name, closed = project["id"], caller.team.restricted.get(project["id"])
            if closed is not None and caller.person.id not in closed and not caller.person.is_admin:
                self.outcome.too_many.append(f"projects: {project}")
            if caller.token.projects is not None and name not in caller.token.projects:
                self.outcome.too_many.append(f"projects beyond the token: {project}")

    def _anything(self, caller: Caller) -> None:
        """Ask for what has no complete model: nothing secret may be in the answer."""
        memory = self.some_memory(caller)
        text = memory.content if memory else "hello there"
        operation, arguments = self.random.choice(
            [
                ("material", {"moment": "start"}),
                ("material", {"moment": "prompt", "text": text}),
                ("conflicts", {}),
                ("gaps", {}),
                ("audit", {"limit": 1000}),
                ("changes", {"limit": 1000, "all_projects": True}),
                ("questions", {}),
                ("members", {}),
                ("people", {}),
                ("analytics", {}),
                ("erasures", {}),
                ("usage", {}),
                ("my_records", {}),
                ("tokens", {}),
                ("whoami", {}),
                ("said_before", {"session": "s1", "fingerprint": m.fingerprint(text)}),
            ]
        )
        answer = self.ask(caller, operation, arguments)
        if answer.status == 200 and not caller.is_let_in:
            self.outcome.too_many.append(f"{operation} was let in")
        if operation == "my_records" and self.expect("my_records", caller.may_read_own, answer):
            others = [row for _, row in answer.value["records"] if row.get("user_id") != caller.person.id]
            self.outcome.too_many += [f"my_records: {row}"[:300] for row in others]

    # comparing

    def some_memory(self, caller: Caller) -> KnownMemory | None:
        """Return a memory of the team, or now and then of another one."""
        team = caller.team if self.random.random() < 0.9 else self.random.choice(self.teams)
        return self.random.choice(list(team.memories.values())) if team.memories else None

    def _sees(self, caller: Caller, memory: KnownMemory) -> bool:
        return memory.id in caller.visible()

    def _in_view(self, caller: Caller, memory: KnownMemory) -> bool:
        """Whether a person's client finds it by its id from here: an agent does within its project only."""
        return not caller.is_agent or memory.project in (None, caller.project_id)

    def _may_change(self, caller: Caller, memory: KnownMemory) -> bool:
        return (
            caller.is_let_in
            and self._sees(caller, memory)
            and caller.team.may_change(caller.person, caller.token, memory)
        )

    def compare_rows(self) -> None:
        """Compare every memory in the database with the model."""
        query = "SELECT tenant, id, user_id, project_id, visibility, content, state FROM recollect.memories"
        with psycopg.connect(self._database) as db:
            rows = {f"{row}" for row in db.execute(query)}
        expected = {
            f"{(team.tenant, each.id, each.author, each.project, each.visibility, each.content, each.state)}"
            for team in self.teams
            for each in team.memories.values()
        }
        self.compare(
            "rows", {row for row in rows if any(team.tenant in row for team in self.teams)}, expected
        )

    def compare_without_a_tenant(self) -> None:
        """Read every table and partition as the server's role, without saying who asks: there is nothing to see."""
        with psycopg.connect(self._backend._pool.url, autocommit=True) as db:
            for table in ACCESS:
                query = f"SELECT count(*) FROM recollect.{table}"
                found = db.execute(query).fetchone()  # type: ignore[arg-type]
                self.compare(f"{table} without a tenant", {str(found and found[0])}, {"0"})
                try:
                    db.execute(f"SELECT count(*) FROM recollect.{table}_0")  # type: ignore[arg-type]
                    self.outcome.too_many.append(f"a partition of {table} can be read")
                except psycopg.errors.InsufficientPrivilege:
                    self.outcome.refused += 1


def _words_in(text: str) -> set[str]:
    """Return the ids and the words of memories in a text."""
    return {*_IDS.findall(text), *_LONG.findall(text)}


def known_memory(value: dict[str, Any]) -> KnownMemory:
    return KnownMemory(
        value["id"],
        value["user_id"],
        value["project_id"],
        value["visibility"],
        value["content"],
        frozenset(value["tags"]),
        value["state"],
        bool(value.get("branch")) or value["scope"] == "session",
    )


def server_of(backend: PostgresTeam, home: Path) -> TeamApp:
    return build(backend, load_settings(home), WordVectors(), NO_LIMITS)


class RunningServer:
    """A team server in a thread of this process, on a port of its own."""

    def __init__(self, app: TeamApp) -> None:
        self._server = TeamServer(app, Listening(port=0))
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self.port = self._server.port

    def __enter__(self) -> "RunningServer":
        self._thread.start()
        while not self._server.started:
            time.sleep(0.002)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()
        self._thread.join(10)


def run(operations: int = 10_000, teams: int = 20, seed: int = 1) -> dict[str, Any]:
    server = LocalPostgres()
    try:
        server.create()
        server.start()
        server.prepare()
        backend = PostgresTeam(server.url(SERVER))
        with tempfile.TemporaryDirectory() as home, RunningServer(server_of(backend, Path(home))) as running:
            trial = Trial(backend, running.port, server.url("postgres"), teams, seed)
            outcome = trial.run(operations)
            trial.close()
        backend.close()
    finally:
        server.stop()
    return {"teams": teams, "people": teams * PEOPLE, **asdict(outcome)}


def show(figures: dict[str, Any]) -> None:
    print(
        f"{figures['teams']} teams, {figures['people']} people, {figures['operations']:,} operations through the interface:"
        f" {figures['compared']:,} answers with {figures['rows']:,} rows compared, {figures['refused']:,} refused,"
        f" {figures['forged']:,} forged; {len(figures['too_many'])} rows too many, {len(figures['too_few'])} too few,"
        f" {len(figures['server_errors'])} server errors"
    )
    for line in [*figures["too_many"][:10], *figures["too_few"][:10], *figures["server_errors"][:10]]:
        print(f"  {line}")
