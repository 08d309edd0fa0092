"""The operations of the team server. Routes, the OpenAPI document and the client are made from this table.

An operation is a function: its name is the route, its parameters are the arguments, its annotation is the result, and its
docstring is the description. It gets the caller's engine, which has the rights of the token and no more.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Protocol, TypeVar, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, create_model

import recollect.model as m
from recollect.context.team import Directory, TeamStore
from recollect.errors import OutOfScope
from recollect.kinds import kind_of
from recollect.memory.briefing.content import LIVE
from recollect.memory.maintenance.review import OpenReview, ReviewDecision
from recollect.memory.maintenance.wrong import WrongResult
from recollect.memory.write.draft import clean_text
from recollect.model.team import READ, WRITE, Identity
from recollect.policy import Operation as PolicyOperation
from recollect.text.redact import redact
from recollect.text.shapes import looks_like_path
from recollect.work.delivery.delivery import DeliveryRequest, Moment
from recollect.work.delivery.material import Material
from recollect.work.extract.observation import RESOLVED_ERROR

AGREED = 2  # agents, of one person or of several, that found the same: then it is a memory
MOST = 1000  # memories in one answer
LONGEST_NAME = 400  # of a session, a branch or a path
Name = Annotated[str, Field(min_length=1, max_length=200)]  # an id, the part of one, or a keyword
Short = Annotated[str, Field(max_length=400)]
Text = Annotated[
    str, Field(max_length=16_000)
]  # longer than what may be stored, which the engine refuses by its own rule
Long = Annotated[str, Field(max_length=64_000)]
Limit = Annotated[int, Field(ge=1, le=MOST)]
Texts = Annotated[tuple[Text, ...], Field(max_length=64)]
Names = Annotated[tuple[Name, ...], Field(max_length=MOST)]


def _in_utc(when: datetime) -> datetime:
    return m.from_text(when.isoformat())


def _said_in_utc(draft: m.Draft) -> m.Draft:
    return draft if draft.said_at is None else replace(draft, said_at=_in_utc(draft.said_at))


Time = Annotated[datetime, AfterValidator(_in_utc)]  # one without a zone is UTC
Learnt = Annotated[m.Draft, AfterValidator(_said_in_utc)]


class UseCounter(Protocol):
    """Says what was written today."""

    def used(self, identity: Identity) -> dict[str, tuple[int, int]]:
        """Return what the person and the team have written today, and the limits; 0 = no limit."""


class Call(Protocol):
    """A verified request, on the server."""

    identity: Identity
    directory: Directory

    @property
    def quotas(self) -> UseCounter: ...

    @property
    def engine(self) -> Any: ...  # an `Engine` of the caller's, in the project that the request names

    @property
    def store(self) -> TeamStore: ...

    @property
    def names(self) -> Mapping[str, str]: ...  # of people, by id

    @property
    def hidden(self) -> frozenset[str]: ...  # memories that the caller has hidden for themselves


@dataclass(frozen=True)
class Operation:
    """A row of the table."""

    name: str
    action: str  # what a token must allow: read, write or admin
    run: Callable[..., Any]
    in_directory: bool = False  # it changes people, tokens or projects, which have transactions of their own
    is_personal: bool = False  # it changes what only the caller has, so a reader may do it too
    is_secret: bool = False  # its answer is a secret, which is not kept: a repeated request is refused

    @property
    def description(self) -> str:
        return inspect.getdoc(self.run) or ""

    @cached_property
    def arguments(self) -> type[BaseModel]:
        hints = get_type_hints(self.run, include_extras=True)
        fields: dict[str, Any] = {}
        for name, parameter in list(inspect.signature(self.run).parameters.items())[1:]:
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[name] = (hints[name], default)
        config = ConfigDict(extra="forbid", str_strip_whitespace=False)
        return create_model(f"{self.name.title().replace('_', '')}Arguments", __config__=config, **fields)

    @cached_property
    def result(self) -> "TypeAdapter[Any]":
        return TypeAdapter(get_type_hints(self.run, include_extras=True)["return"])

    @property
    def is_write(self) -> bool:
        return self.action != READ


OPERATIONS: dict[str, Operation] = {}


_Run = TypeVar("_Run", bound=Callable[..., Any])


def operation(
    action: str, *, directory: bool = False, personal: bool = False, secret: bool = False
) -> Callable[[_Run], _Run]:
    """Add a function to the table.

    With `directory`, it runs outside a transaction of memories, and its answer is not kept: repeated, it does the same
    again, or with `secret` is refused. With `personal`, a reader may run it: it changes what only the caller has.
    """

    def add(run: _Run) -> _Run:
        name = run.__name__.rstrip("_")
        OPERATIONS[name] = Operation(name, action, run, directory, personal, secret)
        return run

    return add


# reading


@operation(READ)
def search(
    call: Call,
    query: Long,
    limit: Limit = 10,
    tag: Short | None = None,
    file: Short | None = None,
    files: Texts = (),
    as_of: Time | None = None,
    recipe: Short = "default",
    graph: bool = True,
    meaning: bool = True,
    task: bool = False,
    noted: bool = True,
    kind: Short | None = None,
    scope: Short | None = None,
    state: Short | None = None,
    branch: Short | None = None,
    session: Short | None = None,
    all_projects: bool = False,
    proposals: bool = True,
) -> m.Answer:
    """Return memories relevant to a query, best first, each with its reasons."""
    answer: m.Answer = call.engine.search(
        query,
        limit,
        tag=tag,
        file=file,
        files=files,
        as_of=as_of,
        recipe=recipe,
        graph=graph,
        meaning=meaning,
        task=task,
        noted=noted,
        kind=kind,
        scope=scope,
        state=state,
        branch=branch,
        session=session,
        all_projects=all_projects,
        proposals=proposals,
    )
    return replace(answer, results=_unhidden(call, answer.results))


@operation(READ)
def similar(call: Call, name: Name, limit: Limit = 10) -> tuple[m.Hit, ...]:
    """Return the memories most similar to one, best first."""
    return _unhidden(call, call.engine.similar(name, limit))


@operation(READ)
def gaps(call: Call, limit: Limit = 20) -> tuple[m.Gap, ...]:
    """Return questions that memory could not answer, newest first."""
    return call.engine.gaps(limit)


@operation(READ)
def get(call: Call, name: Name) -> m.Memory:
    """Return the memory with this id, or with an id that begins or ends with it."""
    return call.engine.get(name)


@operation(READ)
def find(call: Call, name: Name) -> m.Memory:
    """Return the memory with this id, or the only one here that contains the keyword."""
    return call.engine.memory.find(name)


@operation(READ)
def get_many(call: Call, ids: Names) -> dict[str, m.Memory]:
    """Return those of these memories that exist and may be seen, by id."""
    found = call.engine.memory.get_many(ids)
    return {name: memory for name, memory in found.items() if name not in call.hidden}


@operation(READ)
def list_(
    call: Call,
    tag: Short | None = None,
    file: Short | None = None,
    limit: Limit = MOST,
    kind: Short | None = None,
    scope: Short | None = None,
    state: Short | None = None,
    branch: Short | None = None,
    session: Short | None = None,
    all_projects: bool = False,
    proposals: bool = True,
) -> tuple[m.Memory, ...]:
    """Return memories of the project and global ones, newest first."""
    filters = _filters(kind, scope, state, branch, session, all_projects, proposals)
    memories: tuple[m.Memory, ...] = call.engine.list(tag=tag, file=file, limit=limit, **filters)
    return tuple(memory for memory in memories if memory.id not in call.hidden)


@operation(READ)
def count(
    call: Call,
    tag: Short | None = None,
    file: Short | None = None,
    kind: Short | None = None,
    scope: Short | None = None,
    state: Short | None = None,
    branch: Short | None = None,
    session: Short | None = None,
    all_projects: bool = False,
    proposals: bool = True,
) -> int:
    """Return how many memories `list` would return without a limit."""
    filters = _filters(kind, scope, state, branch, session, all_projects, proposals)
    return int(call.engine.memory.count(tag=tag, file=file, **filters))


@operation(READ)
def undescribed(call: Call, limit: Limit = 20) -> tuple[tuple[m.Memory, ...], int]:
    """Return the caller's own memories of the project that do not say when they are needed, and how many there are."""
    memories, total = call.engine.memory.undescribed(limit)
    return tuple(memory for memory in memories if memory.id not in call.hidden), total


