"""People, invitations, tokens, consents and erasure, in PostgreSQL.

The directory works as the tenant's service, which sees the people and tokens of that tenant only. What someone signs in
with is looked up by its hash, before any tenant is known: that transaction can read this one row and no other.
"""

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import recollect.model as m
from recollect.errors import Refused
from recollect.model.team import (
    CONSENT,
    EMBEDDINGS,
    Erased,
    Erasure,
    Identity,
    Invite,
    Person,
    Retention,
    Role,
    TeamProject,
    Token,
)
from recollect.store.postgres.connection import (
    PEOPLE,
    Connection,
    Database,
    Pool,
    by_secret,
    number,
    translated,
)

_TOKEN_COLUMNS = "id, tenant, user_id, name, hash, created_at, agent, actions, projects, expires_at, last_used_at, revoked_at"
_INVITE_COLUMNS = "id, tenant, name, role, hash, invited_by, created_at, expires_at, accepted_at"
_PERSON_COLUMNS = "tenant, user_id, name, role, created_at, is_new, removed_at"
_ID = re.compile(r"[0-9a-z]{18}")
_NOT_AGREED = (
    "SELECT name FROM consents WHERE user_id = %s GROUP BY name HAVING bool_and(revoked_at IS NOT NULL)"
)
# What is a person's and is deleted when they are erased, in an order in which nothing refers to what is gone. The audit
# log keeps their opaque id.
_OF_PERSON = (
    "snippets",
    "memories",
    "links",
    "clusters",
    "tags",
    "settings",
    "gaps",
    "reviews",
    "change_parts",
    "changes",
    "session_events",
    "findings",
    "sessions",
    "message_vectors",
    "messages",
    "delivered_items",
    "deliveries",
    "measures",
    "timings",
    "sidecar_calls",
    "hidden_memories",
    "answers",
    "usage",
    "consents",
    "tokens",
    "identities",
    "project_members",
    "people",
)

# Columns that a person's export does without: hashes of secrets, vectors, packed images and copies of answers.
_LEFT_OUT = ("tenant", "hash", "vector", "centroid", "rows", "answer")


