"""The parts of an engine whose memories are on a team server. They have the methods of the local ones."""

import hashlib
import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import recollect.model as m
from recollect.config import Settings
from recollect.context.context import Context
from recollect.errors import ClientTooOld, Offline, Refused, TooManyRequests
from recollect.frozen import frozen
from recollect.memory.maintainer import Maintenance
from recollect.memory.maintenance.compact import Compaction
from recollect.memory.memories import Memories
from recollect.memory.retrieval import Retrieval
from recollect.memory.write.draft import clean_changes, clean_situations, memory_from
from recollect.model import AuditCheck, Cleared, Purged, Stale
from recollect.remote.client import TeamClient
from recollect.remote.login import Login, team_settings, token_of
from recollect.remote.outbox import Outbox
from recollect.remote.wire import Place, team_keys, team_project_id
from recollect.text.cuts import start_of
from recollect.text.redact import redact
from recollect.work.delivery.composer import Composer
from recollect.work.delivery.delivery import DeliveryRequest, Moment
from recollect.work.delivery.material import Material
from recollect.work.delivery.told import Told
from recollect.work.sessions.sessions import EndedSession, Sessions
from recollect.work.sessions.spool import EventSpool

if TYPE_CHECKING:
    from recollect.context.embedder import Embedder
    from recollect.llm.protocol import Sidecar
    from recollect.memory.maintenance.consolidate.run import Consolidation
    from recollect.memory.maintenance.doctor import Diagnosis
    from recollect.memory.maintenance.review import OpenReview, ReviewDecision
    from recollect.memory.maintenance.wrong import WrongResult
    from recollect.memory.transfer.mirror import MirrorReport

logger = logging.getLogger(__name__)

WAITING = (
    "The team server is offline or takes no more now. This waits, encrypted, and is delivered when it does."
)
_OF_MEMORIES = ("vectors", "situations", "conflicts", "stale")  # checks of what is on the server
_RECENT = 500  # memories that were just read and need not be asked for again
_DELIVER_SECONDS = 2.0  # that what waits may take when an engine closes
_CLIENTS: dict[tuple[str, str], TeamClient] = {}  # by address and token: connections are kept between engines
_LOCK = threading.Lock()


class Remote:
    """A login at work: calls the server for any project and actor."""

    def __init__(self, login: Login, home: Path, client: TeamClient, outbox: Outbox) -> None:
        self.login = login
        self.home = home  # where the login is; hosts and the daemon know this one
        self.client = client
        self.outbox = outbox
        self.embedder: Embedder | None = None  # makes the vectors here; None = the server makes them
        self._delivering: threading.Thread | None = None
        self._recent: OrderedDict[str, m.Memory] = OrderedDict()
        self._read_at = client.changes  # how many changes were known when they were read
        self._lock = threading.Lock()

    @classmethod
    def open(cls, login: Login, home: Path, settings: Settings) -> "Remote":
        """`home` is where the login is, `settings` are those of its folder."""
        token = token_of(home, login, os.environ)
        with _LOCK:
            client = _CLIENTS.setdefault((login.address, token), TeamClient(login.address, token))
        return cls(login, home, client, Outbox(settings.home, settings.database))

    def call(self, context: Context, name: str, key: str | None = None, /, **arguments: Any) -> Any:
        """Run an operation as the actor and in the project of `context`."""
        result = self._send(name, arguments, place_of(context), context.actor, key)
        if self.outbox.waiting():
            self.deliver_soon()
        return result

    def call_or_wait(self, context: Context, name: str, key: str, /, **arguments: Any) -> Any:
        """Run a write; if the server is offline or does not take it now, it waits in the outbox, and None is returned."""
        try:
            return self.call(context, name, key, **arguments)
        except (Offline, TooManyRequests, ClientTooOld):
            if not self.outbox.add(name, arguments, place_of(context), context.actor, key):
                raise
            return None

    def deliver(self) -> int:
        """Send what waits; return how many calls."""
        return self.outbox.deliver(self._send)

    def _send(
        self, name: str, arguments: Mapping[str, Any], place: Place, actor: str, key: str | None
    ) -> Any:
        return self.client.call(name, arguments, place, actor, key, self.embedder)

    def deliver_soon(self) -> None:
        with self._lock:
            if self._delivering is None or not self._delivering.is_alive():
                self._delivering = threading.Thread(
                    target=self._deliver, name="recollect-outbox", daemon=True
                )
                self._delivering.start()

    def _deliver(self) -> None:
        try:
            self.deliver()
        except Exception:  # a thread of its own: it is tried again with the next call
            logger.exception("what waits for the team server was not delivered")

    def close(self) -> None:
        """Give what is being delivered a moment."""
        if self._delivering is not None:
            self._delivering.join(_DELIVER_SECONDS)
        self.client.close()

    # memories that were read a moment ago

    def note(self, memories: Iterable[m.Memory]) -> None:
        with self._lock:
            self._drop_outdated()
            for memory in memories:
                self._recent[memory.id] = memory
                self._recent.move_to_end(memory.id)
            while len(self._recent) > _RECENT:
                self._recent.popitem(last=False)

    def noted(self, ids: Iterable[str]) -> dict[str, m.Memory]:
        with self._lock:
            self._drop_outdated()
            return {name: self._recent[name] for name in ids if name in self._recent}

    def _drop_outdated(self) -> None:
        if self._read_at != self.client.changes:
            self._read_at = self.client.changes
            self._recent.clear()


