"""A member of a team who forges requests: ids of others in every field, SQL in every text, tokens, headers, keys and offsets."""

from typing import TYPE_CHECKING, Any

import recollect.model as m
from bench.team.model_of_teams import place
from recollect.remote.operations import OPERATIONS
from recollect.remote.secrets import hash_of

if TYPE_CHECKING:
    from bench.team.interface import Caller, Trial

SQL = [
    "'; DROP TABLE memories; --",
    "' OR tenant <> '",
    "' OR '1'='1",
    "%s",
    "%(tenant)s",
    "$1",
    "\\'); SELECT set_config('recollect.tenant', 'x', true); --",
    "{recollect}",
    '"}, "tenant": "x"',
]
ODD = [
    "\x00",
    "\ud800",
    "%",
    "_",
    "*",
    ".",
    "-1",
    "both",
    "all",
    "service",
    "agent:team",
    "../../x",
    "😀" * 50,
    "x" * 5000,
]
NUMBERS = [-1, 0, 1, 10**6, 2**31, 2**63, 10**30, 0.5, -0.5]
HEADERS = [
    "recollect-tenant",
    "recollect-user",
    "recollect-role",
    "recollect.tenant",
    "x-tenant",
    "x-user",
    "x-forwarded-user",
    "x-remote-user",
    "x-original-url",
    "cookie",
]
LEAVES = {"leave", "erase_me"}  # what only the attacker would suffer from


