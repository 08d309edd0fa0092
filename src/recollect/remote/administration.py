"""Operations for people, tokens and projects. They belong to the table in `operations`."""

from datetime import datetime, timedelta
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

import recollect.model as m
from recollect.errors import OutOfScope, Refused, UnknownName
from recollect.model.team import (
    ACTIONS,
    ADMIN,
    READ,
    WRITE,
    Erasure,
    Invite,
    Person,
    Retention,
    Role,
    TeamProject,
    Token,
)
from recollect.remote.operations import MOST, Call, Name, Names, Short, operation
from recollect.remote.results import (
    Adopted,
    IssuedToken,
    LinkPage,
    MemoryPage,
    MyData,
    NewInvite,
    RecordPage,
    WhoAmI,
)
from recollect.remote.secrets import CODE_PREFIX, new_secret

INVITE_DAYS = 7
GRACE = timedelta(days=30)  # in which a person can change their mind about being erased
PAGE = 500  # memories in one answer
ADOPTED = 100  # memories in one request
LONGEST_DAYS = 3650
GIVEN_ROLES = (Role.OWNER, Role.ADMIN, Role.MEMBER, Role.READER)
Consent = Annotated[str, Field(pattern=r"^[a-z]{1,40}$")]  # a word of ours
Offset = Annotated[int, Field(ge=0, le=1_000_000_000)]
TokenName = Annotated[str, Field(min_length=4, max_length=200)]  # less could name another one by mistake
Days = Annotated[int, Field(ge=1, le=LONGEST_DAYS)]


@operation(READ)
def whoami(call: Call) -> WhoAmI:
    """Return who the token is, and what it may do."""
    me = call.identity
    return WhoAmI(
        me.tenant,
        call.directory.team_name(me.tenant),
        me.user,
        me.name,
        me.role,
        me.agent,
        tuple(sorted(me.actions)),
        None if me.projects is None else tuple(sorted(me.projects)),
        call.directory.consents(me.tenant, me.user),
        me.token,
    )


@operation(READ)
def usage(call: Call) -> dict[str, tuple[int, int]]:
    """Return how much you and the team have written today, and the limits; 0 = no limit."""
    return call.quotas.used(call.identity)


@operation(READ)
def members(call: Call, left: bool = False) -> tuple[Person, ...]:
    """Return the people in the team, in the order they joined; or for an admin those who have left."""
    if left and not _is_admin(call):
        raise OutOfScope("Only an admin sees who has left.", "Ask an admin of your team.")
    people = call.directory.people(call.identity.tenant)
    return tuple(person for person in people if (person.left_at is not None) == left)


@operation(ADMIN, directory=True, secret=True)
def invite(call: Call, name: Name, role: Role = Role.MEMBER, days: Days = INVITE_DAYS) -> NewInvite:
    """Invite a person. The code in the answer works once, and is stored nowhere."""
    _may_give(call, role)
    code, hashed = new_secret(CODE_PREFIX)
    at = _now(call)
    made = Invite(
        m.new_id(at),
        call.identity.tenant,
        name,
        role,
        hashed,
        call.identity.user,
        at,
        at + timedelta(days=min(days, 90)),
    )
    call.directory.invite(made)
    return NewInvite(made.id, made.name, made.role, made.expires_at, code)


@operation(ADMIN, directory=True)
def withdraw_invite(call: Call, name: Name) -> None:
    """Withdraw an invitation that nobody has used, by its id or by the name of whom it is for."""
    tenant = call.identity.tenant
    found = [each for each in call.directory.invites(tenant) if name in (each.id, each.name)]
    if not found:
        raise Refused(f"No unused invitation is for {name!r}.", "Run `recollect team members`.")
    for each in found:
        _may_give(call, each.role)
    for each in found:
        call.directory.withdraw_invite(tenant, each.id)


@operation(ADMIN, directory=True)
def set_role(call: Call, person: Name, role: Role) -> None:
    """Change the role of a person. Only an owner makes owners."""
    found = _person(call, person)
    _may_give(call, role)
    _may_give(call, found.role)
    call.directory.set_role(call.identity.tenant, found.id, role)


@operation(ADMIN, directory=True)
def flag_member(call: Call, person: Name, on: bool = True) -> None:
    """Keep what a person's agents write from the others until it is reviewed, or no longer."""
    call.directory.flag(call.identity.tenant, _person(call, person).id, on)