def _filters(
    kind: str | None,
    scope: str | None,
    state: str | None,
    branch: str | None,
    session: str | None,
    all_projects: bool,
    proposals: bool,
) -> dict[str, Any]:
    return {
        "kind": kind,
        "scope": scope,
        "state": state,
        "branch": branch,
        "session": session,
        "all_projects": all_projects,
        "proposals": proposals,
    }


@operation(READ)
def links(call: Call, name: Name) -> tuple[m.Link, ...]:
    """Return the links of a memory to others that may be seen."""
    return call.engine.links(name)


@operation(READ)
def conflicts(call: Call) -> tuple[tuple[m.Link, m.Memory, m.Memory], ...]:
    """Return the unresolved contradictions, each with both memories."""
    return call.engine.conflicts()


@operation(READ)
def tags(call: Call) -> tuple[m.Tag, ...]:
    """Return the tags in use, most used first."""
    return call.engine.tags()


@operation(READ)
def audit(call: Call, limit: Limit = 50, name: Name | None = None) -> tuple[m.AuditLine, ...]:
    """Return audit lines, newest first: your own, or everybody's for an admin; of one memory, or of all."""
    return call.engine.audit(limit, name)


@operation(READ)
def verify_audit(call: Call) -> m.AuditCheck:
    """Check for an admin that no line of the team's audit log was changed or removed."""
    return call.engine.care.verify_audit()