class Attacker:
    """Sends what no client of ours would send, with the token of an ordinary member, or with none."""

    def __init__(self, trial: "Trial") -> None:
        self._trial = trial
        self._random = trial.random
        self.old_tokens: list[str] = []  # of people who have left

    def _victims(self, caller: "Caller") -> list[str]:
        """Return ids that the caller should know nothing of: memories, people, tenants and what belongs to them."""
        other = self._random.choice(self._trial.teams)
        secret = [memory.id for name, memory in other.memories.items() if name not in caller.visible()]
        chosen = self._random.sample(secret, min(3, len(secret)))
        if other is caller.team:
            return chosen
        people = [person.id for person in other.people]
        return [*chosen, *(name[-8:] for name in chosen), *people, other.tenant]

    def forge_arguments(self, caller: "Caller") -> None:
        """Call any operation with forged values in all its fields."""
        if caller.person.is_admin or not caller.is_let_in:
            return
        operation = self._random.choice([name for name in OPERATIONS if name not in LEAVES])
        victims = self._victims(caller) or ["nobody"]
        schema = OPERATIONS[operation].arguments.model_json_schema()
        arguments = self._value(schema, schema.get("$defs", {}), victims)
        self._trial.outcome.forged += 1
        self._trial.outcome.by_operation[f"forged {operation}"] += 1
        answer = self._trial.ask(caller, operation, arguments)
        if answer.status == 200:
            self._keep_own(caller)

    def _keep_own(self, caller: "Caller") -> None:
        """Bring the model up to date with what the attacker has written in their own name, which is no crime."""
        from bench.team.interface import known_memory

        token = caller.person.tokens[0].secret
        answer = self._trial.connection.post("my_data", token, {}, place(caller.project))
        for value in answer.value.get("memories", ()):
            self._trial.keep(caller.team, known_memory(value), m.dumps(value))
        hidden = [name for name in caller.team.memories if name in caller.person.hidden]
        caller.person.hidden = set(hidden)

    def _value(self, schema: dict[str, Any], known: dict[str, Any], victims: list[str]) -> Any:
        """Return a forged value of a JSON schema: of the right type mostly, so that it gets far."""
        if "$ref" in schema:
            return self._value(known[schema["$ref"].rpartition("/")[2]], known, victims)
        if "anyOf" in schema:
            return self._value(self._random.choice(schema["anyOf"]), known, victims)
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        kind = schema.get("type")
        if kind == "object":
            fields = schema.get("properties", {})
            needed = set(schema.get("required", ()))
            chosen = {
                name: self._value(field, known, victims)
                for name, field in fields.items()
                if name in needed or self._random.random() < 0.4
            }
            if not fields or self._random.random() < 0.02:
                names = [
                    "id",
                    "user_id",
                    "tenant",
                    "num",
                    "content",
                    "project_id",
                    "visibility",
                    "created_by",
                ]
                chosen |= {name: self._text(victims) for name in self._random.sample(names, 4)}
            return chosen
        if kind in ("array",):
            item = schema.get("items") or (schema.get("prefixItems") or [{"type": "string"}])[0]
            return [self._value(item, known, victims) for _ in range(self._random.randrange(4))]
        if kind == "boolean":
            return self._random.random() < 0.5
        if kind in ("integer", "number"):
            return self._random.choice(NUMBERS)
        if kind == "null":
            return None
        if schema.get("format") == "date-time":
            return self._random.choice(
                ["2026-01-01T00:00:00Z", "0001-01-01T00:00:00", "9999-12-31T23:59:59+14:00"]
            )
        return self._text(victims)

    def _text(self, victims: list[str]) -> str:
        kind = self._random.random()
        if kind < 0.5:
            return self._random.choice(victims)
        if kind < 0.8:
            return self._random.choice(SQL) + self._random.choice(["", self._random.choice(victims)])
        return self._random.choice(ODD)

    def forge_token(self, caller: "Caller") -> None:
        """Call an operation with something that is no valid token."""
        real = caller.token.secret
        forged = self._random.choice(
            [
                "",
                real[:-1],
                real + "A",
                real[:-1] + ("A" if real[-1] != "A" else "B"),
                real.swapcase(),
                hash_of(real),
                "rct_" + hash_of(real),
                f"{real},{real}",
                "rct_' OR '1'='1",
                "rct_" + "A" * 43,
                "rct_" + "A" * 10_000,
                caller.team.tenant,
                *self.old_tokens[-3:],
            ]
        )
        self._trial.outcome.forged += 1
        answer = self._trial.connection.post("export", forged, {}, place(caller.project))
        if answer.status not in (401, 431):
            self._trial.outcome.too_many.append(
                f"the token {forged[:20]!r} was answered with {answer.status}"
            )

    def forge_headers(self, caller: "Caller") -> None:
        """List memories with headers and fields that claim to be somebody else."""
        other = self._random.choice(self._trial.teams)
        victim = self._random.choice(other.people)
        claims = {
            name: self._random.choice([other.tenant, victim.id, "owner", "service", "'; RESET ALL; --"])
            for name in self._random.sample(HEADERS, 3)
        }
        if self._random.random() < 0.3:
            claims["recollect-actor"] = self._random.choice(["service", "user", f"user:{victim.id}", "admin"])
        self._trial.outcome.forged += 1
        plain = type(caller)(caller.team, caller.person, caller.token, caller.project)
        answer = self._trial.ask(plain, "list", {"all_projects": True}, claims)
        if answer.status == 200:
            expected = plain.listed(everywhere=True) - caller.person.hidden
            found = {memory["id"] for memory in answer.value}
            self._trial.compare(f"list with claims {claims}", found, expected)
        elif plain.is_let_in:
            self._trial.outcome.too_few.append(f"list with claims: {answer.text}"[:300])
        extra = self._trial.connection.post(
            "list", caller.token.secret, {}, place(caller.project), tenant=other.tenant, user=victim.id
        )
        if extra.status == 200:
            self._trial.outcome.too_many.append("a body that names a tenant was accepted")

    def repeat_key(self, caller: "Caller") -> None:
        """Send the request of another person again, with their idempotency key: it is not their answer that comes."""
        other = self._random.choice(self._trial.teams)
        victim = self._random.choice(other.people)
        secret = next(self._trial.texts)
        arguments = {"content": secret, "visibility": "private"}
        key = {"idempotency-key": f"key-{self._random.randrange(10)}-{self._trial.outcome.operations}"}
        where = type(caller)(other, victim, victim.tokens[0], None)
        first = self._trial.ask(where, "remember", arguments, key)
        if first.status == 200:
            self._trial.learn(where, first.value["id"])
        if first.status != 200 or victim is caller.person:
            return
        self._trial.outcome.forged += 1
        full = type(caller)(caller.team, caller.person, caller.person.tokens[0], None)
        again = self._trial.ask(full, "remember", arguments, key)
        if again.status == 200:
            if again.value["id"] == first.value["id"]:
                self._trial.outcome.too_many.append("the answer to another person's key")
            self._trial.learn(full, again.value["id"])