class PostgresDirectory:
    """Implements `Directory`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def _service(self, tenant: str) -> Database:
        return Database(self._pool, Identity(tenant, "", "", Role.SERVICE))

    @contextlib.contextmanager
    def _changing_people(self, tenant: str) -> Iterator[Connection]:
        """Open a transaction after which every server asks again who its callers are."""
        database = self._service(tenant)
        with database.writing() as db:
            yield db
            database.notify(PEOPLE)

    # teams and people

    def create_team(self, name: str, owner: str, at: datetime) -> Person:
        person = Person(m.new_id(at), m.new_id(at), owner, Role.OWNER, at)
        with self._service(person.tenant).writing() as db:
            db.execute(
                "INSERT INTO tenants (tenant, name, created_at) VALUES (%s, %s, %s)",
                (person.tenant, name, m.to_text(at)),
            )
            _put_person(db, person)
        return person

    def tenants(self) -> list[str]:
        with self._service("").reading() as db:
            return [str(row[0]) for row in db.execute("SELECT tenant FROM tenants ORDER BY tenant")]

    def team_name(self, tenant: str) -> str:
        with self._service(tenant).reading() as db:
            row = db.execute("SELECT name FROM tenants").fetchone()
        return str(row[0]) if row else ""

    def retention(self, tenant: str) -> Retention:
        with self._service(tenant).reading() as db:
            row = db.execute("SELECT retention FROM tenants").fetchone()
        return Retention(**json.loads(row[0])) if row else Retention()

    def set_retention(self, tenant: str, retention: Retention) -> None:
        with self._service(tenant).writing() as db:
            db.execute("UPDATE tenants SET retention = %s", (m.dumps(retention),))

    def people(self, tenant: str) -> list[Person]:
        query = f"SELECT {_PERSON_COLUMNS} FROM people ORDER BY created_at, user_id"
        with self._service(tenant).reading() as db:
            return [_person(row) for row in db.execute(query)]

    def set_role(self, tenant: str, user: str, role: Role) -> None:
        if role is Role.SERVICE:
            raise Refused("No person can have the role of the server.", "Use owner, admin, member or reader.")
        with self._changing_people(tenant) as db:
            if role is not Role.OWNER:
                _refuse_last_owner(db, user)
            db.execute("UPDATE people SET role = %s WHERE user_id = %s", (role, user))
            _withdraw_invites(db, user, role)

    def flag(self, tenant: str, user: str, on: bool) -> None:
        with self._changing_people(tenant) as db:
            db.execute("UPDATE people SET is_new = %s WHERE user_id = %s", (on, user))
            if on:  # others are told no more of what sessions of theirs have found
                db.execute("UPDATE sessions SET shared = false WHERE user_id = %s AND shared", (user,))

    def remove(self, tenant: str, user: str, at: datetime) -> None:
        with self._changing_people(tenant) as db:
            _refuse_last_owner(db, user)
            then = m.to_text(at)
            db.execute(
                "UPDATE people SET removed_at = %s WHERE user_id = %s AND removed_at IS NULL", (then, user)
            )
            db.execute(
                "UPDATE tokens SET revoked_at = %s WHERE user_id = %s AND revoked_at IS NULL", (then, user)
            )
            _withdraw_invites(db, user, None)

    # invitations

    def invite(self, invite: Invite) -> None:
        row = (invite.id, invite.name, invite.role, invite.code_hash, invite.invited_by)
        times = (m.to_text(invite.created_at), m.to_text(invite.expires_at))
        with self._service(invite.tenant).writing() as db:
            db.execute(
                "INSERT INTO invites (id, name, role, hash, invited_by, created_at, expires_at)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s)",
                (*row, *times),
            )

    def invites(self, tenant: str) -> list[Invite]:
        query = f"SELECT {_INVITE_COLUMNS} FROM invites WHERE accepted_at IS NULL ORDER BY id DESC"
        with self._service(tenant).reading() as db:
            return [_invite(row) for row in db.execute(query)]

    def withdraw_invite(self, tenant: str, invite: str) -> bool:
        with self._service(tenant).writing() as db:
            query = "DELETE FROM invites WHERE id = %s AND accepted_at IS NULL"
            return db.execute(query, (invite,)).rowcount > 0

    def accept(self, code_hash: str, at: datetime, identity: str | None = None) -> Person | None:
        with self._by_secret(code_hash) as db:
            found = db.execute(f"SELECT {_INVITE_COLUMNS} FROM invites").fetchone()
        if found is None:
            return None
        invite = _invite(found)
        with self._service(invite.tenant).writing() as db:
            used = db.execute(
                "UPDATE invites SET accepted_at = %s, name = '' WHERE id = %s AND accepted_at IS NULL AND expires_at > %s",
                (m.to_text(at), invite.id, m.to_text(at)),
            )
            if not used.rowcount:
                return None
            person = Person(invite.tenant, m.new_id(at), invite.name, invite.role, at, is_flagged=True)
            _put_person(db, person)
            if identity is not None:
                _link_identity(db, identity, person.id, at)
        return person

    def linked(self, identity: str) -> Person | None:
        with self._by_secret(identity) as db:
            found = db.execute("SELECT tenant, user_id FROM identities ORDER BY created_at DESC").fetchall()
        for tenant, user in found:
            with self._service(tenant).reading() as db:
                query = f"SELECT {_PERSON_COLUMNS} FROM people WHERE user_id = %s AND removed_at IS NULL"
                if (row := db.execute(query, (user,)).fetchone()) is not None:
                    return _person(row)
        return None

    # tokens

    def put_token(self, token: Token) -> None:
        row = (
            token.id,
            token.user,
            token.name,
            token.hash,
            token.agent,
            m.dumps(sorted(token.actions)),
            None if token.projects is None else m.dumps(sorted(token.projects)),
            m.to_text(token.created_at),
            _text(token.expires_at),
        )
        with self._service(token.tenant).writing() as db:
            db.execute(
                "INSERT INTO tokens (id, user_id, name, hash, agent, actions, projects, created_at, expires_at)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
                row,
            )

    def identify(self, token_hash: str, at: datetime) -> Identity | None:
        with self._by_secret(token_hash) as db:
            found = db.execute(f"SELECT {_TOKEN_COLUMNS} FROM tokens").fetchone()
        if found is None:
            return None
        token = _token(found)
        if token.revoked_at is not None or (token.expires_at is not None and token.expires_at <= at):
            return None
        with self._service(token.tenant).reading() as db:
            query = f"SELECT {_PERSON_COLUMNS} FROM people WHERE user_id = %s AND removed_at IS NULL"
            row = db.execute(query, (token.user,)).fetchone()
            refused = {name for (name,) in db.execute(_NOT_AGREED, (token.user,))}
        if row is None:
            return None
        person = _person(row)
        return Identity(
            token.tenant,
            token.user,
            person.name,
            person.role,
            token.agent,
            token.projects,
            token.actions,
            token.id,
            person.is_flagged,
            agrees=CONSENT not in refused,
            embeds=EMBEDDINGS not in refused,
        )

    def tokens(self, tenant: str, user: str | None = None) -> list[Token]:
        query = (
            f"SELECT {_TOKEN_COLUMNS} FROM tokens WHERE (%s::text IS NULL OR user_id = %s) ORDER BY id DESC"
        )
        with self._service(tenant).reading() as db:
            return [_token(row) for row in db.execute(query, (user, user))]

    def revoke(self, tenant: str, token: str, at: datetime) -> bool:
        with self._changing_people(tenant) as db:
            query = "UPDATE tokens SET revoked_at = %s WHERE id = %s AND revoked_at IS NULL"
            return db.execute(query, (m.to_text(at), token)).rowcount > 0

    def touch(self, tenant: str, token: str, at: datetime) -> None:
        with self._service(tenant).writing() as db:
            db.execute("UPDATE tokens SET last_used_at = %s WHERE id = %s", (m.to_text(at), token))

    # projects

    def projects(self, tenant: str) -> list[TeamProject]:
        query = (
            "SELECT p.id, p.name, EXISTS (SELECT 1 FROM restricted_projects r WHERE r.project_id = p.id),"
            " ARRAY(SELECT u.user_id::text FROM project_members u WHERE u.project_id = p.id)"
            ' FROM projects p ORDER BY p.name COLLATE "C", p.id'
        )
        with self._service(tenant).reading() as db:
            return [
                TeamProject(name, title, frozenset(members) if restricted else None)
                for name, title, restricted, members in db.execute(query)
            ]

    def restrict(self, tenant: str, project: str, members: frozenset[str] | None) -> None:
        with self._changing_people(tenant) as db:
            db.execute("DELETE FROM project_members WHERE project_id = %s", (project,))
            db.execute("DELETE FROM restricted_projects WHERE project_id = %s", (project,))
            if members is not None:
                db.execute("INSERT INTO restricted_projects (project_id) VALUES (%s)", (project,))
                db.cursor().executemany(
                    "INSERT INTO project_members (project_id, user_id) VALUES (%s, %s)",
                    [(project, user) for user in sorted(members)],
                )
            db.execute(  # what someone sees has changed: whoever has read the change feed reads all again
                "INSERT INTO change (seq, purge) VALUES (1, 1) ON CONFLICT (tenant) DO UPDATE"
                " SET seq = change.seq + 1, purge = change.purge + 1"
            )

    # what people decide for themselves

    def hide(self, tenant: str, user: str, memory: str, on: bool) -> None:
        with self._service(tenant).writing() as db:
            if on:
                query = "INSERT INTO hidden_memories (user_id, memory) VALUES (%s, %s) ON CONFLICT DO NOTHING"
            else:
                query = "DELETE FROM hidden_memories WHERE user_id = %s AND memory = %s"
            db.execute(query, (user, memory))

    def consent(self, tenant: str, user: str, what: str, on: bool, at: datetime) -> None:
        then = m.to_text(at)
        with self._changing_people(tenant) as db:
            which = "user_id = %s AND name = %s AND revoked_at IS NULL"
            if not on:
                revoked = db.execute(f"UPDATE consents SET revoked_at = %s WHERE {which}", (then, user, what))
                if not revoked.rowcount:  # a refusal is recorded too
                    query = (
                        "INSERT INTO consents (user_id, name, at, revoked_at) VALUES (%s, %s, %s, %s)"
                        " ON CONFLICT DO NOTHING"
                    )
                    db.execute(query, (user, what, then, then))
            elif not number(db, f"SELECT count(*) FROM consents WHERE {which}", (user, what)):
                query = (
                    "INSERT INTO consents (user_id, name, at) VALUES (%s, %s, %s)"
                    " ON CONFLICT (tenant, user_id, name, at) DO UPDATE SET revoked_at = NULL"
                )
                db.execute(query, (user, what, then))

    def consents(self, tenant: str, user: str) -> dict[str, datetime]:
        query = "SELECT name, at FROM consents WHERE user_id = %s AND revoked_at IS NULL ORDER BY name"
        with self._service(tenant).reading() as db:
            return {str(name): m.from_text(at) for name, at in db.execute(query, (user,))}

    # quotas

    def count_use(self, tenant: str, user: str, period: str, name: str, count: int = 1) -> int:
        query = (
            "INSERT INTO usage (user_id, period, name, count) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (tenant, user_id, period, name) DO UPDATE SET count = usage.count + excluded.count"
            " RETURNING count"
        )
        with self._service(tenant).writing() as db:
            return number(db, query, (user, period, name, count))

    # analytics

    def unanswered(self, tenant: str, since: datetime, limit: int) -> list[tuple[str, str | None, str]]:
        query = (
            "SELECT user_id, project_id, context FROM gaps WHERE created_at >= %s ORDER BY id DESC LIMIT %s"
        )
        with self._service(tenant).reading() as db:
            found = db.execute(query, (m.to_text(since), limit))
            return [(str(user), project, str(question)) for user, project, question in found]

    # what is stored of a person

    def records(self, tenant: str, user: str, offset: int, limit: int) -> list[tuple[str, dict[str, Any]]]:
        tables = " UNION ALL ".join(
            f"SELECT '{table}' AS place, to_jsonb(t) - %(left_out)s::text[] AS row FROM {table} t WHERE user_id = %(user)s"
            for table in sorted({*_OF_PERSON, "audit", "erasures"} - {"memories"})
        )
        query = (
            f"SELECT place, row FROM ({tables}) r ORDER BY place, row::text LIMIT %(limit)s OFFSET %(offset)s"
        )
        given = {"user": user, "left_out": list(_LEFT_OUT), "limit": limit, "offset": offset}
        with self._service(tenant).reading() as db:
            return [(str(place), dict(row)) for place, row in db.execute(query, given)]

    # erasure

    def request_erasure(self, tenant: str, user: str, at: datetime, due: datetime) -> None:
        with self._service(tenant).writing() as db:
            _refuse_last_owner(db, user)
            db.execute(
                "INSERT INTO erasures (user_id, requested_at, due_at) VALUES (%s, %s, %s)"
                " ON CONFLICT (tenant, user_id) DO UPDATE SET requested_at = excluded.requested_at,"
                " due_at = excluded.due_at",
                (user, m.to_text(at), m.to_text(due)),
            )

    def withdraw_erasure(self, tenant: str, user: str) -> bool:
        with self._service(tenant).writing() as db:
            query = "DELETE FROM erasures WHERE user_id = %s AND done_at IS NULL"
            return db.execute(query, (user,)).rowcount > 0

    def due_erasures(self, tenant: str, now: datetime) -> list[str]:
        query = "SELECT user_id FROM erasures WHERE done_at IS NULL AND due_at <= %s ORDER BY user_id"
        with self._service(tenant).reading() as db:
            return [str(row[0]) for row in db.execute(query, (m.to_text(now),))]

    def erasures(self, tenant: str, user: str | None = None) -> list[Erasure]:
        query = (
            "SELECT user_id, requested_at, due_at, done_at, erased FROM erasures"
            " WHERE (%s::text IS NULL OR user_id = %s) ORDER BY requested_at DESC, user_id"
        )
        with self._service(tenant).reading() as db:
            return [
                Erasure(who, m.from_text(at), m.from_text(due), _time(done), json.loads(erased))
                for who, at, due, done, erased in db.execute(query, (user, user))
            ]

    def erase(self, tenant: str, user: str, at: datetime) -> Erased:
        rows: dict[str, int] = {}
        with self._changing_people(tenant) as db:
            _refuse_last_owner(db, user)
            # Undo images of others may hold rows of theirs: changes that touched one can no longer be undone.
            rows["undo images"] = _drop_undo_images(db, user)
            rows["texts told to agents"] = _erase_told(db, user)
            rows["answers to others"] = _erase_answers(db, user)
            _withdraw_invites(db, user, None)
            for table in _OF_PERSON:
                rows[table] = db.execute(f"DELETE FROM {table} WHERE user_id = %s", (user,)).rowcount
            db.execute(
                "UPDATE change SET seq = seq + 1, purge = purge + 1, message_purge = message_purge + 1"
            )
            counted = {name: count for name, count in rows.items() if count}
            db.execute(
                "INSERT INTO erasures (user_id, requested_at, due_at, done_at, erased) VALUES (%s, %s, %s, %s, %s)"
                " ON CONFLICT (tenant, user_id) DO UPDATE SET done_at = excluded.done_at, erased = excluded.erased",
                (user, *[m.to_text(at)] * 3, m.dumps(counted)),
            )
        return Erased(user, counted)

    @contextlib.contextmanager
    def _by_secret(self, secret_hash: str) -> Iterator[Connection]:
        """Open a transaction that sees the one row with this hash, of whatever tenant."""
        with translated(), self._pool.transaction(by_secret(secret_hash)) as db:
            yield db


def _drop_undo_images(db: Connection, user: str) -> int:
    """Delete the parts of other people's changes that hold a row of the person, or name a memory of theirs; return how many.

    The reason of a link quotes both memories.
    """
    from recollect.store.row_snapshots import packed_text, unpack

    theirs = db.execute("SELECT num, id FROM memories WHERE user_id = %s", (user,)).fetchall()
    nums, names = {row[0] for row in theirs}, {row[1] for row in theirs}
    dropped = 0
    parts = db.execute("SELECT change, part, rows FROM change_parts WHERE user_id <> %s", (user,)).fetchall()
    for change, part, packed in parts:
        named = not names.isdisjoint(_ID.findall(packed_text(packed)))
        held = unpack(packed, user)
        if named or any(row.memory_num in nums or (row.before or {}).get("user_id") == user for row in held):
            query = "DELETE FROM change_parts WHERE change = %s AND part = %s"
            dropped += db.execute(query, (change, part)).rowcount
    return dropped


def _erase_told(db: Connection, user: str) -> int:
    """Delete texts that agents of others were told from the person's memories; return how many."""
    keys = "SELECT m.id FROM memories m WHERE m.user_id = %s"
    told = f"id IN (SELECT delivery FROM delivered_items WHERE key IN ({keys})) AND text <> ''"
    count = db.execute(f"UPDATE deliveries SET text = '' WHERE {told}", (user,)).rowcount
    db.execute(f"DELETE FROM delivered_items WHERE key IN ({keys})", (user,))
    return count


