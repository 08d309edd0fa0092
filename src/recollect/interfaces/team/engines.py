"""Engines for callers: an engine has the store of its caller, and the project and actor that the request names."""

import contextlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import recollect.model as m
from recollect.config import Settings
from recollect.context.context import Context
from recollect.context.project import ProjectFolder
from recollect.context.team import TeamBackend, TeamStore
from recollect.engine import Engine
from recollect.errors import OutOfScope, RecollectError
from recollect.interfaces.engine_pool import CachingEmbedder
from recollect.interfaces.team.client_vectors import ClientEmbedder, NoVectors
from recollect.memory.index.index import MemoryIndex
from recollect.model.team import Identity, Role
from recollect.remote.wire import NOWHERE, ClientVectors, Place, team_project_id

logger = logging.getLogger(__name__)

ROOT = "/team"  # where projects have their files, as far as the server knows: nowhere
MOST_CALLERS = 256  # stores that stay open
MOST_ENGINES = 16  # of one caller: projects, branches and agents
PROCESS_SECONDS = 1.0  # that searches are processed at a time: a server that stops waits for it
PROCESSED_AT_ONCE = 20  # searches of one caller
MOST_INDEXED = 300_000  # memories whose words and vectors stay in memory: about 2.5 KB each


_EngineKey = tuple[Place, str | None, str]  # place, project and actor


@dataclass
class _Caller:
    """The open store of one identity, and its engines."""

    store: TeamStore
    engines: OrderedDict[_EngineKey, Engine] = field(default_factory=OrderedDict)
    users: int = 0


