"""The Engine: everything Recollect can do, as a table of contents; and `open`, where all is wired."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import recollect.model as m
from recollect.asking import Asking
from recollect.config import Settings, expand_home, load_settings
from recollect.context import project as projects
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.embed.open import NoEmbedder, open_embedder
from recollect.errors import (
    EmbedderUnavailable,
    RecollectError,
    Refused,
    StoreBusy,
    UnknownName,
)
from recollect.kinds import kind_of
from recollect.memory.maintenance import states
from recollect.memory.maintenance.doctor import Diagnosis, examine
from recollect.memory.maintenance.purge import drop_messages_if_due, purge_if_due, vacuum_if_it_pays
from recollect.memory.maintenance.undo import one_change
from recollect.moving import Moving
from recollect.store import open_store
from recollect.store.keys import find_key
from recollect.work.metrics.timed import Timed
from recollect.workplace import named

if TYPE_CHECKING:
    from recollect.llm.protocol import Judge
    from recollect.memory.maintenance.care import Care
    from recollect.memory.maintenance.review import OpenReview, ReviewDecision
    from recollect.memory.maintenance.wrong import WrongResult
    from recollect.memory.write.writer import MemoryWriter
    from recollect.work.sessions.sessions import Sessions
    from recollect.work.sessions.spool import Spool
    from recollect.work.sessions.transcript import Learning
    from recollect.work.transcripts.event import Event

_COMPACTED_AT_ONCE = (
    500  # memories archived when a command ends: a store far over its capacity gets there by and by
)
_TOUCHED = 2000  # files of a session that speak for their modules
_BACKFILLED_AT_ONCE = 32  # memories written while there was no embedder get their vectors a few at a time


class Engine(Asking, Moving):
    """Memory for one user, standing in one project. Usable from any thread; close it, or use it in a `with`."""

    @cached_property
    def _learner(self) -> "MemoryWriter":
        from recollect.memory.write.writer import MemoryWriter  # its tables of words cost readers 60 ms

        return MemoryWriter(self.context, self.index, self._judge)

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
    ) -> "Engine":
        """The engine for `project` (a folder; the current one if None), with its store in `home`.

        `actor` is who is at work: "user", or "agent:NAME", which may write to this project only.
        """
        settings = settings or load_settings(home)
        place = projects.locate(Path(project or settings.project or "."))
        store = open_store(settings.database, settings.user, find_key(settings.database, os.environ))
        try:
            engine = cls(
                settings,
                store,
                embedder or _embedder(settings, store),
                place,
                actor=actor,
                clock=clock,
                sidecar=sidecar,
            )
            if embedder is None:
                engine.embedder = Timed(
                    engine.embedder, lambda name, seconds: engine.measures.took(name, seconds)
                )
            return engine
        except BaseException:
            store.close()
            raise

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish: trim the audit log, make the daily backup and compact, if something was written. Closing twice is fine."""
        for room in ("episodes", "code"):
            if room in self.__dict__:
                getattr(self, room).close()
        self._purge_if_due()
        try:
            if self._wrote:
                self._wrote = False
                self.store.trim_audit()
                age, hours = self.store.backup_age(self._clock()), self.settings.backup_hours
                if hours and (age is None or age >= hours):
                    self.store.backup()
                self._compact_if_due()
        finally:
            if "measures" in self.__dict__ and self.measures.waiting:
                with contextlib.suppress(RecollectError):  # a read-only home
                    self.measures.flush()
            if "_searcher" in self.__dict__:
                with contextlib.suppress(RecollectError):  # a read-only home
                    self.maintain(clusters=False)
                    self.store.set_setting(None, "latencies", self._searcher.window.as_json())
                self._searcher.close()
            self.store.close()

    @cached_property
    def care(self) -> "Care":
        """Consolidation, compaction, review, undo…: what looks after many memories at once."""
        from recollect.memory.maintenance.care import Care

        return Care(
            self.store,
            self.embedder,
            self.settings,
            self._clock,
            self.actor,
            self._project_here,
            self._judge,
            lambda: self.sessions.recover(),
            self.context,
            self.index,
        )

    @cached_property
    def sessions(self) -> "Sessions":
        """Sessions as they go on and after: events, findings, promotion, recovery."""
        from recollect.work.sessions.sessions import Sessions

        return Sessions(
            self.store,
            self.embedder,
            self._clock,
            self.settings.user,
            self.project,
            self._promoted,
            (lambda: self.sidecar) if self._asks_a_model else None,
            self._watch,
        )

    def _watch(self, session: m.Session, events: "Iterable[Event]") -> "Iterator[Event]":
        """What is done in a session is recorded and measured as it goes by; its modules are surer afterwards."""
        over = session.ended_at is not None
        yield from self.measures.watch(session, self.episodes.watch(session.id, events, over=over))
        if over and self.project:
            touched = self.store.episodes.touches(self.episodes.owner, session=session.id, limit=_TOUCHED)
            self.maps.used([each.path for each in touched], session.id)

    @cached_property
    def spool(self) -> "Spool":
        """Where events of this project's sessions wait; those of others wait elsewhere."""
        from recollect.work.sessions.spool import Spool

        return Spool(self.settings.home / "spool" / "sessions" / (self._project_id or "none"))

    def note_use(self, ids: Iterable[str], session: str | None = None, rejected: Iterable[str] = ()) -> None:
        """Memories that turned up in what an agent did after they were shown, and those that did not fit at all."""
        from recollect.memory.maintenance.feedback import after_retrieval
        from recollect.work.metrics.saved import USED

        taken = list(ids)
        if taken:
            self.measures.note(USED, len(taken), session)
        after_retrieval(
            self.store,
            self._clock,
            self.view(session=session),
            retrieval=m.new_id(),
            shown=taken,
            used=taken,
            rejected=rejected,
            session=session,
        )

    def session_files(self, since: datetime | None = None) -> tuple[Path, ...]:
        """Where the hosts have kept their sessions since then, oldest first."""
        from recollect.work.hosts.session_files import session_files

        return tuple(found.path for found in session_files(expand_home("~"), since, os.environ))

    def learn_from(
        self,
        files: Iterable[Path],
        *,
        own_only: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> "Learning":
        """Learn from transcripts; `own_only` passes over sessions held in other projects. `progress` is told of bytes."""
        from recollect.work.sessions.transcript import Learning, learn_from_file

        if not self.sessions.on:
            raise Refused("Memory is off here: nothing is learnt.", "`recollect on` turns it on again.")
        self.register()
        learning = Learning()
        for path in files:
            learn_from_file(self.sessions, path, learning, self._is_here if own_only else None)
            if progress is not None:
                progress(path.stat().st_size)
        return self._done(learning)

    def _is_here(self, folder: str) -> bool:
        """Whether `folder` belongs to this project."""
        try:
            project, _ = projects.identify(projects.locate(Path(folder)), self.store)
        except RecollectError:
            return False
        return self.project is not None and project.id == self.project.id

    def _promoted(self, draft: m.Draft) -> m.Receipt:
        self.register()
        return self._done(self._learner.remember(draft))

    # writing

    def remember(self, content: str, **details: Any) -> m.Receipt:
        """Keep a statement; `details` are the other fields of `Draft`. Raises `Refused`."""
        details.setdefault("created_by", self.actor)
        if m.is_agent(self.actor):
            details["created_by"] = self.actor  # an agent speaks for itself
        self.register()
        with self.measures.timing("write"):
            receipt = self._learner.remember(m.Draft(content, **details))
        self._wrote = True
        self._catch_up(lacks_vector=bool(receipt.notes))
        return receipt

    def edit(self, name: str, **changes: Any) -> tuple[m.Memory, m.Receipt]:
        """Change fields of a memory: content, kind, tags, file_paths, triggers, season, branch, importance, visibility."""
        memory = self._mine(name)
        self.register()
        made = self._learner.rewrite(memory.id, lambda now: _with_changes(now, changes), self.actor)
        self._wrote = True
        self._catch_up(lacks_vector=bool(made[1].notes))
        return made

    def forget(self, name: str) -> m.Memory:
        """Out of sight at once; `restore` works for 30 days. `name` is an id or a keyword that fits only one."""
        memory = self._mine(name, find=True)
        with self._change("forget", f"Forgot {memory.id}.", memory):
            return self._done(states.forget(self.store, memory.id, self.actor, self._clock()))

    def restore(self, name: str) -> m.Memory:
        """Back to active: what was forgotten, archived, deprecated or superseded. Raises `Refused`."""
        memory = self._mine(name)
        with self._change("restore", f"Restored {memory.id}.", memory):
            return self._done(states.restore(self.store, memory.id, self.actor, self._clock()))

    def wrong(self, name: str, because: str = "", instead: str = "", restore: bool = False) -> "WrongResult":
        """A person says that a memory is wrong, and perhaps what is right `instead`. One change. Raises `Refused`.

        `restore` brings back what it had taken the place of.
        """
        from recollect.memory.maintenance.wrong import flag

        self._refuse_agents("call a memory wrong")
        memory = self._mine(name)
        self.register()
        change = self._entry("wrong", memory)
        found = flag(self.store, self._learner, change, memory, because, instead, restore)
        self._catch_up(lacks_vector=bool(found.correction and found.correction.notes))
        return self._done(found)

    def pin(self, name: str, on: bool | None = None) -> m.Memory:
        """Pinned memories stand in every briefing and never fade; None turns it over."""
        return self._done(
            states.pin(self.store, self._mine(name, find=True).id, self.actor, self._clock(), on)
        )

    def tag(self, name: str, add: Iterable[str] = (), remove: Iterable[str] = ()) -> m.Memory:
        memory = self._mine(name)
        return self._done(
            states.tag(self.store, memory.id, self.actor, self._clock(), tuple(add), tuple(remove))
        )

    def link(self, source: str, target: str, relation: str = "relates_to", weight: float = 1.0) -> m.Link:
        ends = self._mine(source), self.get(target)
        return self._done(states.link(self.store, *ends, relation, self.actor, self._clock(), weight))

    def resolve(self, first: str, second: str, keep: str) -> None:
        """Settle a conflict: `keep` is one of the two ids, or "both"."""
        self._refuse_agents("settle a conflict")
        a, b = self.get(first), self.get(second)
        kept = None if keep == "both" else self.get({"A": a.id, "B": b.id}.get(keep, keep)).id
        if kept is not None and kept not in (a.id, b.id):
            raise Refused(f"{keep} is not one of the two.", f"--keep {a.id}, {b.id} or both.")
        with self._change("resolve", f"Settled {a.id} and {b.id}: kept {kept or 'both'}.", a):
            states.resolve(self.store, a.id, b.id, kept, self.actor, self._clock())
        self._wrote = True

    def feedback(self, name: str, helpful: bool) -> m.Memory:
        """Someone says whether a memory helped."""
        from recollect.memory.maintenance.feedback import feedback

        self._wrote = True
        return feedback(self.store, self.get(name), helpful, self.actor, self._clock())

    def questions(self, kind: str | None = None) -> "tuple[OpenReview, ...]":
        """What waits for a person's word, oldest first; of one kind, or all."""
        from recollect.memory.maintenance.review import questions

        tidy = not m.is_agent(self.actor)
        user, now = self.settings.user, self._clock()
        return tuple(questions(self.store, user, self._project_id, kind, now, tidy=tidy))

    def decide(self, name: str, answer: str, text: str = "") -> "ReviewDecision":
        """Answer a question by "accept" or "reject", or "edit" with the new `text`. One change. Raises `Refused`."""
        from recollect.memory.maintenance.review import decide, find

        self._refuse_agents("decide what was left to the user")
        question = find(self.store, self.settings.user, name)
        change = self.care.change("review", "")
        decision = decide(self.store, self._learner, question, answer, change, self.embedder.model, text)
        self._catch_up(lacks_vector=bool(decision.notes))
        self.check_code()
        return self._done(decision)

    def _entry(self, action: str, memory: m.Memory, summary: str = "") -> m.Change:
        """The beginning of an act on one memory, which `changes` shows where the memory is."""
        return replace(self.care.change(action, summary), project_id=memory.project_id)

    def _change(self, action: str, summary: str, memory: m.Memory) -> contextlib.AbstractContextManager[None]:
        return one_change(self.store, self._entry(action, memory, summary))

    # care

    def maintain(self, *, clusters: bool = True) -> bool:
        """Do what searches have left to be done, and compact if due; whether clusters were made anew. For the daemon, when idle."""
        from recollect.memory.maintenance.clusters import clusters_due, refresh_clusters
        from recollect.memory.maintenance.feedback import after_retrieval

        self.measures.flush()
        while self._retrievals:
            name, view, shown, context = self._retrievals.pop()
            after_retrieval(
                self.store, self._clock, view, retrieval=name, shown=shown, context=context, actor=self.actor
            )
        self._compact_if_due()
        self._purge_if_due()
        if clusters:
            self._learn_from_work()
            with contextlib.suppress(StoreBusy):  # another time
                vacuum_if_it_pays(self.store, self._clock())
        if not clusters or not clusters_due(self.store, self._project_id):
            return False
        refresh_clusters(self.store, self.embedder.model, self.view(), self._project_id, self._clock())
        return True

    def _learn_from_work(self) -> None:
        """Patterns in what was done, and which memories the code has moved away from since."""
        self.episodes.refresh()
        self.episodes.embed_tasks()
        self.episodes.roll_up_if_due()
        self.check_code()

    def _compact_if_due(self) -> None:
        from recollect.memory.maintenance.compact import is_due

        if is_due(self.store, self._project_id, self._clock()):
            self.care.compact(_COMPACTED_AT_ONCE)

    def _purge_if_due(self) -> None:
        """What was forgotten goes for good when its grace is over, and messages when their time is, whoever comes by first."""
        with contextlib.suppress(RecollectError):  # a read-only home, a busy or a closed store
            purge_if_due(self.store, self.settings.home, self._clock())
            drop_messages_if_due(self.store, self.settings.message_days, self._clock())
            if self.settings.pruned_days:
                kept = timedelta(days=min(self.settings.pruned_days, 36_500))
                self.store.pruned.drop_before(self._clock() - kept)

    def stats(self) -> dict[str, Any]:
        """Counts and sizes, for people and programs."""
        view = replace(self.view(), states=m.ALL_STATES)
        info = self.store.info()
        window = self._window
        return {
            "project": m.as_json(self.project),
            "memories": self.store.count(self.view()),
            "by_kind": self.store.counts(self.view(), "kind"),
            "by_scope": self.store.counts(self.view(), "scope"),
            "by_state": self.store.counts(view, "state"),
            "by_standing": self.store.counts(self.view(), "standing"),
            "all_projects": self.store.count(replace(self._own(), states=frozenset({m.State.ACTIVE}))),
            "conflicts": len(self.store.conflicts(self.view())),
            "tags": len(self.tags()),
            "store": m.as_json(info),
            "embedder": self.settings.embedder,
            "compaction": self.store.setting(self._project_id, "compacted"),
            "recall": {"p95_ms": round(window.p95, 1), "samples": len(window), "degraded": window.degraded},
            "measures": self._figures(),
        }

    def _figures(self) -> dict[str, Any]:
        from recollect.work.metrics.report import report

        return report(self.measures, self.store, self.view(), self._clock())

    def doctor(self) -> tuple[Diagnosis, ...]:
        """Whether all is well, and if not, what to do."""
        return examine(
            store=self.store,
            embedder=self.embedder,
            settings=self.settings,
            project=self.project,
            place=self.place,
            view=self.view(),
            now=self._clock(),
        )

    def _catch_up(self, lacks_vector: bool) -> None:
        """Vectors that could not be made when their memories were written, a few with every write that can."""
        pending = bool(self.store.setting(None, "vectors_pending"))
        if lacks_vector:
            if not pending:
                self.store.set_setting(None, "vectors_pending", True)
        elif pending:
            with contextlib.suppress(EmbedderUnavailable):  # another time; what was asked for is done
                made = self.embed_missing(limit=_BACKFILLED_AT_ONCE)
                self.store.set_setting(None, "vectors_pending", made == _BACKFILLED_AT_ONCE)


def _embedder(settings: Settings, store: Store) -> Embedder:
    url = settings.embedder_url
    if settings.embedder == "http" and not _local(url) and url not in (store.setting(None, "agreed") or []):
        return NoEmbedder(
            EmbedderUnavailable(
                f"You have not yet agreed that texts of memories are sent to {url}.",
                f"`recollect init --agree {url}` records that you do.",
            )
        )
    return open_embedder(
        settings.embedder,
        url=url or None,
        model=settings.embedder_model or None,
        key=os.environ.get("RECOLLECT_EMBEDDER_KEY"),
        dim=settings.embedder_dim or None,
        path=Path(settings.embedder_path) if settings.embedder_path else None,
        providers=settings.embedder_providers,
    )


def _local(url: str) -> bool:
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


_EDITABLE: dict[str, Callable[[Any], Any]] = {
    "content": str,
    "kind": lambda name: kind_of(name).name,
    "tags": tuple,
    "file_paths": tuple,
    "triggers": tuple,
    "season": lambda text: text or None,
    "branch": lambda text: text or None,
    "importance": float,
    "visibility": lambda name: named(m.Visibility, "visibility", name),
}


def _with_changes(memory: m.Memory, changes: Mapping[str, Any]) -> m.Memory:
    for name in changes:
        if name not in _EDITABLE:
            raise UnknownName("field", name, list(_EDITABLE))
    if not changes:
        raise Refused("Nothing to change was given.", f"One of: {', '.join(_EDITABLE)}.")
    return replace(memory, **{name: _EDITABLE[name](value) for name, value in changes.items()})
