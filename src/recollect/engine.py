"""The Engine: everything Recollect can do, as a table of contents; and `open`, where all is wired."""

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import recollect.model as m
from recollect.codebase import project as places
from recollect.config import Settings, load_settings
from recollect.embed.open import NoEmbedder, open_embedder
from recollect.embed.protocol import Embedder
from recollect.errors import (
    AmbiguousId,
    EmbedderUnavailable,
    MemoryNotFound,
    OutOfScope,
    RecollectError,
    Refused,
    UnknownName,
)
from recollect.kinds import kind_of
from recollect.learn.enrich import normal_tag
from recollect.store.keys import drop_key, find_key, make_key, read_note
from recollect.store.sqlite import SqliteStore
from recollect.tend import states
from recollect.tend.doctor import Diagnosis, examine
from recollect.tend.vectors import embed_missing

if TYPE_CHECKING:
    from recollect.learn.messages import MessageReport
    from recollect.learn.write import Learner, Sidecar
    from recollect.recall.aliases import Alias
    from recollect.recall.briefing import Briefing
    from recollect.recall.search import Question, Searcher
    from recollect.recall.slo import LatencyWindow
    from recollect.tend.care import Care
    from recollect.tend.transfer import ImportReport, Parcel

Result = TypeVar("Result")
ImportedIds = list[str | None]
ALL_STATES = frozenset(m.State)
_MOST_RETRIEVALS = 1000  # remembered until there is time to deal with them
_FITS = 0.3  # score from which a hit answers the question at all: below, something is missing
_BACKFILLED_AT_ONCE = 32  # memories written while there was no embedder get their vectors a few at a time


