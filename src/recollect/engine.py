"""The `Engine`: opens the store and the embedder, holds the parts, and offers the verbs that most callers use.

A verb here passes its arguments to the part that implements it; read its documentation there. Parts are created on first
use, because importing them all would take longer than most commands run.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, cast

import recollect.model as m
from recollect.config import Settings, load_settings
from recollect.context.context import Context
from recollect.context.embedder import Embedder
from recollect.context.project import identify, locate
from recollect.embed.open import embedder_for, open_embedder
from recollect.errors import Refused, StoreError
from recollect.memory.memories import Memories
from recollect.memory.preferences import Preferences
from recollect.remote.login import read_login
from recollect.store import finish_rekeying, open_store, open_store_to_read
from recollect.store.keys import find_key
from recollect.work.metrics.measures import Measures, TimedEmbedder

if TYPE_CHECKING:
    from recollect.code.codebase import Codebase
    from recollect.code.modules.project_map import ProjectMap
    from recollect.code.modules.task import ModuleMatch
    from recollect.code.relevant.search import Relevant
    from recollect.context.pair_reader import PairReader
    from recollect.llm.protocol import Judge, Sidecar
    from recollect.memory.maintainer import Maintenance
    from recollect.memory.maintenance.doctor import Diagnosis
    from recollect.memory.maintenance.review import OpenReview, ReviewDecision
    from recollect.memory.maintenance.wrong import WrongResult
    from recollect.memory.retrieval import Retrieval
    from recollect.memory.transfer.transfer import Transfer
    from recollect.memory.write.messages import MessageReport
    from recollect.remote.parts import Remote
    from recollect.work.delivery.composer import Composer
    from recollect.work.delivery.delivery import Delivery
    from recollect.work.episodes.episodes import Episodes
    from recollect.work.project_code import ProjectCode
    from recollect.work.schedule import Schedule
    from recollect.work.sessions.sessions import Sessions


Progress = Callable[[int], None]
ImportedIds = list[str | None]  # inside the class, `list` is the method


class Engine:
    """Memory for one user in one project. Use it from any thread; close it, or use it in a `with` statement."""

    def __init__(self, context: Context, judge: "Judge | None" = None) -> None:
        """`judge` decides where the rules are unsure, instead of the model in the settings."""
        self.context = context
        self.settings = context.settings
        self.store = context.store
        self.embedder = context.embedder
        self.project = context.project
        self.preferences = Preferences(context)
        self._given_judge = judge
        self._opened_at = context.store.seq()
        self._is_closed = False
        self._is_read_only = False
        self._owns_store = True

    @classmethod
    def open(
        cls,
        project: Path | str | None = None,
        home: Path | str | None = None,
        *,
        actor: str = "user",
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        clock: m.Clock = m.utc_now,
        sidecar: "Judge | None" = None,
        has_deadlines: bool = True,
        reader: "PairReader | None" = None,
    ) -> "Engine":
        """Open the engine for the folder `project` (by default the current one), with its store in `home`.

        `actor` is "user", or "agent:NAME", which may write to this project only. Without deadlines, a search is never
        cut off, however slow the machine is. `reader` compares statements where the rules find nothing, once it is loaded.
        """
        settings = settings or load_settings(home)
        folder = locate(Path(project or settings.project or "."))
        remote: Remote | None = None
        if (login := read_login(settings.home)) is not None:
            from recollect.remote.parts import open_remote, team_project

            settings, remote = open_remote(settings.home, login, settings)
        finish_rekeying(settings.database, os.environ)
        store = open_store(settings.database, settings.user, find_key(settings.database, os.environ))
        try:
            found, keys = identify(folder, store)
            if remote is not None:
                found = team_project(found, keys, settings.user)
            used = embedder or embedder_for(settings, store.setting(None, "agreed") or ())
            if remote is not None and remote.login.embeddings == "client":
                remote.embedder = used
            context = Context(
                settings,
                store,
                used,
                clock,
                actor,
                found,
                folder,
                tuple(keys),
                has_deadlines,
                reader=reader,
                remote=remote,
            )
            if embedder is None:
                measures = Measures(context)
                engine = cls(replace(context, embedder=TimedEmbedder(used, measures)), sidecar)
                engine.measures = measures
                return engine
            return cls(context, sidecar)
        except BaseException:
            store.close()
            raise

    @classmethod
    def open_to_read(cls, project: Path | str, settings: Settings, *, actor: str = "user") -> "Engine":
        """Open the engine on an existing store, to read it at once: without a model, and without waiting for writers.

        Nothing is created, migrated or written, also not by `close`. Raises `StoreError` if the store cannot be read as
        it is, `WrongKey`, and `Refused` if a team server has the memories.
        """
        if (login := read_login(settings.home)) is not None:
            raise Refused(f"The memories of this home are on {login.address}.", "Ask the server.")
        key = find_key(settings.database, os.environ)
        store = open_store_to_read(settings.database, settings.user, key)
        try:
            folder = locate(Path(project))
            found, keys = identify(folder, store)
            context = Context(
                settings, store, open_embedder("none"), m.utc_now, actor, found, folder, tuple(keys)
            )
            engine = cls(context)
        except BaseException:
            store.close()
            raise
        engine._is_read_only = True
        return engine

    def for_project(self, project: m.Project | None) -> "Engine":
        """Return an engine for another project on the same store. Close it before this one."""
        context = self.context.for_project(project)
        if project is not None and Path(project.root).is_dir():
            context = replace(context, folder=locate(Path(project.root)))
        engine = Engine(context, self._given_judge)
        engine._owns_store = False
        return engine

    def close(self) -> None:
        """Write what waits, run the maintenance that is due, and close the store. Closing twice does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._is_read_only:
            self.store.close()
            return
        from recollect.work.schedule import Schedule

        used = self.__dict__  # the parts that were created
        try:
            if "delivery" in used:
                with suppress(StoreError):  # a read-only home can be read
                    self.delivery.flush()
            for name in ("episodes", "codebase"):
                if name in used:
                    used[name].close()
            if not self._owns_store:
                return
            schedule = Schedule(self.context, used.get("measures"), used.get("retrieval"))
            schedule.run_at_close(wrote=self._has_written())
        finally:
            if "retrieval" in used:
                self.retrieval.close()
            if (private := used.get("_private")) is not None:
                private.close()
            if (remote := self.remote) is not None:
                remote.close()
            if self._owns_store:
                self.store.close()

    def _has_written(self) -> bool:
        """Whether memories have changed since opening; False if the store was closed before the engine."""
        try:
            return self.store.seq() != self._opened_at
        except StoreError:
            return False

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # parts

    @cached_property
    def memory(self) -> Memories:
        """Memories one at a time: read, write and change."""
        if self._private is not None:
            from recollect.remote.private import MixedMemories

            return MixedMemories(self.context, self._private.memory)
        if self.remote is not None:
            from recollect.remote.parts import RemoteMemories

            return RemoteMemories(self.context)
        return Memories(self.context, self._judge)

    @cached_property
    def retrieval(self) -> "Retrieval":
        """Search over memories, messages and sessions."""
        if self._private is not None:
            from recollect.remote.private import MixedRetrieval

            return MixedRetrieval(self.context, self.memory, self.preferences, self._private.retrieval)
        if self.remote is not None:
            from recollect.remote.parts import RemoteRetrieval

            return RemoteRetrieval(self.context, self.memory, self.preferences)
        from recollect.memory.retrieval import Retrieval

        return Retrieval(self.context, self.memory, self.preferences)

    @cached_property
    def delivery(self) -> "Composer":
        """What agents are told, at every moment."""
        if self._private is not None:
            from recollect.remote.private import MixedComposer

            return MixedComposer(self, self._private.delivery)
        if self.remote is not None:
            from recollect.remote.parts import RemoteComposer

            return RemoteComposer(self)
        from recollect.work.delivery.composer import Composer

        return Composer(self)

    @cached_property
    def transfer(self) -> "Transfer":
        """Export and import."""
        from recollect.memory.transfer.transfer import Transfer

        return Transfer(self.context)

    @cached_property
    def care(self) -> "Maintenance":
        """Maintenance: consolidation, review, undo, backups, encryption."""
        if self._private is not None:
            from recollect.remote.private import MixedMaintenance

            return MixedMaintenance(self.context, self.memory, self.codebase, local=self._private.care)
        if self.remote is not None:
            from recollect.remote.parts import RemoteMaintenance

            return RemoteMaintenance(self.context, self.memory, self.codebase)
        from recollect.memory.maintainer import Maintenance

        return Maintenance(self.context, self.memory, self.codebase, self._judge)

    @cached_property
    def codebase(self) -> "Codebase":
        """The project's files and their graph, without anything from the store."""
        from recollect.code.codebase import Codebase
        from recollect.code.graph.database import graph_database_path

        path = graph_database_path(self.settings.home, self.context.project_id)
        return Codebase(self.context.root or Path(), path, find_key(self.settings.database, os.environ))

    @cached_property
    def code(self) -> "ProjectCode":
        """The code graph, and the files and modules that a task is about."""
        from recollect.work.project_code import ProjectCode

        return ProjectCode(self.context, self.codebase, self._model)

    @property
    def maps(self) -> "ProjectMap":
        """The project's modules. Raises `Refused` outside any project."""
        return self.code.maps

    @cached_property
    def measures(self) -> Measures:
        """What is counted and timed."""
        return Measures(self.context)

    @cached_property
    def episodes(self) -> "Episodes":
        """Past work: tools, files, tasks, and patterns in them."""
        from recollect.work.episodes.episodes import Episodes

        return Episodes(self.context)

    @cached_property
    def sessions(self) -> "Sessions":
        """Sessions: record events, learn from them, recover sessions that crashed."""
        if self.remote is not None:
            from recollect.remote.parts import RemoteSessions

            return RemoteSessions(self.context, self.memory, self.episodes, self.measures, self._model)
        from recollect.work.sessions.sessions import Sessions

        return Sessions(self.context, self.memory, self.episodes, self.measures, self._model)

    @cached_property
    def schedule(self) -> "Schedule":
        """Maintenance that is due from time to time."""
        from recollect.work.schedule import Schedule

        return Schedule(self.context, self.measures, self.retrieval, self.episodes, self.codebase)

    @cached_property
    def sidecar(self) -> "Sidecar":
        """What decides where the rules are unsure: the model in the settings, else a set of rules."""
        from recollect.memory.sidecar import open_sidecar

        return open_sidecar(self.settings, self.store, self.embedder, self.context.clock)

    @property
    def _model(self) -> "Sidecar | None":
        """The sidecar if the settings name a language model, else None."""
        return self.sidecar if self.settings.sidecar in ("http", "command") else None

    @property
    def _judge(self) -> "Judge | None":
        return self._given_judge or self._model

    @property
    def remote(self) -> "Remote | None":
        """The team server that has the memories; None if they are in the store."""
        return cast("Remote | None", self.context.remote)

    @property
    def home(self) -> Path:
        """The home that hosts and the daemon know; what stays here beside a team server is in a folder of its own below it."""
        return self.remote.home if self.remote is not None else self.settings.home

    @cached_property
    def _private(self) -> "Engine | None":
        """The engine of private memories that stay on this machine beside those of a team; None = there are none."""
        if self.remote is None or not self.remote.login.private_mode:
            return None
        engine = Engine(replace(self.context, remote=None), self._given_judge)
        engine._owns_store = False
        return engine

    # reading

    def search(self, query: str, limit: int = 10, **options: Any) -> m.Answer:
        """Return memories relevant to `query`; see `Retrieval.search`."""
        with self.measures.timing("search"):
            return self.retrieval.search(query, limit, **options)

    def recall(self, task: str = "", **options: Any) -> "Delivery":
        """Return what an agent should know for `task`; see `Composer.recall`."""
        return self.delivery.recall(task, **options)

    def explain(self, query: str, name: str, **options: Any) -> m.Hit:
        return self.retrieval.explain(query, name, **options)

    def similar(self, name: str, limit: int = 10) -> tuple[m.Hit, ...]:
        return self.retrieval.similar(name, limit)

    def close_to(self, receipt: m.Receipt) -> tuple[m.CloseMemory, ...]:
        return self.retrieval.close_to(receipt)

    def gaps(self, limit: int = 20) -> tuple[m.Gap, ...]:
        return self.retrieval.gaps(limit)

    def search_messages(self, query: str, limit: int = 10, **options: Any) -> tuple[m.MessageHit, ...]:
        return self.retrieval.search_messages(query, limit, **options)

    def search_sessions(self, query: str, limit: int = 10, **options: Any) -> tuple[m.SessionHit, ...]:
        return self.retrieval.search_sessions(query, limit, **options)

    def relevant(self, task: str, **options: Any) -> "Relevant":
        """Return the files, symbols and lines that a task is about; see `ProjectCode.relevant`."""
        return self.code.relevant(task, **options)

    def modules_for(self, task: str) -> "list[ModuleMatch]":
        return self.code.modules_for(task)

    def get(self, name: str) -> m.Memory:
        return self.memory.get(name)

    def list(self, **filters: Any) -> tuple[m.Memory, ...]:
        return self.memory.list(**filters)

    def links(self, name: str) -> tuple[m.Link, ...]:
        return self.memory.links(name)

    def conflicts(self) -> tuple[tuple[m.Link, m.Memory, m.Memory], ...]:
        return self.memory.conflicts()

    def tags(self) -> tuple[m.Tag, ...]:
        return self.memory.tags()

    def audit(self, limit: int = 50, name: str | None = None) -> tuple[m.AuditLine, ...]:
        return self.memory.audit(limit, name)

    def questions(self, kind: str | None = None) -> "tuple[OpenReview, ...]":
        return self.care.questions(kind)

    def stats(self) -> dict[str, Any]:
        from recollect.work.metrics.report import stats

        return stats(self.context, self.retrieval, self.measures)

    def doctor(self) -> "tuple[Diagnosis, ...]":
        return self.care.doctor()

    # writing

    def remember(self, content: str, **details: Any) -> m.Receipt:
        """Store a statement; see `Memories.remember`."""
        with self.measures.timing("write"):
            return self.memory.remember(content, **details)

    def edit(self, name: str, **changes: Any) -> tuple[m.Memory, m.Receipt]:
        return self.memory.edit(name, **changes)

    def forget(self, name: str) -> m.Memory:
        return self.memory.forget(name)

    def restore(self, name: str) -> m.Memory:
        return self.memory.restore(name)

    def wrong(self, name: str, because: str = "", instead: str = "", restore: bool = False) -> "WrongResult":
        return self.memory.wrong(name, because, instead, restore)

    def pin(self, name: str, on: bool | None = None) -> m.Memory:
        return self.memory.pin(name, on)

    def tag(self, name: str, add: Iterable[str] = (), remove: Iterable[str] = ()) -> m.Memory:
        return self.memory.tag(name, add, remove)

    def link(self, source: str, target: str, relation: str = "relates_to", weight: float = 1.0) -> m.Link:
        return self.memory.link(source, target, relation, weight)

    def resolve(self, first: str, second: str, keep: str) -> None:
        self.memory.resolve(first, second, keep)

    def feedback(self, name: str, helpful: bool, session: str | None = None) -> m.Memory:
        return self.memory.feedback(name, helpful, session)

    def decide(self, name: str, answer: str, text: str = "") -> "ReviewDecision":
        return self.care.decide(name, answer, text)

    def export(self, out: IO[str], **options: bool) -> int:
        return self.transfer.export(out, **options)

    def bundle(self, path: Path, passphrase: str, **options: bool) -> int:
        return self.transfer.bundle(path, passphrase, **options)

    def import_memories(self, records: Iterable[Mapping[str, Any]]) -> ImportedIds:
        """Store `records` as given; return their ids in order, None for one that was refused."""
        return self.transfer.import_records(records).ids

    def import_messages(
        self, records: Iterable[Mapping[str, Any]], progress: Progress | None = None
    ) -> "MessageReport":
        return self.transfer.import_messages(records, progress)

    def embed_missing(self, progress: Progress | None = None, limit: int | None = None) -> int:
        return self.care.embed_missing(progress, limit)

    def backup(self) -> str:
        return self.care.backup()

    def encrypt(self, key_file: Path | None = None) -> str:
        return self.care.encrypt(key_file)

    def decrypt(self) -> None:
        self.care.decrypt()