def place_of(context: Context) -> Place:
    """Return where a call comes from, as the server is told."""
    if context.project is None:
        return Place()
    branch = context.folder.branch if context.folder else None
    return Place(team_keys(context.project_keys), context.project.name, branch)


def team_project(project: m.Project, keys: Sequence[str], user: str) -> m.Project:
    """Return the project with the id that it has in the team."""
    return replace(project, id=team_project_id(user, team_keys(keys)) or project.id)


def open_remote(home: Path, login: Login, settings: Settings) -> tuple[Settings, Remote]:
    """Return the settings of what stays on this machine, and the connection."""
    local = team_settings(settings, login)
    return local, Remote.open(login, home, local)


def _remote(context: Context) -> Remote:
    remote = context.remote
    assert isinstance(remote, Remote)
    return remote


def _not_here(what: str) -> NoReturn:
    raise Refused(
        f"You are logged in to a team, and {what} is not done from here.",
        "Run it on the server, or `recollect logout` to work with the local store.",
    )


class RemoteMemories(Memories):
    """Memories on the server. The server decides; what is refused here is refused there too."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._remote = _remote(context)

    def _call(self, name: str, key: str | None = None, /, **arguments: Any) -> Any:
        return self._remote.call(self._context, name, key, **arguments)

    # reading

    def get(self, name: str) -> m.Memory:
        self._context.refuse_agents_if_off()
        memory: m.Memory = self._call("get", name=name)
        return memory

    def get_many(self, ids: Iterable[str]) -> dict[str, m.Memory]:
        ids = list(ids)
        found = self._remote.noted(ids)
        missing = [name for name in ids if name and name not in found]
        if missing:
            found |= self._call("get_many", ids=missing)
        return found

    def said_before(self, session: str, fingerprint: str) -> str | None:
        return None  # the server counts a finding once: its key is made of both

    def find(self, name: str) -> m.Memory:
        memory: m.Memory = self._call("find", name=name)
        return memory

    def list(
        self, *, tag: str | None = None, file: str | None = None, limit: int | None = None, **filters: Any
    ) -> tuple[m.Memory, ...]:
        self._context.refuse_agents_if_off()
        found: tuple[m.Memory, ...] = self._call(
            "list", tag=tag, file=file, **({"limit": min(limit, 1000)} if limit else {}), **filters
        )
        return found

    def count(self, *, tag: str | None = None, file: str | None = None, **filters: Any) -> int:
        return int(self._call("count", tag=tag, file=file, **filters))

    def undescribed(self, limit: int = 20) -> tuple[tuple[m.Memory, ...], int]:
        self._context.refuse_agents_if_off()
        found: tuple[tuple[m.Memory, ...], int] = self._call("undescribed", limit=min(limit, 1000))
        return found

    def page(self, *_: Any, **__: Any) -> Any:
        _not_here("browsing")

    def graph(self) -> tuple[tuple[m.Memory, ...], tuple[m.Link, ...]]:
        memories = self.list()
        known = {memory.id for memory in memories}
        links = {
            (link.source, link.target, link.relation): link
            for memory in memories
            for link in self.links(memory.id)
            if {link.source, link.target} <= known
        }
        return memories, tuple(links.values())

    def links(self, name: str) -> tuple[m.Link, ...]:
        found: tuple[m.Link, ...] = self._call("links", name=name)
        return found

    def conflicts(self) -> tuple[tuple[m.Link, m.Memory, m.Memory], ...]:
        found: tuple[tuple[m.Link, m.Memory, m.Memory], ...] = self._call("conflicts")
        return found

    def people(self) -> Mapping[str, str]:
        names: dict[str, str] = self._call("people")
        return names

    def tags(self) -> tuple[m.Tag, ...]:
        found: tuple[m.Tag, ...] = self._call("tags")
        return found

    def audit(self, limit: int = 50, name: str | None = None) -> tuple[m.AuditLine, ...]:
        found: tuple[m.AuditLine, ...] = self._call("audit", limit=limit, name=name)
        return found

    # writing

    def remember(self, content: str, *, change: m.Change | None = None, **details: Any) -> m.Receipt:
        context = self._context
        context.refuse_if_off()
        if context.is_agent:
            details["created_by"] = context.actor
            details.pop("evidence", None)
        details.setdefault("created_by", context.actor)
        draft = m.Draft(content, **details)
        arguments = self._cleaned(draft)
        key = m.new_id() + os.urandom(8).hex()
        if not m.is_agent(draft.created_by):
            receipt: m.Receipt = self._call("remember", key, **arguments)
            return receipt
        return self._remote.call_or_wait(context, "remember", key, **arguments) or _waiting(key)

    def add_finding(self, draft: m.Draft) -> m.Receipt:
        arguments = self._cleaned(draft)
        safe = replace(draft, **{name: arguments[name] for name in arguments if name != "created_by"})
        said = f"{draft.session} {m.fingerprint(draft.content)} {draft.created_by}"
        key = f"learn-{hashlib.sha256(said.encode()).hexdigest()[:40]}"
        return self._remote.call_or_wait(self._context, "learn", key, draft=asdict(safe)) or _waiting(key)

    def _cleaned(self, draft: m.Draft) -> dict[str, Any]:
        """Return the arguments of `remember`, without secrets, with paths as the project names them. Raise `Refused`."""
        context = self._context
        memory, _ = memory_from(
            draft,
            user_id=context.user_id,
            project=context.local_project,
            now=context.clock(),
            folder=context.folder.folder if context.folder else None,
        )
        procedure = memory.procedure
        arguments = {
            "content": memory.content,
            "kind": draft.kind,
            "scope": draft.scope,
            "tags": draft.tags,
            "file_paths": memory.file_paths,
            "triggers": memory.triggers,
            "when_needed": memory.when_needed,
            "steps": procedure.steps if procedure else (),
            "prerequisites": procedure.prerequisites if procedure else (),
            "warnings": procedure.warnings if procedure else (),
            "season": memory.season,
            "branch": memory.branch,
            "importance": draft.importance,
            "created_by": draft.created_by,
            "session": draft.session,
            "visibility": draft.visibility,
            "correction": draft.correction,
            "source": draft.source,
        }
        return {name: value for name, value in arguments.items() if value not in (None, ())}

    def edit(
        self, name: str, *, expected: str | None = None, change: m.Change | None = None, **changes: Any
    ) -> tuple[m.Memory, m.Receipt]:
        clean, redactions = clean_changes(changes)  # secrets stay here
        memory, receipt = self._call("edit", name=name, expected=expected, **clean)
        return memory, replace(receipt, redactions=(*redactions, *receipt.redactions))

    def describe(
        self, name: str, situations: Iterable[str], *, change: m.Change | None = None
    ) -> tuple[m.Memory, m.Receipt]:
        self._context.refuse_agents_if_off()
        clean, redactions = clean_situations(situations)  # secrets stay here
        memory, receipt = self._call("describe", name=name, situations=clean)
        return memory, replace(receipt, redactions=redactions)

    def forget(self, name: str, *, change: m.Change | None = None) -> m.Memory:
        memory: m.Memory = self._call("forget", name=name)
        return memory

    def restore(self, name: str, *, change: m.Change | None = None) -> m.Memory:
        memory: m.Memory = self._call("restore", name=name)
        return memory

    def wrong(self, name: str, because: str = "", instead: str = "", restore: bool = False) -> "WrongResult":
        because, instead = redact(because)[0], redact(instead)[0]
        result: WrongResult = self._call(
            "wrong", name=name, because=because, instead=instead, restore=restore
        )
        return result

    def pin(self, name: str, on: bool | None = None, *, change: m.Change | None = None) -> m.Memory:
        memory: m.Memory = self._call("pin", name=name, on=on)
        return memory

    def tag(
        self,
        name: str,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        *,
        change: m.Change | None = None,
    ) -> m.Memory:
        named = tuple(redact(tag)[0] for tag in add)
        memory: m.Memory = self._call("tag", name=name, add=named, remove=tuple(remove))
        return memory

    def link(
        self,
        source: str,
        target: str,
        relation: str = "relates_to",
        weight: float = 1.0,
        *,
        change: m.Change | None = None,
    ) -> m.Link:
        link: m.Link = self._call("link", source=source, target=target, relation=relation, weight=weight)
        return link

    def unlink(self, source: str, target: str, relation: str, *, change: m.Change | None = None) -> bool:
        return bool(self._call("unlink", source=source, target=target, relation=relation))

    def merge(self, name: str, other: str, *, change: m.Change | None = None) -> m.Memory:
        _not_here("merging")

    def together(self, action: str, summary: str) -> NoReturn:
        _not_here("changing several memories at once")

    def resolve(self, first: str, second: str, keep: str, *, change: m.Change | None = None) -> None:
        self._call("resolve", first=first, second=second, keep=keep)

    def feedback(
        self, name: str, helpful: bool, session: str | None = None, *, change: m.Change | None = None
    ) -> m.Memory:
        memory: m.Memory = self._call("feedback", name=name, helpful=helpful, session=session)
        return memory

    def fill_in_vectors(self, notes: tuple[str, ...]) -> None:
        """Vectors are made on the server."""


def _waiting(key: str) -> m.Receipt:
    return m.Receipt(f"waiting-{key[-12:]}", m.Outcome.STORED, False, (), (), (), WAITING, (WAITING,))


class RemoteRetrieval(Retrieval):
    """Search on the server. Messages of sessions are searched here, where they are."""

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        tag: str | None = None,
        file: str | None = None,
        files: Iterable[str] = (),
        as_of: datetime | None = None,
        recipe: str = "default",
        graph: bool = True,
        meaning: bool = True,
        task: bool = False,
        noted: bool = True,
        **filters: Any,
    ) -> m.Answer:
        self._context.refuse_if_off()
        answer: m.Answer = _remote(self._context).call(
            self._context,
            "search",
            query=_sendable(query, 60_000),
            limit=limit,
            tag=tag,
            file=file,
            files=tuple(files),
            as_of=as_of,
            recipe=recipe,
            graph=graph,
            meaning=meaning,
            task=task,
            noted=noted,
            **filters,
        )
        return answer

    def browse(self, query: str, view: m.View, which: m.MemoryFilter, limit: int = 50) -> m.Answer:
        return self.search(query, limit, noted=False)

    def similar(self, name: str, limit: int = 10) -> tuple[m.Hit, ...]:
        hits: tuple[m.Hit, ...] = _remote(self._context).call(
            self._context, "similar", name=name, limit=limit
        )
        return hits

    def close_to(self, receipt: m.Receipt) -> tuple[m.CloseMemory, ...]:
        return () if WAITING in receipt.notes else super().close_to(receipt)

    def gaps(self, limit: int = 20) -> tuple[m.Gap, ...]:
        gaps: tuple[m.Gap, ...] = _remote(self._context).call(self._context, "gaps", limit=limit)
        return gaps

    def note_use(self, used: Iterable[str], session: str | None = None, rejected: Iterable[str] = ()) -> None:
        used, rejected = tuple(used), tuple(rejected)
        if used or rejected:
            key = f"use-{m.new_id()}{os.urandom(4).hex()}"
            _remote(self._context).call_or_wait(
                self._context, "note_use", key, used=used, session=session, rejected=rejected
            )

    def process_searches(self, most: int = 0) -> None:
        """The server does this."""


@frozen
class RemoteMaintenance(Maintenance):
    """Review and undo on the server. The rest of maintenance is the server's own work."""

    def _call(self, name: str, /, **arguments: Any) -> Any:
        return _remote(self.context).call(self.context, name, **arguments)

    def changes(self, limit: int = 20, *, all_projects: bool = False) -> tuple[m.Change, ...]:
        found: tuple[m.Change, ...] = self._call("changes", limit=limit, all_projects=all_projects)
        return found

    def undo(self, name: str) -> m.Undone:
        undone: m.Undone = self._call("undo", name=name)
        return undone

    def doctor(self) -> "tuple[Diagnosis, ...]":
        return tuple(check for check in Maintenance.doctor(self) if check.part not in _OF_MEMORIES)

    def verify_audit(self) -> AuditCheck:
        checked: AuditCheck = self._call("verify_audit")
        return checked

    def questions(
        self, kind: str | None = None, *, all_projects: bool = False, tidy: bool = True
    ) -> "tuple[OpenReview, ...]":
        found: tuple[OpenReview, ...] = self._call("questions", kind=kind)
        return found

    def decide(self, name: str, answer: str, text: str = "") -> "ReviewDecision":
        decision: ReviewDecision = self._call("decide", name=name, answer=answer, text=redact(text)[0])
        return decision

    def close_gap(self, name: str, change: m.Change) -> bool:
        _not_here("closing a question")

    def stale(self) -> dict[str, Stale]:
        return {}

    def check_code(self) -> dict[str, Stale]:
        return {}

    def compact(self, most: int | None = None) -> Compaction:
        _not_here("compaction")

    def consolidate(self, *_: Any, **__: Any) -> "Consolidation":
        _not_here("consolidation")

    def mirror(self, folder: Path, *, plaintext: bool = False) -> "MirrorReport":
        _not_here("mirroring")

    def forget_project(self) -> tuple[m.Change, Cleared]:
        _not_here("forgetting a project")

    def restore_project(self) -> m.Undone:
        _not_here("restoring a project")

    def forget_everything(self) -> tuple[m.Change, Cleared]:
        _not_here("forgetting everything")

    def purge(self) -> Purged | None:
        return None

    def embed_missing(self, progress: Callable[[int], None] | None = None, limit: int | None = None) -> int:
        return 0

    def count_missing(self) -> int:
        return 0

    def backup(self) -> str:
        _not_here("a backup")

    def encrypt(self, key_file: Path | None = None) -> str:
        _not_here("encryption")

    def decrypt(self) -> None:
        _not_here("decryption")