def _erase_answers(db: Connection, user: str) -> int:
    """Empty the kept answers to others that name the person or a memory of theirs; return how many.

    What is left of one still says that the request was run.
    """
    names = {row[0] for row in db.execute("SELECT id FROM memories WHERE user_id = %s", (user,))} | {user}
    kept = db.execute("SELECT user_id, key, answer FROM answers WHERE user_id <> %s", (user,)).fetchall()
    emptied = [
        (m.dumps([json.loads(answer)[0], None]), other, key)
        for other, key, answer in kept
        if not names.isdisjoint(_ID.findall(answer))
    ]
    db.cursor().executemany("UPDATE answers SET answer = %s WHERE user_id = %s AND key = %s", emptied)
    return len(emptied)


def _refuse_last_owner(db: Connection, user: str) -> None:
    owners = [
        row[0] for row in db.execute("SELECT user_id FROM people WHERE role = 'owner' AND removed_at IS NULL")
    ]
    if owners == [user]:
        raise Refused("The last owner of a team cannot leave.", "Make somebody else an owner first.")


def _withdraw_invites(db: Connection, user: str, role: Role | None) -> None:
    """Withdraw the unused invitations that a person could no longer make: they might use one themselves."""
    if role is Role.OWNER:
        return
    query = "DELETE FROM invites WHERE invited_by = %s AND accepted_at IS NULL"
    kept = " AND role = 'owner'" if role is Role.ADMIN else ""
    db.execute(query + kept, (user,))