class Engine:
    """Memory for one user, standing in one project. Usable from any thread; close it, or use it in a `with`."""

    def __init__(
        self,
        settings: Settings,
        store: SqliteStore,
        embedder: Embedder,
        place: places.Place | None,
        *,
        actor: str = "user",
        clock: m.Clock = m.utc_now,
        sidecar: "Sidecar | None" = None,
    ) -> None:
        self.settings = settings
        self.actor = actor
        self.store = store
        self.embedder = embedder
        self.place = place
        self._clock = clock
        self._wrote = False
        self._retrievals: list[tuple[str, m.View, list[str], str]] = []
        self.project: m.Project | None = None  # None = outside any project: global memories only
        self._project_keys: Sequence[str] = ()  # by which it should be known, until it has been registered
        if place is not None:
            self.project, self._project_keys = places.identify(place, store)
        self._sidecar = sidecar

    @cached_property
    def _learner(self) -> "Learner":
        from recollect.learn.write import Learner  # its tables of words cost readers 60 ms

        return Learner(
            self.store,
            self.embedder,
            self._clock,
            user_id=self.settings.user,
            project=self.project,
            folder=self.place.folder if self.place else None,
            session_limit=self.settings.session_limit,
            sidecar=self._sidecar,
        )

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
        sidecar: "Sidecar | None" = None,
    ) -> "Engine":
        """The engine for `project` (a folder; the current one if None), with its store in `home`.

        `actor` is who is at work: "user", or "agent:NAME", which may write to this project only.
        """
        settings = settings or load_settings(home)
        place = places.look(Path(project or settings.project or "."))
        store = SqliteStore(settings.database, find_key(settings.database, os.environ))
        try:
            return cls(
                settings,
                store,
                embedder or _embedder(settings, store),
                place,
                actor=actor,
                clock=clock,
                sidecar=sidecar,
            )
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
        """Finish: trim the audit log and make the daily backup, if something was written. Closing twice is fine."""
        try:
            if self._wrote:
                self._wrote = False
                self.store.trim_audit()
                age, hours = self.store.backup_age(self._clock()), self.settings.backup_hours
                if hours and (age is None or age >= hours):
                    self.store.backup()
        finally:
            if "_searcher" in self.__dict__:
                with contextlib.suppress(RecollectError):  # a read-only home
                    self.maintain(clusters=False)
                    self.store.set_setting(None, "latencies", self._searcher.window.as_json())
                self._searcher.close()
            self.store.close()

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should be told once: a restored backup, say."""
        return self.store.notices

    @cached_property
    def care(self) -> "Care":
        """Consolidation, compaction, review, undo…: what looks after many memories at once."""
        from recollect.tend.care import Care

        return Care(self.store, self.embedder, self.settings, self._clock, self.actor, self.project)

    # writing

    def remember(self, content: str, **details: Any) -> m.Receipt:
        """Keep a statement; `details` are the other fields of `Draft`. Raises `Refused`."""
        details.setdefault("created_by", self.actor)
        if m.is_agent(self.actor):
            details["created_by"] = self.actor  # an agent speaks for itself
        self.register()
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
        return self._done(
            states.forget(self.store, self._mine(name, find=True).id, self.actor, self._clock())
        )

    def restore(self, name: str) -> m.Memory:
        return self._done(states.restore(self.store, self._mine(name).id, self.actor, self._clock()))

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
        states.resolve(self.store, a.id, b.id, kept, self.actor, self._clock())
        self._wrote = True

    def _done(self, result: Result) -> Result:
        """Something was written: backups and the audit log are looked after when we close."""
        self._wrote = True
        return result

    def _mine(self, name: str, *, find: bool = False) -> m.Memory:
        """A memory that may be changed from here: an agent's reach is its project. Raises `OutOfScope`."""
        memory = self.find(name) if find else self.get(name)
        if m.is_agent(self.actor) and memory.project_id != self._project_id:
            raise OutOfScope(
                f"Memory {memory.id} is the user's own, and not of the project this agent runs in.",
                "Ask the user to change it.",
            )
        return memory

    def _refuse_agents(self, what: str) -> None:
        if m.is_agent(self.actor):
            raise OutOfScope(f"An agent may not {what}.", "Ask the user to do it.")

    # reading

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
        **filters: Any,
    ) -> m.Answer:
        """Memories that bear on `query`, best first, each with its reasons. `filters` as for `list`.

        `files` are open or named in the task: memories about them count more. `as_of` answers from what was valid then.
        """
        _refuse_nonsense(limit, as_of, self._clock())
        question = self._question(query, files, **filters)
        tag = normal_tag(tag) if tag else None
        question = replace(question, limit=limit, recipe=recipe, tag=tag, file=file, as_of=as_of, graph=graph)
        answer = self._searcher.search(question)
        self._note_retrieval(question, answer)
        if not answer.partial and self.store.setting(None, "vectors_pending"):
            note = (
                "Some memories have no vector yet and were found by words only; `recollect init` makes them."
            )
            answer = replace(answer, notes=(*answer.notes, note))
        return answer

    def _note_retrieval(self, question: "Question", answer: m.Answer) -> None:
        """To be dealt with when nobody waits: a gap is noted where nothing fitted, and clusters come due."""
        if not answer.partial and len(self._retrievals) < _MOST_RETRIEVALS:
            shown = [hit.memory.id for hit in answer.results if hit.score >= _FITS]
            self._retrievals.append((m.new_id(), question.view, shown, question.text))

    def maintain(self, *, clusters: bool = True) -> bool:
        """Do what searches have left to be done; whether clusters were made anew. The daemon calls it when idle."""
        from recollect.tend.clusters import clusters_due, refresh_clusters
        from recollect.tend.maintain import after_retrieval

        while self._retrievals:
            name, view, shown, context = self._retrievals.pop()
            after_retrieval(
                self.store, self._clock, view, retrieval=name, shown=shown, context=context, actor=self.actor
            )
        if not clusters or not clusters_due(self.store, self._project_id):
            return False
        refresh_clusters(self.store, self.embedder.model, self.view(), self._project_id, self._clock())
        return True

    def explain(self, query: str, name: str, **options: Any) -> m.Hit:
        """Why a memory is where it is for `query`. Raises `Refused` if it is not among the first 100."""
        memory = self.get(name)
        for hit in self.search(query, 100, **options).results:
            if hit.memory.id == memory.id:
                return hit
        raise Refused(
            f"Memory {memory.id} has nothing to do with that query.", "`recollect show` tells what it says."
        )

    def search_messages(
        self, query: str, limit: int = 10, *, all_projects: bool = False
    ) -> tuple[m.MessageHit, ...]:
        """What was said about it in sessions of this project, best first."""
        _refuse_nonsense(limit)
        return self._searcher.search_messages(query, self.view(all_projects=all_projects), limit)

    def search_sessions(
        self, query: str, limit: int = 10, *, all_projects: bool = False
    ) -> tuple[m.SessionHit, ...]:
        """The sessions of this project it was talked about in, best first."""
        _refuse_nonsense(limit)
        return self._searcher.search_sessions(query, self.view(all_projects=all_projects), limit)

    def recall(
        self,
        task: str = "",
        *,
        files: Iterable[str] = (),
        host: str = "gemini",
        remaining: int = 100_000,
        budget: int | None = None,
        role: str | None = None,
        session: str | None = None,
    ) -> "Briefing":
        """What an agent should know at the start of `task`, rendered for `host`, within a budget of tokens.

        `remaining` is what is left of its context, of which 8 % may be used; `budget` is a ceiling (or `set_budget`'s).
        """
        from recollect.recall.briefing import compose
        from recollect.recall.budget import allocate
        from recollect.recall.material import assemble, role_named
        from recollect.recall.render import format_for

        format_for(host)
        files = tuple(files)
        ceiling = budget if budget is not None else self.budget()
        if ceiling < 1:
            raise Refused(f"A budget of {ceiling} tokens leaves no room for anything.", "Give 1 or more.")
        material, notes = assemble(
            self.store,
            self._searcher,
            self._question(task.strip() or " ".join(files), files, session=session),
            self.embedder.model,
            role_named(role),
            session,
            self._clock(),
        )
        briefing = compose(material, allocate(remaining, ceiling), host)
        return replace(briefing, notes=notes)

    def budget(self) -> int:
        """The most a briefing may take in this project."""
        from recollect.recall.budget import CEILING

        return int(self.store.setting(self._project_id, "budget") or CEILING)

    def set_budget(self, tokens: int | None) -> None:
        """The most a briefing may take in this project; None goes back to the default."""
        if tokens is not None and tokens < 1:
            raise Refused(f"A budget of {tokens} tokens leaves no room for anything.", "Give 1 or more.")
        self.store.set_setting(self._project_id, "budget", tokens)

    def similar(self, name: str, limit: int = 10) -> tuple[m.Hit, ...]:
        """What is like a memory, best first."""
        from recollect.recall.cascade import similar

        _refuse_nonsense(limit)
        memory = self.get(name)
        channel, found = similar(self.store, self.embedder.model, memory, self.view(), limit)
        memories = self.store.get_many([each for each, _ in found])
        return tuple(
            m.Hit(memories[each], round(score, 6), {"parts": {channel: round(score, 6)}, "channels": {}})
            for each, score in found
            if each in memories
        )

    def feedback(self, name: str, helpful: bool) -> m.Memory:
        """Someone says whether a memory helped."""
        from recollect.tend.feedback import feedback

        self._wrote = True
        return feedback(self.store, self.get(name), helpful, self.actor, self._clock())

    def gaps(self, limit: int = 20) -> tuple[m.Gap, ...]:
        """What was asked for and memory had nothing, newest first."""
        _refuse_nonsense(limit)
        return tuple(self.store.gaps(self._project_id, limit))

    def aliases(self) -> "tuple[Alias, ...]":
        from recollect.recall.aliases import list_aliases

        return tuple(list_aliases(self.store, self._project_id))

    def add_alias(self, name: str, words: Iterable[str]) -> "Alias":
        """From now on a search for `name` also looks for `words`, and the other way round."""
        from recollect.recall.aliases import add_alias

        self.register()
        return add_alias(self.store, self._project_id, name, words, self.actor, self._clock())

    def remove_alias(self, name: str, words: Iterable[str] = ()) -> tuple[str, ...]:
        """Without `words`: all of them. What it no longer finds."""
        from recollect.recall.aliases import remove_alias

        return remove_alias(self.store, self._project_id, name, tuple(words), self.actor, self._clock())

    def seasons(self) -> tuple[str, ...]:
        """Those that are on: memories of the season weigh more."""
        return tuple(self.store.setting(self._project_id, "seasons") or ())

    def start_season(self, name: str) -> None:
        self._set_seasons(name, {*self.seasons(), name.strip()})

    def end_season(self, name: str) -> None:
        if name.strip() not in self.seasons():
            raise Refused(f"The season {name!r} is not on.", "`recollect season list` shows those that are.")
        self._set_seasons(name, {*self.seasons()} - {name.strip()})

    def _set_seasons(self, name: str, seasons: set[str]) -> None:
        if not name.strip() or len(name) > 64 or len(seasons) > 20:
            raise Refused(
                "A season needs a short name, and there can be 20 at once.", "For example: release-week."
            )
        self.store.log("update", self.actor, self._clock(), None, {"seasons": sorted(seasons)})
        self.store.set_setting(self._project_id, "seasons", sorted(seasons))

    def memory_graph(self) -> tuple[tuple[m.Memory, ...], tuple[m.Link, ...]]:
        """All memories in view and the links between them, to be drawn."""
        return self.list(), tuple(self.store.all_links(self.view()))

    @property
    def _project_id(self) -> str | None:
        return self.project.id if self.project else None

    def _question(self, text: str, files: Iterable[str], **filters: Any) -> "Question":
        from recollect.recall.aliases import load_aliases
        from recollect.recall.search import Question

        return Question(
            text,
            self.view(**filters),
            files=tuple(files),
            seasons=frozenset(self.seasons()),
            aliases=load_aliases(self.store, self._project_id),
        )

    @cached_property
    def _searcher(self) -> "Searcher":
        from recollect.recall.search import Searcher

        return Searcher(self.store, self.embedder, self._clock, self._window)

    @cached_property
    def _window(self) -> "LatencyWindow":
        from recollect.recall.slo import LatencyWindow

        return LatencyWindow.from_json(self.store.setting(None, "latencies"))

    def get(self, name: str) -> m.Memory:
        """By id, or the beginning of one. Raises `MemoryNotFound`, `AmbiguousId`."""
        return self.store.get(self.store.resolve(self._own(), name))

    def find(self, name: str) -> m.Memory:
        """By id, its beginning, or a keyword that only one active memory here has."""
        try:
            return self.get(name)
        except MemoryNotFound:
            matches = [found for found, _ in self.store.match(self.view(), name, 5)]
            if len(matches) == 1:
                return self.store.get(matches[0])
            if matches:
                raise AmbiguousId(name, matches) from None
            raise

    def list(
        self, *, tag: str | None = None, file: str | None = None, limit: int | None = None, **filters: Any
    ) -> tuple[m.Memory, ...]:
        """Newest first: this project's and the global ones. `filters`: kind, scope, state, branch, session, all_projects."""
        found = self.store.newest(
            self.view(**filters), tag=normal_tag(tag) if tag else None, file=file, limit=limit
        )
        return tuple(found)

    def count(self, *, tag: str | None = None, file: str | None = None, **filters: Any) -> int:
        """How many there are of what `list` gives."""
        if tag or file:
            return len(self.list(tag=tag, file=file, **filters))
        return self.store.count(self.view(**filters))

    def links(self, name: str) -> tuple[m.Link, ...]:
        return tuple(self.store.links(self.get(name).id))

    def conflicts(self) -> tuple[tuple[m.Link, m.Memory, m.Memory], ...]:
        """Contradictions that wait for someone to settle them, with both sides."""
        found = self.store.conflicts(self.view())
        return tuple((link, self.store.get(link.source), self.store.get(link.target)) for link in found)

    def tags(self) -> tuple[m.Tag, ...]:
        return tuple(self.store.tags(self.view()))

    def audit(self, limit: int = 50, name: str | None = None) -> tuple[m.AuditLine, ...]:
        lines = self.store.audit(limit, self.get(name).id if name else None)
        if m.is_agent(self.actor):
            ids = [line.memory_id for line in lines if line.memory_id]
            here = {
                each.id for each in self.store.get_many(ids).values() if each.project_id == self._project_id
            }
            lines = [line for line in lines if line.memory_id in here]
        return tuple(lines)

    def view(
        self,
        *,
        kind: str | None = None,
        scope: str | None = None,
        state: str | None = None,
        branch: str | None = None,
        session: str | None = None,
        all_projects: bool = False,
    ) -> m.View:
        """What may be seen from here, narrowed by what was asked for."""
        return m.View(
            user_id=self.settings.user,
            project_id=self.project.id if self.project else None,
            session=session,
            branches=self._branches(branch),
            all_projects=all_projects and not m.is_agent(self.actor),
            states=_states(state),
            kinds=frozenset({kind_of(kind).name}) if kind else None,
            scopes=frozenset({_named(m.Scope, "scope", scope)}) if scope else None,
        )

    def _branches(self, branch: str | None) -> frozenset[str]:
        """The branch asked for, this one, and those that are part of it."""
        here = self.place.branch if self.place else None
        return frozenset({*(each for each in (branch, here) if each), *self._merged})

    @cached_property
    def _merged(self) -> frozenset[str]:
        """Branches whose work is in this one. Git is asked only where some memory is of another branch."""
        if self.place is None or self.place.branch is None:
            return frozenset()
        here = m.View(self.settings.user, self._project_id, states=ALL_STATES)
        others = set(self.store.counts(here, "branch")) - {None, self.place.branch}
        return places.merged_branches(self.place) & others if others else frozenset()

    def _own(self) -> m.View:
        """All that is the user's; for an agent, all that is this project's."""
        return m.View(
            user_id=self.settings.user,
            project_id=self.project.id if self.project else None,
            all_projects=not m.is_agent(self.actor),
            all_sessions=True,
            states=ALL_STATES,
        )

    # care

    def export(self, out: IO[str], *, this_project: bool = False) -> int:
        """Everything as one JSON document that `import` takes; how many memories."""
        view = replace(self._own(), all_projects=not this_project and not m.is_agent(self.actor))
        from recollect.tend.transfer import export

        return export(self.store, view, out, self._clock())

    def import_memories(self, records: Iterable[Mapping[str, Any]]) -> ImportedIds:
        """Keep `records` as given (redacted, not merged); their ids in order, None for one that was refused."""
        return self.bring_in(records).ids

    def bring_in(
        self,
        records: Iterable[Mapping[str, Any]],
        parcel: "Parcel | None" = None,
        progress: Callable[[int], None] | None = None,
    ) -> "ImportReport":
        """The same with a full report; `parcel` has the links and projects of an export."""
        self.register()
        self._wrote = True
        from recollect.tend.transfer import Importer

        importer = Importer(
            self.store,
            self.embedder,
            user_id=self.settings.user,
            project=self.project,
            actor=self.actor,
            clock=self._clock,
        )
        links, projects = (parcel.links, parcel.projects) if parcel else ((), ())
        report = importer.bring_in(records, links, projects, progress)
        if report.lacks_vectors:
            self.store.set_setting(None, "vectors_pending", True)
        return report

    def import_messages(
        self, records: Iterable[Mapping[str, Any]], progress: Callable[[int], None] | None = None
    ) -> "MessageReport":
        """Keep what was said: dicts with `session`, `order`, `author` (user or assistant), `text`, `created_at`."""
        from recollect.learn.messages import bring_messages

        self.register()
        self._wrote = True
        return bring_messages(
            records,
            self.store,
            self.embedder,
            user_id=self.settings.user,
            project_id=self.project.id if self.project else None,
            now=self._clock(),
            progress=progress,
        )

    def embed_missing(self, progress: Callable[[int], None] | None = None, limit: int | None = None) -> int:
        """Make the vectors that are missing for today's model; how many. Stops and goes on where it was."""
        return embed_missing(self.store, self.embedder, progress, limit)

    def count_missing(self) -> int:
        return self.store.count_without_vector(self.embedder.model)

    def backup(self) -> str:
        return self.store.backup()

    def encrypt(self, key_file: Path | None = None) -> str:
        """Encrypt the store and its backups; where the key is now."""
        self._refuse_agents("change the encryption")
        if self.store.info().encrypted:
            raise Refused("The store is encrypted already.", "`recollect encrypt --off` undoes it.")
        note = self.store.encrypt(lambda: make_key(self.settings.database, os.environ, key_file))
        self.store.log("update", self.actor, self._clock(), None, {"encrypted": True})
        return note.where

    def decrypt(self) -> None:
        self._refuse_agents("change the encryption")
        note = read_note(self.settings.database)
        if not self.store.info().encrypted or note is None:
            raise Refused("The store is not encrypted.", "`recollect encrypt` encrypts it.")
        self.store.decrypt()
        self.store.log("update", self.actor, self._clock(), None, {"encrypted": False})
        drop_key(self.settings.database, note)

    def stats(self) -> dict[str, Any]:
        """Counts and sizes, for people and programs."""
        view = replace(self.view(), states=ALL_STATES)
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
            "recall": {"p95_ms": round(window.p95, 1), "samples": len(window), "degraded": window.degraded},
        }

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

    def declare_subproject(self) -> m.Project:
        """From now on this folder is a project of its own."""
        if self.place is None:
            raise Refused("There is no folder to declare.", "Go into it first.")
        project, keys = places.declare_subproject(self.place)
        self.store.put_project(project, keys)
        return project

    def agree(self, server: str) -> None:
        """Record that the user agrees to texts being sent to `server`."""
        self._refuse_agents("agree to sending texts away")
        if urlsplit(server).username or urlsplit(server).query:
            raise Refused(
                "A server's address holds no user, password or token.",
                "Use RECOLLECT_EMBEDDER_KEY for its key.",
            )
        agreed = self.store.setting(None, "agreed") or []
        self.store.log("update", self.actor, self._clock(), None, {"agreed": server})
        self.store.set_setting(None, "agreed", sorted({*agreed, server}))

    def register(self) -> None:
        """Make this project known, with all the ways it can be recognised."""
        if self.project and self._project_keys:
            known = set(self.store.project_keys(self.project.id))
            if not known.issuperset(self._project_keys):
                self.store.put_project(self.project, self._project_keys)
            self._project_keys = ()

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