@operation(READ)
def changes(call: Call, limit: Limit = 20, all_projects: bool = False) -> tuple[m.Change, ...]:
    """Return the caller's own changes, newest first."""
    return call.engine.care.changes(limit, all_projects=all_projects)


@operation(READ)
def questions(call: Call, kind: Short | None = None) -> tuple[OpenReview, ...]:
    """Return the questions that wait for the caller's review, oldest first."""
    return call.engine.care.questions(kind, tidy=False)


@operation(READ)
def material(
    call: Call,
    moment: Moment,
    text: Long = "",
    command: Text = "",
    tool: Short = "",
    files: Texts = (),
    session: Short | None = None,
    host: Short = "gemini",
    role: Short | None = None,
    use_model: bool = True,
    preview: bool = False,
    starting: bool = False,
) -> Material:
    """Return what memory has to say at a moment of a session: rules, matches, warnings, other sessions' findings."""
    request = DeliveryRequest(
        moment,
        text,
        command,
        tool,
        files,
        session,
        host,
        role,
        use_model=use_model,
        preview=preview,
    )
    found: Material = call.engine.delivery.material(request, starting=starting)
    always = tuple(memory for memory in found.always if memory.id not in call.hidden)
    hits = [_unhidden(call, each) for each in (found.fired, found.matches, found.known_errors, found.waiting)]
    disputed = [memory for _, *pair in found.conflicts for memory in pair]
    users = {
        memory.user_id for memory in (*always, *(hit.memory for each in hits for hit in each), *disputed)
    }
    others = {user: call.names[user] for user in users - {call.identity.user} if user in call.names}
    return replace(
        found,
        always=always,
        fired=hits[0],
        matches=hits[1],
        known_errors=hits[2],
        waiting=hits[3],
        names=others,
    )


def _unhidden(call: Call, hits: Iterable[m.Hit]) -> tuple[m.Hit, ...]:
    return tuple(hit for hit in hits if hit.memory.id not in call.hidden)