@operation(ADMIN, directory=True)
def remove_member(call: Call, person: Name) -> None:
    """Let a person leave the team. All their tokens end at once; what they shared stays."""
    found = _person(call, person)
    _may_give(call, found.role)
    call.directory.remove(call.identity.tenant, found.id, _now(call))


@operation(WRITE, directory=True, personal=True)
def leave(call: Call) -> None:
    """Leave the team. The last owner cannot."""
    _only_people(call)
    call.directory.remove(call.identity.tenant, call.identity.user, _now(call))


@operation(READ)
def tokens(call: Call, everybody: bool = False) -> tuple[IssuedToken, ...]:
    """Return your own tokens, or for an admin those of everybody, newest first; never the secrets."""
    me = call.identity
    if everybody and not _is_admin(call):
        raise OutOfScope("Only an admin sees the tokens of others.", "Ask an admin of your team.")
    return tuple(_issued(token) for token in call.directory.tokens(me.tenant, None if everybody else me.user))


@operation(WRITE, directory=True, secret=True)
def create_token(
    call: Call,
    name: Name,
    agent: Short = "",
    actions: Names = (),
    projects: Names | None = None,
    days: Days | None = None,
) -> IssuedToken:
    """Make a token of your own for another machine, an agent or a CI job. It can do at most what yours can."""
    _only_people(call)
    me = call.identity
    wanted = frozenset(actions) or me.actions
    if not wanted <= ACTIONS:
        raise UnknownName("action", sorted(wanted - ACTIONS)[0], sorted(ACTIONS))
    if not wanted <= me.actions:
        raise OutOfScope(
            "A token cannot allow more than yours.", f"Yours allows: {', '.join(sorted(me.actions))}."
        )
    limited = None if projects is None else frozenset(projects)
    if me.projects is not None:
        limited = me.projects if limited is None else limited & me.projects
    secret, hashed = new_secret()
    at = _now(call)
    ends = [at + timedelta(days=days)] if days is not None else []
    if me.projects is not None or me.actions != ACTIONS:  # a narrowed token makes none that outlives it
        mine = call.directory.tokens(me.tenant, me.user)
        ends += [each.expires_at for each in mine if each.id == me.token and each.expires_at is not None]
    expires = min(ends, default=None)
    token = Token(
        m.new_id(at), me.tenant, me.user, name, hashed, at, agent or me.agent, wanted, limited, expires
    )
    call.directory.put_token(token)
    return _issued(token, secret)


@operation(WRITE, directory=True, personal=True)
def revoke_token(call: Call, token: TokenName) -> None:
    """Revoke a token of your own, or as an admin any; an agent revokes its own. It ends within a minute on every server."""
    me = call.identity
    if not (me.agent and token == me.token):
        _only_people(call)
    mine = call.directory.tokens(me.tenant, None if me.role.is_admin else me.user)
    found = [each for each in mine if each.id.endswith(token) or each.id.startswith(token)]
    if len(found) != 1 or not call.directory.revoke(me.tenant, found[0].id, _now(call)):
        raise Refused(f"No single valid token matches {token!r}.", "Run `recollect team token list`.")


@operation(READ)
def projects(call: Call) -> tuple[TeamProject, ...]:
    """Return the projects that you may see, by name."""
    me = call.identity
    return tuple(
        project
        for project in call.directory.projects(me.tenant)
        if (project.members is None or me.user in project.members or me.role.is_admin)
        and (me.projects is None or project.id in me.projects)
    )


@operation(ADMIN, directory=True)
def restrict_project(call: Call, project: Name, people: Names | None = None) -> None:
    """Let only these people see a project; without people, open it to the whole team."""
    ids = None if people is None else frozenset(_person(call, person).id for person in people)
    found = [
        each for each in call.directory.projects(call.identity.tenant) if project in (each.id, each.name)
    ]
    if len(found) != 1:
        raise Refused(f"No single project is called {project!r}.", "Run `recollect team projects`.")
    call.directory.restrict(call.identity.tenant, found[0].id, ids)


@operation(WRITE, directory=True, personal=True)
def consent(call: Call, what: Consent, on: bool = True) -> None:
    """Record that you agree to something, such as sending memories to this server, or no longer."""
    _only_people(call)
    call.directory.consent(call.identity.tenant, call.identity.user, what, on, _now(call))