def _link_identity(db: Connection, identity: str, user: str, at: datetime) -> None:
    """Let a person sign in with an identity, which somebody who has left may have used. Raise `Refused` if somebody uses it."""
    query = (
        "SELECT count(*) FROM identities i JOIN people p ON p.user_id = i.user_id"
        " WHERE i.hash = %s AND p.removed_at IS NULL"
    )
    if number(db, query, (identity,)):
        raise Refused("Somebody in this team signs in with this identity already.", "Sign in without --code.")
    db.execute("DELETE FROM identities WHERE hash = %s", (identity,))
    db.execute(
        "INSERT INTO identities (hash, user_id, created_at) VALUES (%s, %s, %s)",
        (identity, user, m.to_text(at)),
    )


def _put_person(db: Connection, person: Person) -> None:
    db.execute(
        "INSERT INTO people (user_id, name, role, created_at, is_new) VALUES (%s, %s, %s, %s, %s)",
        (person.id, person.name, person.role, m.to_text(person.joined_at), person.is_flagged),
    )


def _person(row: Sequence[Any]) -> Person:
    tenant, user, name, role, joined, flagged, left = row
    return Person(tenant, user, name, Role(role), m.from_text(joined), flagged, _time(left))


def _invite(row: Sequence[Any]) -> Invite:
    name, tenant, person, role, code_hash, by, created, expires, used = row
    return Invite(
        name,
        tenant,
        person,
        Role(role),
        code_hash,
        by,
        m.from_text(created),
        m.from_text(expires),
        _time(used),
    )


def _token(row: Sequence[Any]) -> Token:
    name, tenant, user, title, token_hash, created, agent, actions, projects, *times = row
    return Token(
        name,
        tenant,
        user,
        title,
        token_hash,
        m.from_text(created),
        agent,
        frozenset(json.loads(actions)),
        None if projects is None else frozenset(json.loads(projects)),
        *map(_time, times),
    )


def _time(text: str | None) -> datetime | None:
    return m.from_text(text) if text else None


def _text(when: datetime | None) -> str | None:
    return m.to_text(when) if when else None