class CallerEngines:
    """Lends engines. The stores of the callers that came last stay open, and so do the indexes of their tenants.

    An index has all memories of a tenant, as the server's own work reads them. What a search finds in it is read again with
    the rights of the caller, and is not returned if they may not see it.
    """

    def __init__(
        self, backend: TeamBackend, settings: Settings, embedder: CachingEmbedder, clock: m.Clock = m.utc_now
    ) -> None:
        self._backend = backend
        self._settings = settings
        self._embedder = embedder
        self._clock = clock
        self._callers: OrderedDict[Identity, _Caller] = OrderedDict()
        self._indexes: OrderedDict[str, tuple[TeamStore, MemoryIndex]] = OrderedDict()  # by tenant
        self._lock = threading.Lock()

    def forget_texts(self) -> None:
        """Drop vectors and searches of people who may have been erased."""
        self._embedder.forget()
        with self._lock:
            engines = [engine for caller in self._callers.values() for engine in caller.engines.values()]
        for engine in engines:
            if "retrieval" in engine.__dict__:
                engine.retrieval.drop_searches()

    @contextlib.contextmanager
    def use(
        self, identity: Identity, place: Place, actor: str, vectors: ClientVectors | None = None
    ) -> Iterator[Engine]:
        """Yield an engine for one call. Raise `OutOfScope` if the token is not for that project.

        With `vectors`, the engine has these and no others.
        """
        project = project_of(identity, place)
        if identity.projects is not None and (project is None or project.id not in identity.projects):
            raise OutOfScope("This token is not for that project.", "Ask for a token that is.")
        caller, engine = self._acquire(identity, place, actor_of(identity, actor), project)
        try:
            with self._indexes[identity.tenant][0].reading_together():
                if vectors is None:
                    yield engine
                    return
                own = self._with_vectors(engine, vectors)
                yield own
            if identity.role is not Role.READER and "retrieval" in own.__dict__:
                own.retrieval.process_searches()
        finally:
            self._release(caller)

    @contextlib.contextmanager
    def use_project(self, identity: Identity, project_id: str | None) -> Iterator[Engine]:
        """Yield an engine of a person for a project that they may see. Raise `OutOfScope` for any other."""
        with self.use(identity, NOWHERE, "user") as engine:
            found = {project.id: project for project in engine.store.projects()}.get(project_id or "")
            if found is None:
                raise OutOfScope("There is no such project, or you may not see it.", "Choose another one.")
            caller, own = self._acquire(identity, NOWHERE, actor_of(identity, "user"), found)
            try:
                yield own
            finally:
                self._release(caller)

    def _with_vectors(self, engine: Engine, vectors: ClientVectors) -> Engine:
        own = Engine(
            replace(engine.context, embedder=ClientEmbedder(self._embedder, vectors.model, vectors.rows))
        )
        own.memory.index = engine.memory.index
        return own

    def _acquire(
        self, identity: Identity, place: Place, actor: str, project: m.Project | None
    ) -> tuple[_Caller, Engine]:
        key = (place, project.id if project else None, actor)
        with self._lock:
            caller = self._callers.get(identity)
            if caller is None:
                caller = self._callers[identity] = _Caller(self._backend.store(identity))
            self._callers.move_to_end(identity)
            self._make_room(identity.tenant)
            engine = caller.engines.get(key)
            if engine is None:
                engine = caller.engines[key] = self._open(identity, place, actor, project, caller.store)
            caller.engines.move_to_end(key)
            caller.users += 1
            surplus = len(caller.engines) - MOST_ENGINES
            stopped = [caller.engines.popitem(last=False)[1] for _ in range(surplus)] if surplus > 0 else []
        for old in stopped:
            _stop(old)
        return caller, engine

    def _open(
        self, identity: Identity, place: Place, actor: str, project: m.Project | None, store: TeamStore
    ) -> Engine:
        folder = None
        if project is not None:
            root = Path(project.root)
            keys = (*place.keys, f"dir:{root}")
            folder = ProjectFolder(root, root, keys, "its keys", place.branch)
        settings = replace(self._settings, user=identity.user)
        # Callers have deadlines of their own, and an answer that is cut off helps nobody.
        context = Context(
            settings,
            store,
            self._embedder if identity.embeds else NoVectors(self._embedder),
            self._clock,
            actor,
            project,
            folder,
            place.keys,
            has_deadlines=False,
        )
        engine = Engine(context)
        engine.memory.index = self._index_of(identity)
        return engine

    def _index_of(self, identity: Identity) -> MemoryIndex:
        """Return the index of the caller's tenant. Call it with the lock."""
        if identity.tenant not in self._indexes:
            store = self._backend.store(Identity(identity.tenant, "", "", Role.SERVICE))
            self._indexes[identity.tenant] = store, MemoryIndex(store)
        return self._indexes[identity.tenant][1]

    def _make_room(self, tenant: str) -> None:
        """Empty the indexes that were not used for longest; they are read again when they are needed."""
        if tenant in self._indexes:
            self._indexes.move_to_end(tenant)
        indexed = sum(index.size for _, index in self._indexes.values())
        for other, (_, index) in self._indexes.items():
            if indexed <= MOST_INDEXED or other == tenant:
                return
            indexed -= index.size
            index.clear()

    def _release(self, caller: _Caller) -> None:
        with self._lock:
            caller.users -= 1
            surplus = max(len(self._callers) - MOST_CALLERS, 0)
            idle = [identity for identity, each in self._callers.items() if not each.users][:surplus]
            closing = [self._callers.pop(identity) for identity in idle]
        _close(closing)

    def process_searches(self) -> None:
        """Turn what searches have noted into gaps, for everybody who may write. The rest of many waits for the next time."""
        ends = time.monotonic() + PROCESS_SECONDS
        with self._lock:
            callers = [each for identity, each in self._callers.items() if identity.role is not Role.READER]
            engines = [engine for caller in callers for engine in caller.engines.values()]
            for caller in callers:
                caller.users += 1
        for engine in engines:
            if time.monotonic() > ends:
                break
            try:
                if "retrieval" in engine.__dict__:
                    engine.retrieval.process_searches(PROCESSED_AT_ONCE)
            except RecollectError:
                logger.exception("a search was not processed")
        for caller in callers:
            self._release(caller)

    def close(self) -> None:
        with self._lock:
            closing = list(self._callers.values())
            self._callers.clear()
            indexes = list(self._indexes.values())
            self._indexes.clear()
        _close(closing)
        for store, _ in indexes:
            store.close()


def _stop(engine: Engine) -> None:
    retrieval = engine.__dict__.get("retrieval")
    if retrieval is not None and "searcher" in retrieval.__dict__:
        retrieval.searcher.close()


def project_of(identity: Identity, place: Place) -> m.Project | None:
    """Return the project that a request names by its keys; the id is made here, whatever the client thinks it is."""
    project_id = team_project_id(identity.user, place.keys)
    if project_id is None:
        return None
    return m.Project(project_id, place.name[:100] or project_id, f"{ROOT}/{project_id}", "its keys")


def actor_of(identity: Identity, claimed: str) -> str:
    """Return who acts: a token of an agent is that agent; a person's client may say that one of their agents acts."""
    if identity.agent:
        return f"agent:{identity.agent}"
    name = " ".join("".join(char if char.isprintable() else " " for char in claimed).split())
    return name if m.is_agent(name) and name.startswith("agent:") else "user"


def _close(callers: list[_Caller]) -> None:
    for caller in callers:
        for engine in caller.engines.values():
            _stop(engine)
        try:
            caller.store.close()
        except RecollectError:
            logger.exception("a store was not closed")