@operation(READ)
def my_data(call: Call, offset: Offset = 0) -> MyData:
    """Return everything that is stored of you, a page at a time."""
    _only_about_oneself(call)
    engine = call.engine
    view = engine.context.full_view()
    me, store = call.identity, engine.store
    mine = tuple(islice(store.iter_memories(view, user=me.user), offset, offset + MOST + 1))
    page, more = mine[:MOST], offset + MOST if len(mine) > MOST else None
    if offset:
        return MyData(whoami(call), page, next=more)
    return MyData(
        whoami(call),
        page,
        tuple(_issued(token) for token in call.directory.tokens(me.tenant, me.user)),
        tuple(islice(store.iter_sessions(view), MOST)),
        tuple(islice(store.iter_findings(view), MOST)),
        tuple(islice(store.iter_gaps(view), MOST)),
        tuple(sorted(call.hidden)),
        tuple(engine.care.changes(MOST, all_projects=True)),
        tuple(call.directory.erasures(me.tenant, me.user)),
        more,
    )


@operation(READ)
def my_records(call: Call, offset: Offset = 0) -> RecordPage:
    """Return everything else that is stored of you, a page at a time: each record with the name of its table."""
    _only_about_oneself(call)
    me = call.identity
    page = call.directory.records(me.tenant, me.user, offset, PAGE + 1)
    return RecordPage(tuple(page[:PAGE]), offset + PAGE if len(page) > PAGE else None)


@operation(READ)
def export(call: Call, offset: Offset = 0, after: Short = "") -> MemoryPage:
    """Return all memories that you may see, in every project and state, a page at a time.

    Give `after` of the page before, which takes as long for every page; an `offset` is counted from the first memory.
    """
    engine = call.engine
    view = engine.context.full_view()
    page = tuple(islice(engine.store.iter_memories(view, after), offset, offset + PAGE + 1))
    if len(page) <= PAGE:
        return MemoryPage(page, None)
    return MemoryPage(page[:PAGE], offset + PAGE, page[PAGE - 1].id)


@operation(READ)
def export_links(call: Call, offset: Offset = 0) -> LinkPage:
    """Return all links between memories that you may see, a page at a time."""
    engine = call.engine
    page = tuple(islice(engine.store.iter_links(engine.context.full_view()), offset, offset + PAGE + 1))
    return LinkPage(page[:PAGE], offset + PAGE if len(page) > PAGE else None)


@operation(WRITE)
def adopt(
    call: Call,
    records: Annotated[tuple[dict[str, Any], ...], Field(max_length=ADOPTED)],
    visibility: m.Visibility | None = None,
) -> Adopted:
    """Store memories of your own as they were elsewhere: in the project of the call, or global ones.

    They are checked and redacted like everything else. The answer names the change, which `undo` takes back.
    """
    _only_people(call)
    engine = call.engine
    engine.context.register_project()
    own = {"user_id": call.identity.user, "project_id": engine.context.project_id}
    if visibility is not None:
        own["visibility"] = visibility
    mine = [
        {**record, **own, "scope": m.Scope.PROJECT if engine.context.project_id else m.Scope.GLOBAL}
        for record in records
    ]
    report = engine.transfer.import_records(mine)
    return Adopted(tuple(report.ids), report.change, tuple(report.refused), report.redacted)


@operation(WRITE)
def adopt_links(
    call: Call, records: Annotated[tuple[dict[str, Any], ...], Field(max_length=ADOPTED)]
) -> Adopted:
    """Store links between memories of your own as they were elsewhere, after `adopt`."""
    _only_people(call)
    ends = {str(record.get(end)) for record in records for end in ("source", "target")}
    known = call.engine.memory.get_many(sorted(ends))
    mine = {name for name, memory in known.items() if memory.user_id == call.identity.user}
    own = [each for each in records if {str(each.get("source")), str(each.get("target"))} <= mine]
    report = call.engine.transfer.import_links(own)
    return Adopted((), report.change, (), report.redacted)