def _refuse_nonsense(limit: int, as_of: datetime | None = None, now: datetime | None = None) -> None:
    if limit < 1:
        raise Refused(f"A limit of {limit} shows nothing.", "Give 1 or more.")
    if as_of is not None and now is not None and as_of > now:
        raise Refused(f"{as_of:%Y-%m-%d %H:%M} is in the future.", "Give a time that has been.")


def _embedder(settings: Settings, store: SqliteStore) -> Embedder:
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


def _states(state: str | None) -> frozenset[m.State]:
    if state == "all":
        return ALL_STATES
    return frozenset({_named(m.State, "state", state) if state else m.State.ACTIVE})


def _named(names: Any, what: str, value: str) -> Any:
    try:
        return names(value)
    except ValueError:
        raise UnknownName(what, value, [str(name) for name in names]) from None


_EDITABLE: dict[str, Callable[[Any], Any]] = {
    "content": str,
    "kind": lambda name: kind_of(name).name,
    "tags": tuple,
    "file_paths": tuple,
    "triggers": tuple,
    "season": lambda text: text or None,
    "branch": lambda text: text or None,
    "importance": float,
    "visibility": lambda name: _named(m.Visibility, "visibility", name),
}


def _with_changes(memory: m.Memory, changes: Mapping[str, Any]) -> m.Memory:
    for name in changes:
        if name not in _EDITABLE:
            raise UnknownName("field", name, list(_EDITABLE))
    if not changes:
        raise Refused("Nothing to change was given.", f"One of: {', '.join(_EDITABLE)}.")
    return replace(memory, **{name: _EDITABLE[name](value) for name, value in changes.items()})