@operation(READ)
def said_before(call: Call, session: Short, fingerprint: Short) -> str | None:
    """Return the memory with the same text that this session has stored before, if any."""
    return call.engine.memory.said_before(session, fingerprint)


@operation(READ)
def people(call: Call) -> dict[str, str]:
    """Return the names of the people in the team, by id."""
    return dict(call.names)


# writing


@operation(WRITE)
def remember(
    call: Call,
    content: Text,
    kind: Short | None = None,
    scope: Short | None = None,
    tags: Texts = (),
    file_paths: Texts = (),
    triggers: Texts = (),
    when_needed: Texts = (),
    steps: Texts = (),
    prerequisites: Texts = (),
    warnings: Texts = (),
    season: Short | None = None,
    branch: Short | None = None,
    importance: float | None = None,
    created_by: Short | None = None,
    session: Short | None = None,
    visibility: Short | None = None,
    correction: bool = False,
    source: Short | None = None,
) -> m.Receipt:
    """Store a statement. What a person says is private unless they say otherwise; what an agent says is the project's."""
    details = {
        "kind": kind,
        "scope": scope,
        "tags": tags,
        "file_paths": file_paths,
        "triggers": triggers,
        "when_needed": when_needed,
        "steps": steps,
        "prerequisites": prerequisites,
        "warnings": warnings,
        "season": season,
        "branch": branch,
        "importance": importance,
        "created_by": created_by,
        "session": session,
        "visibility": visibility,
        "correction": correction,
        "source": source,
    }
    given = {name: value for name, value in details.items() if value not in (None, ())}
    if _is_quarantined(call, created_by):
        given["visibility"] = m.Visibility.PRIVATE
    return call.engine.remember(content, **given)


@operation(WRITE)
def learn(call: Call, draft: Learnt) -> m.Receipt:
    """Store what was learnt from a session. A person's word is private until they share it."""
    typed = (
        not m.is_agent(draft.created_by) and not call.identity.agent
    )  # an agent's token speaks for no person
    safe = replace(
        draft,
        created_by=draft.created_by if typed or not call.identity.agent else f"agent:{call.identity.agent}",
        project_id=None,
        scope=None,
        standing=None if typed else m.Standing.CANDIDATE,
        visibility=m.Visibility.PRIVATE if typed or call.identity.is_new else m.Visibility.PROJECT,
    )
    return call.engine.memory.add_finding(safe)