@operation(WRITE, directory=True, personal=True)
def erase_me(call: Call, confirm: Short, at_once: bool = False) -> Erasure:
    """Delete everything of yours in 30 days, or `at_once`: memories, vectors, links, undo images, sessions, your name.

    `confirm` is your name. Until it is due, `keep_me` takes it back; afterwards it cannot be undone.
    """
    _only_people(call)
    me, now = call.identity, _now(call)
    if confirm != me.name:
        raise Refused("Erasing everything needs your name as confirmation.", f"Give --confirm {me.name!r}.")
    call.directory.request_erasure(me.tenant, me.user, now, now if at_once else now + GRACE)
    if at_once:
        call.directory.remove(me.tenant, me.user, now)
        call.directory.erase(me.tenant, me.user, now)
    return call.directory.erasures(me.tenant, me.user)[0]


@operation(WRITE, directory=True, personal=True)
def keep_me(call: Call) -> None:
    """Take back the request to erase everything of yours."""
    _only_people(call)
    if not call.directory.withdraw_erasure(call.identity.tenant, call.identity.user):
        raise Refused("No erasure of yours is waiting.", "Run `recollect team erasures`.")


@operation(ADMIN, directory=True)
def erase_member(call: Call, person: Name, confirm: Short) -> Erasure:
    """Delete everything of somebody who has left, at once; it cannot be undone. `confirm` is their name."""
    people = [each for each in call.directory.people(call.identity.tenant) if each.left_at is not None]
    found = [each for each in people if person in (each.id, each.name)]
    if len(found) != 1:
        raise Refused(
            f"No single person who has left is called {person!r}.", "Run `recollect team members --left`."
        )
    [gone] = found
    _may_give(call, gone.role)
    if confirm != gone.name:
        raise Refused("Erasing everything needs the name as confirmation.", f"Give --confirm {gone.name!r}.")
    call.directory.erase(gone.tenant, gone.id, _now(call))
    return call.directory.erasures(gone.tenant, gone.id)[0]


@operation(READ)
def erasures(call: Call) -> tuple[Erasure, ...]:
    """Return your request to be erased; for an admin those of everybody, with what was erased."""
    me = call.identity
    if _is_admin(call):
        return tuple(call.directory.erasures(me.tenant))
    return () if call.engine.context.is_agent else tuple(call.directory.erasures(me.tenant, me.user))


@operation(READ)
def retention(call: Call) -> Retention:
    """Return how long the team keeps memories."""
    return call.directory.retention(call.identity.tenant)


@operation(ADMIN, directory=True)
def set_retention(call: Call, forgotten_days: Days = 30, unused_days: Days | None = None) -> Retention:
    """Change how long the team keeps what was forgotten, and after how long what nobody uses is forgotten."""
    wanted = Retention(forgotten_days, unused_days)
    call.directory.set_retention(call.identity.tenant, wanted)
    return wanted


def _now(call: Call) -> datetime:
    now: datetime = call.engine.context.clock()
    return now


def _is_admin(call: Call) -> bool:
    """Whether an admin asks, and not an agent of theirs."""
    return call.identity.role.is_admin and not call.engine.context.is_agent


def _only_people(call: Call) -> None:
    if call.engine.context.is_agent:
        raise OutOfScope("An agent may not do this.", "Ask the person whose token it is.")


def _only_about_oneself(call: Call) -> None:
    """Raise `OutOfScope` for an agent, and for a token of some projects: all that is stored of a person is for them alone."""
    _only_people(call)
    if call.identity.projects is not None:
        raise OutOfScope(
            "This token is for some projects, and this is about all of them.",
            "Log in with a token of your own.",
        )


def _may_give(call: Call, role: Role) -> None:
    if role not in GIVEN_ROLES:
        raise UnknownName("role", role, [str(each) for each in GIVEN_ROLES])
    if role is Role.OWNER and call.identity.role is not Role.OWNER:
        raise OutOfScope("Only an owner may do this to an owner.", "Ask an owner of your team.")


def _person(call: Call, name: str) -> Person:
    people = [person for person in call.directory.people(call.identity.tenant) if person.left_at is None]
    found = [person for person in people if name in (person.id, person.name)]
    if len(found) != 1:
        raise Refused(f"No single person is called {name!r}.", "Run `recollect team members`.")
    return found[0]


def _issued(token: Token, secret: str = "") -> IssuedToken:
    return IssuedToken(
        token.id,
        token.user,
        token.name,
        token.agent,
        tuple(sorted(token.actions)),
        None if token.projects is None else tuple(sorted(token.projects)),
        token.created_at,
        token.expires_at,
        token.last_used_at,
        token.revoked_at,
        secret,
    )
