"""The Engine: everything Recollect can do, as a table of contents; and `open`, where all is wired."""

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

import recollect.model as m
from recollect.codebase import project as places
from recollect.config import Settings, load_settings
from recollect.embed.open import NoEmbedder, open_embedder
from recollect.embed.protocol import Embedder
from recollect.errors import AmbiguousId, EmbedderUnavailable, MemoryNotFound, Refused, UnknownName
from recollect.kinds import kind_of
from recollect.learn.enrich import normal_tag
from recollect.recall import search as searching
from recollect.store.keys import drop_key, find_key, make_key, read_note
from recollect.store.sqlite import SqliteStore
from recollect.tend import states
from recollect.tend.doctor import Diagnosis, examine
from recollect.tend.vectors import embed_missing

if TYPE_CHECKING:
    from recollect.learn.write import Learner, Sidecar
    from recollect.tend.transfer import ImportReport, Parcel

ImportedIds = list[str | None]
ALL_STATES = frozenset(m.State)
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
            self.store.close()

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should be told once: a restored backup, say."""
        return self.store.notices

    # writing

    def remember(self, content: str, **details: Any) -> m.Receipt:
        """Keep a statement; `details` are the other fields of `Draft`. Raises `Refused`."""
        self._register()
        receipt = self._learner.remember(m.Draft(content, **{"created_by": self.actor, **details}))
        self._wrote = True
        self._catch_up(lacks_vector=bool(receipt.notes))
        return receipt

    def edit(self, name: str, **changes: Any) -> tuple[m.Memory, m.Receipt]:
        """Change fields of a memory: content, kind, tags, file_paths, triggers, season, branch, importance, visibility."""
        memory = self.get(name)
        self._register()
        made = self._learner.rewrite(memory, _with_changes(memory, changes), self.actor)
        self._wrote = True
        return made

    def forget(self, name: str) -> m.Memory:
        """Out of sight at once; `restore` works for 30 days. `name` is an id or a keyword that fits only one."""
        self._wrote = True
        return states.forget(self.store, self.find(name), self.actor, self._clock())

    def restore(self, name: str) -> m.Memory:
        self._wrote = True
        return states.restore(self.store, self.get(name), self.actor, self._clock())

    def pin(self, name: str, on: bool | None = None) -> m.Memory:
        """Pinned memories stand in every briefing and never fade; None turns it over."""
        self._wrote = True
        return states.pin(self.store, self.find(name), self.actor, self._clock(), on)

    def tag(self, name: str, add: Iterable[str] = (), remove: Iterable[str] = ()) -> m.Memory:
        self._wrote = True
        return states.tag(self.store, self.get(name), self.actor, self._clock(), tuple(add), tuple(remove))

    def link(self, source: str, target: str, relation: str = "relates_to", weight: float = 1.0) -> m.Link:
        self._wrote = True
        ends = self.get(source), self.get(target)
        return states.link(self.store, *ends, relation, self.actor, self._clock(), weight)

    def resolve(self, first: str, second: str, keep: str) -> None:
        """Settle a conflict: `keep` is one of the two ids, or "both"."""
        a, b = self.get(first), self.get(second)
        kept = None if keep == "both" else self.get({"A": a.id, "B": b.id}.get(keep, keep))
        if kept is not None and kept.id not in (a.id, b.id):
            raise Refused(f"{keep} is not one of the two.", f"--keep {a.id}, {b.id} or both.")
        self._wrote = True
        states.resolve(self.store, a, b, kept, self.actor, self._clock())

    # reading

    def search(
        self, query: str, limit: int = 10, *, tag: str | None = None, file: str | None = None, **filters: Any
    ) -> m.Answer:
        """Memories that bear on `query`, best first, each with its reasons. `filters` as for `list`."""
        view = self.view(**filters)
        tag = normal_tag(tag) if tag else None
        answer = searching.search(self.store, self.embedder, view, query, limit, tag=tag, file=file)
        if not answer.partial and self.store.setting(None, "vectors_pending"):
            note = (
                "Some memories have no vector yet and were found by words only; `recollect init` makes them."
            )
            answer = replace(answer, notes=(*answer.notes, note))
        return answer

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
        return tuple(self.store.audit(limit, self.get(name).id if name else None))

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
        here = self.place.branch if self.place else None
        return frozenset(each for each in (branch, here) if each)

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
        self._register()
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
        for each in parcel.projects if parcel else ():
            self.store.put_project(m.Project(each["id"], each["name"], "", ""), each.get("keys", ()))
        report = importer.bring_in(records, parcel.links if parcel else (), progress)
        if report.notes:
            self.store.set_setting(None, "vectors_pending", True)
        return report

    def embed_missing(self, progress: Callable[[int], None] | None = None, limit: int | None = None) -> int:
        """Make the vectors that are missing for today's model; how many. Stops and goes on where it was."""
        return embed_missing(self.store, self.embedder, progress, limit)

    def count_missing(self) -> int:
        return self.store.count_without_vector(self.embedder.model)

    def backup(self) -> str:
        return self.store.backup()

    def encrypt(self, key_file: Path | None = None) -> str:
        """Encrypt the store and its backups; where the key is now."""
        if self.store.info().encrypted:
            raise Refused("The store is encrypted already.", "`recollect encrypt --off` undoes it.")
        self.store.log("update", self.actor, self._clock(), None, {"encrypted": True})
        key, note = make_key(self.settings.database, os.environ, key_file)
        self.store.encrypt(key, note)
        return note.where

    def decrypt(self) -> None:
        note = read_note(self.settings.database)
        if not self.store.info().encrypted or note is None:
            raise Refused("The store is not encrypted.", "`recollect encrypt` encrypts it.")
        self.store.log("update", self.actor, self._clock(), None, {"encrypted": False})
        self.store.decrypt()
        drop_key(self.settings.database, note)

    def stats(self) -> dict[str, Any]:
        """Counts and sizes, for people and programs."""
        view = replace(self.view(), states=ALL_STATES)
        info = self.store.info()
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

    def register(self) -> None:
        """Make this project known, with all the ways it can be recognised."""
        self._register()

    def agree(self, server: str) -> None:
        """Record that the user agrees to texts being sent to `server`."""
        agreed = self.store.setting(None, "agreed") or []
        self.store.log("update", self.actor, self._clock(), None, {"agreed": server})
        self.store.set_setting(None, "agreed", sorted({*agreed, server}))

    def _register(self) -> None:
        if self.project and self._project_keys:
            known = set(self.store.project_keys(self.project.id))
            if not known.issuperset(self._project_keys):
                self.store.put_project(self.project, self._project_keys)
            self._project_keys = ()

    def _catch_up(self, lacks_vector: bool) -> None:
        """Vectors that could not be made when their memories were written, a few with every write that can."""
        if lacks_vector:
            self.store.set_setting(None, "vectors_pending", True)
        elif self.store.setting(None, "vectors_pending"):
            with contextlib.suppress(EmbedderUnavailable):  # another time; what was asked for is done
                made = self.embed_missing(limit=_BACKFILLED_AT_ONCE)
                self.store.set_setting(None, "vectors_pending", made == _BACKFILLED_AT_ONCE)


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
    from urllib.parse import urlsplit

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