class RemoteComposer(Composer):
    """Asks the server what memory has to say, and adds what this machine knows of code and past work."""

    def material(
        self, request: DeliveryRequest, *, starting: bool = False, sidecar: "Sidecar | None" = None
    ) -> Material:
        remote = _remote(self._context)
        try:
            found: Material = remote.call(
                self._context, "material", **_arguments_of(request), starting=starting
            )
        except Offline as error:
            if request.moment is Moment.ON_REQUEST:
                raise
            logger.warning("an agent goes on without memory: %s", error.message)
            return Material(notes=(error.message,))
        remote.note(found.always)
        remote.note(hit.memory for hit in (*found.fired, *found.matches, *found.known_errors))
        return found

    def _about_files(self, request: DeliveryRequest, told: Told) -> Material:
        try:
            return super()._about_files(request, told)
        except Offline as error:  # whether what waits may still be told is not known
            logger.warning("an agent goes on without memory: %s", error.message)
            return Material()


def _sendable(text: str, most: int) -> str:
    """Return the beginning of a text without its secrets: a prompt may hold what should not leave this machine."""
    return redact(start_of(text, most))[0][:most]


def _arguments_of(request: DeliveryRequest) -> Mapping[str, Any]:
    return {
        "moment": request.moment,
        "text": _sendable(request.text, 60_000),
        "command": _sendable(request.command, 16_000),
        "tool": request.tool[:400],
        "files": request.files[:64],
        "session": request.session,
        "host": request.host,
        "role": request.role,
        "use_model": request.use_model,
        "preview": request.preview,
    }