@operation(WRITE)
def edit(
    call: Call,
    name: Name,
    expected: Short | None = None,
    content: Text | None = None,
    kind: Short | None = None,
    tags: Texts | None = None,
    file_paths: Texts | None = None,
    triggers: Texts | None = None,
    when_needed: Texts | None = None,
    season: Short | None = None,
    branch: Short | None = None,
    importance: float | None = None,
    visibility: Short | None = None,
    scope: Short | None = None,
    steps: Texts | None = None,
) -> tuple[m.Memory, m.Receipt]:
    """Change fields of a memory of your own, or as an admin of any that is shared."""
    _keep_in_quarantine(call, name, visibility)
    changes = {
        "content": content,
        "kind": kind,
        "tags": tags,
        "file_paths": file_paths,
        "triggers": triggers,
        "when_needed": when_needed,
        "season": season,
        "branch": branch,
        "importance": importance,
        "visibility": visibility,
        "scope": scope,
        "steps": steps,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    return call.engine.memory.edit(name, expected=expected, **given)


@operation(WRITE)
def describe(call: Call, name: Name, situations: Texts) -> tuple[m.Memory, m.Receipt]:
    """Add situations in which a memory is needed, and change nothing else of it."""
    _keep_in_quarantine(call, name)
    described: tuple[m.Memory, m.Receipt] = call.engine.memory.describe(name, situations)
    return described


@operation(WRITE)
def forget(call: Call, name: Name) -> m.Memory:
    """Hide a memory from every search; `restore` brings it back for 30 days."""
    _keep_in_quarantine(call, name)
    return call.engine.forget(name)


@operation(WRITE)
def restore(call: Call, name: Name) -> m.Memory:
    """Make a memory active again."""
    _keep_in_quarantine(call, name)
    return call.engine.restore(name)


@operation(WRITE)
def wrong(
    call: Call, name: Name, because: Text = "", instead: Text = "", restore: bool = False
) -> WrongResult:
    """Mark a memory as wrong, and say what is right instead."""
    return call.engine.wrong(name, because, instead, restore)


@operation(WRITE)
def pin(call: Call, name: Name, on: bool | None = None) -> m.Memory:
    """Pin or unpin a memory, or toggle it."""
    return call.engine.pin(name, on)


@operation(WRITE)
def tag(call: Call, name: Name, add: Texts = (), remove: Texts = ()) -> m.Memory:
    """Add and remove tags of a memory."""
    _keep_in_quarantine(call, name)
    return call.engine.tag(name, add, remove)


@operation(WRITE)
def link(
    call: Call,
    source: Name,
    target: Name,
    relation: Short = "relates_to",
    weight: Annotated[float, Field(ge=0, le=1)] = 1.0,
) -> m.Link:
    """Link two memories."""
    for name in (source, target):
        _keep_in_quarantine(call, name)
    return call.engine.link(source, target, relation, weight)


@operation(WRITE)
def unlink(call: Call, source: Name, target: Name, relation: Short) -> bool:
    """Remove a link; return whether there was one."""
    return bool(call.engine.memory.unlink(source, target, relation))


@operation(WRITE)
def resolve(call: Call, first: Name, second: Name, keep: Name) -> None:
    """Settle a contradiction: keep one of the two, or "both"."""
    call.engine.resolve(first, second, keep)


@operation(WRITE)
def feedback(call: Call, name: Name, helpful: bool, session: Short | None = None) -> m.Memory:
    """Say whether a memory helped. What somebody says again and again of another person's memory counts once in a while."""
    _keep_in_quarantine(call, name)
    memory: m.Memory = call.engine.get(name)
    if memory.user_id != call.identity.user:
        said = f"said {'helpful' if helpful else 'unhelpful'} {memory.id}"
        if call.store.once(said) is not None:  # kept as long as answers are
            return memory
        call.store.keep_answer(said, "[null, null]", call.engine.context.clock())
    return call.engine.feedback(name, helpful, session)


@operation(WRITE)
def note_use(call: Call, used: Names = (), session: Short | None = None, rejected: Names = ()) -> None:
    """Record which memories an agent used after they were shown, and which did not fit its task."""
    visible = call.engine.memory.get_many((*used, *rejected))
    call.engine.retrieval.note_use(
        [name for name in used if name in visible], session, [name for name in rejected if name in visible]
    )


@operation(WRITE)
def decide(call: Call, name: Name, answer: Short, text: Text = "") -> ReviewDecision:
    """Answer a review question with accept, reject, or edit and a text."""
    return call.engine.decide(name, answer, text)


@operation(WRITE)
def undo(call: Call, name: Name) -> m.Undone:
    """Undo one of your own changes."""
    return call.engine.care.undo(name)


@operation(WRITE)
def publish(
    call: Call, session: m.Session, findings: Annotated[tuple[m.Finding, ...], Field(max_length=200)]
) -> int:
    """Show what a running session has found to the others in the project; return how many findings are new."""
    engine, store = call.engine, call.store
    engine.context.register_project()
    at = engine.context.clock()
    name = _clean(session.id)
    known = store.get_session(name)
    if known is not None and (known.user_id, known.project_id) != (
        engine.context.user_id,
        engine.context.project_id,
    ):
        engine.context.check(PolicyOperation.READ_ALL_PROJECTS)
        return 0
    mine = m.Session(
        name,
        engine.context.user_id,
        engine.context.project_id,
        known.started_at if known else at,
        call.identity.agent or _clean(session.agent),
        _clean(session.host),
        _clean(session.branch) if session.branch else None,
        ended_at=at if session.ended_at else None,
        active_at=at,
    )
    new = 0
    with store.transaction():
        store.put_session(mine)
        store.share_session(mine.id, not call.identity.is_new)
        for finding in filter(is_of_agent, findings):
            text, _ = clean_text(finding.content)
            safe = m.Finding(
                m.new_id(at),
                mine.id,
                m.fingerprint(text),
                kind_of(finding.kind).name,
                text,
                at,
                min(max(finding.importance, 0.0), 1.0),
                file_paths=tuple(_clean(path) for path in finding.file_paths[:20] if looks_like_path(path)),
                branch=_clean(finding.branch) if finding.branch else None,
                promoted_to=_clean(finding.promoted_to) if finding.promoted_to else None,
            )
            new += store.put_finding(safe)
    if not call.identity.is_new:
        _promote_agreed(call, filter(is_of_agent, findings))
    return new


def _clean(name: str) -> str:
    """Return a name, a path or an id as it is stored: short, in one line and without secrets."""
    return redact(" ".join(name.split()))[0][:LONGEST_NAME]


def is_of_agent(finding: m.Finding) -> bool:
    """Whether an agent said or did it. What a person said in a chat is private until they share it."""
    is_observed = RESOLVED_ERROR in finding.signals or bool(finding.steps)
    return finding.source is m.Source.EXTRACTED or (finding.source is m.Source.OBSERVED and is_observed)


def _promote_agreed(call: Call, findings: Iterable[m.Finding]) -> None:
    """Make memories of findings that two people or two agents agree on, however little each is worth by itself.

    One agent that finds the same again in other sessions counts once.
    """
    engine, store = call.engine, call.store
    finders: dict[str, set[tuple[str, str]]] = {}
    for session in store.live_sessions(engine.context.project_id, engine.context.clock() - LIVE):
        for known in store.findings(session.id):
            finders.setdefault(known.fingerprint, set()).add((session.user_id, session.agent))
    for finding in findings:
        found_by = finders.get(m.fingerprint(clean_text(finding.content)[0]), set())
        people = {user for user, _ in found_by}
        if finding.promoted_to is None and len(found_by) >= AGREED:
            draft = m.Draft(
                finding.content,
                kind=finding.kind,
                file_paths=finding.file_paths,
                importance=min(max(finding.importance, 0.0), 1.0),
                created_by="agent:team",
                session=finding.session,
                source=m.Source.EXTRACTED,
                snippet=f"Agents of {len(people)} people found it."
                if len(people) > 1
                else f"{len(found_by)} agents of one person found it.",
                branch=finding.branch,
            )
            engine.memory.add_finding(draft)


def _is_quarantined(call: Call, created_by: str | None = None) -> bool:
    """Whether an agent of somebody in quarantine acts, whoever it says has written what it sends."""
    return call.identity.is_new and (call.engine.context.is_agent or m.is_agent(created_by or "user"))


def _keep_in_quarantine(call: Call, name: str, visibility: str | None = None) -> None:
    """Raise `OutOfScope` if an agent of somebody in quarantine would change what others see, or let them see more."""
    if not _is_quarantined(call):
        return
    if {visibility, call.engine.get(name).visibility} - {None, m.Visibility.PRIVATE}:
        raise OutOfScope(
            "What your agents write is in quarantine: others do not see it, and agents change nothing that others see.",
            "Do it yourself, or ask an admin to end it: recollect team quarantine NAME --off",
        )


@operation(WRITE, directory=True, personal=True)
def hide(call: Call, name: Name, on: bool = True) -> m.Memory:
    """Hide a memory for yourself, or show it again. Others still see it. An agent hides nothing from its person."""
    call.engine.context.check(PolicyOperation.SET_PREFERENCES)
    memory: m.Memory = call.engine.get(name)
    call.directory.hide(call.identity.tenant, call.identity.user, memory.id, on)
    return memory


from recollect.remote import administration, analytics  # noqa: E402, F401 - add their operations to the table