class RemoteSessions(Sessions):
    """Sessions are recorded here; what they find is shown to the others in the project while they run."""

    def checkpoint(self, session_id: str) -> int:
        new = super().checkpoint(session_id)
        self._publish(session_id)
        return new

    def end(self, session_id: str, summary: str = "", at: datetime | None = None) -> EndedSession:
        ended = super().end(session_id, summary, at)
        self._publish(session_id)
        return ended

    def drain_spool(self, spool: EventSpool | None = None) -> int:
        remote = _remote(self.context)
        if remote.outbox.waiting() and not remote.client.is_down:
            remote.deliver()
        return super().drain_spool(spool)

    def _publish(self, session_id: str) -> None:
        if not (self.on and self.auto and self.context.project):
            return
        from recollect.remote.operations import is_of_agent

        session = self.get(session_id)
        findings = [each for each in self.store.findings(session_id) if is_of_agent(each)][-200:]
        if not findings:
            return
        public = m.Session(
            session.id,
            "",
            None,
            session.started_at,
            session.agent,
            session.host,
            session.branch,
            ended_at=session.ended_at,
        )
        digest = hashlib.sha256(repr([(f.id, f.promoted_to) for f in findings]).encode()).hexdigest()[:24]
        key = f"publish-{digest}-{'end' if session.ended_at else 'open'}"
        with_texts = [replace(finding, messages=None) for finding in findings]
        try:
            _remote(self.context).call(
                self.context,
                "publish",
                key,
                session=asdict(public),
                findings=[asdict(finding) for finding in with_texts],
            )
        except Offline as error:  # the next checkpoint publishes them
            logger.info("findings were not shown to others: %s", error.message)
