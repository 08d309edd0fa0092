"""Memories out to a file, and back in. Import restores, it does not learn: limits and redaction, and of a memory that
is there already both versions are joined."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import groupby, islice
from typing import IO, Any, TypeVar

import recollect.model as m
from recollect.codebase.modules.map import ModuleMap, as_document, from_document
from recollect.codebase.modules.merge import MODEL
from recollect.embed.protocol import Embedder
from recollect.errors import (
    ChangeNotFound,
    ContentRefused,
    EmbedderUnavailable,
    OutOfScope,
    RecollectError,
    StoreError,
)
from recollect.learn.enrich import embedded_text
from recollect.store.episode_rows import Learning, Owner, Pattern
from recollect.store.protocol import Store
from recollect.tend.fields import OUR_PROJECT
from recollect.tend.join import join, join_links, join_sessions, lost_text
from recollect.tend.parcel import FORMAT, VERSION, Parcel
from recollect.tend.record import SETTINGS, ForeignVector, Reader

_EVERY = 1_000_000_000
BATCH = 128  # memories to a transaction: a sync each would cost more than their embedding

Progress = Callable[[int], None]
T = TypeVar("T")


def export(
    store: Store,
    view: m.View,
    out: IO[str],
    now: datetime,
    *,
    messages: bool = False,
    model: str | None = None,
) -> int:
    """Write all that `view` shows as one JSON document, a record a line; how many memories."""
    count = 0
    for section, text in laid_out(store, view, now, messages=messages, model=model):
        out.write(text)
        count += section == "memories"
    return count


def laid_out(
    store: Store, view: m.View, now: datetime, *, messages: bool = False, model: str | None = None
) -> Iterator[tuple[str, str]]:
    """An export line by line, each with the section whose record it is; "" for what is between records.

    With `messages`, and with the vectors of `model`, where they are asked for.
    """
    head = {"format": FORMAT, "version": VERSION, "exported_at": m.to_text(now), "user": view.user_id}
    yield "", _as_head(head)
    projects = [p for p in store.projects() if view.all_projects or p.id == view.project_id]
    sections: dict[str, Iterable[Any]] = {
        "projects": (
            {"id": p.id, "name": p.name, "keys": _travelling(store.project_keys(p.id))} for p in projects
        ),
        "settings": _settings(store, [None, *(p.id for p in projects)]),
        "tags": _described(store, view),
        "sessions": (replace(each, transcript="") for each in store.each_session(view)),
        "memories": store.each(view) if model is None else _with_vectors(store, view, model),
        "links": store.each_link(view),
        "findings": store.each_finding(view),
        "gaps": store.each_gap(view),
        "reviews": store.reviews.each(view),
        "maps": _maps(store, projects),
        "patterns": _patterns(store, view.user_id, projects),
        "learnings": _learnings(store, view.user_id, projects),
        **({"messages": store.messages.each(view)} if messages else {}),
    }
    for name, records in sections.items():
        yield "", f'"{name}": [\n'
        held = ""
        for record in records:
            if held:
                yield name, f"{held},\n"
            held = m.dumps(record)
        if held:
            yield name, f"{held}\n"
        yield "", "]}\n" if name == [*sections][-1] else "],\n"


def _as_head(values: Mapping[str, Any]) -> str:
    """The beginning of an object, in a form that is known by its first characters."""
    return "{" + ", ".join(f"{m.dumps(name)}: {m.dumps(value)}" for name, value in values.items()) + ",\n"


def _travelling(keys: Iterable[str]) -> list[str]:
    """A remote is the same everywhere; a folder is another one on another machine, and nobody's business there."""
    return [key for key in keys if key.startswith("remote:")]


def _settings(store: Store, places: Iterable[str | None]) -> Iterator[dict[str, Any]]:
    for place in places:
        for name in SETTINGS:
            if value := store.setting(place, name):
                yield {"name": name, "project_id": place, "value": value}


def _maps(store: Store, projects: Iterable[m.Project]) -> Iterator[dict[str, Any]]:
    for project in projects:
        if document := store.modules.get(project.id):
            yield {"project_id": project.id, **json.loads(document)}


def _patterns(store: Store, user_id: str, projects: Iterable[m.Project]) -> Iterator[dict[str, Any]]:
    for owner in _owners(user_id, projects):
        found = store.episodes.patterns(owner, limit=_EVERY)
        for each in sorted(found, key=lambda each: (each.kind, each.name)):
            yield {"project_id": owner.project_id, **m.as_json(each)}


def _learnings(store: Store, user_id: str, projects: Iterable[m.Project]) -> Iterator[dict[str, Any]]:
    for owner in _owners(user_id, projects):
        for each in sorted(store.episodes.learnings(owner), key=lambda each: (each.kind, each.name)):
            yield {"project_id": owner.project_id, **m.as_json(each)}


def _owners(user_id: str, projects: Iterable[m.Project]) -> list[Owner]:
    return [Owner(user_id), *(Owner(user_id, project.id) for project in projects)]


def _described(store: Store, view: m.View) -> list[dict[str, str]]:
    tags = sorted(store.tags(view), key=lambda tag: tag.name)
    return [{"name": tag.name, "description": tag.description} for tag in tags if tag.description]


def _with_vectors(store: Store, view: m.View, model: str) -> Iterator[dict[str, Any]]:
    for memory in store.each(view):
        vector = store.vector(memory.id, model)
        values = {"model": model, "values": base64.b64encode(vector).decode()} if vector else None
        yield {**m.as_json(memory), "vector": values}


@dataclass(slots=True)
class ImportReport:
    """What came of an import. `ids` are in the order given, None where a record was refused."""

    ids: list[str | None] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)  # which record, and why
    redacted: int = 0
    links: int = 0
    beside: int = 0  # texts kept as memories of their own: two machines had rewritten one
    change: str | None = None  # what `undo` takes; None where nothing was changed
    notes: tuple[str, ...] = ()
    lacks_vectors: bool = False  # though the user did not turn them off

    @property
    def kept(self) -> int:
        return len({each for each in self.ids if each is not None})


@dataclass(frozen=True, slots=True)
class _Arrival:
    number: int  # of the record
    memory: m.Memory
    vector: bytes | None  # None = it came without, and has to be embedded


class Importer:
    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        user_id: str,
        project: m.Project | None,
        actor: str,
        clock: m.Clock,
        change: m.Change,
    ) -> None:
        """`change` is the beginning of the act, under which all of it can be undone.

        Raises `OutOfScope` for an agent outside any project.
        """
        self._store = store
        self._embedder = embedder
        self._user_id = user_id
        self._project = project
        self._actor = actor
        self._by_agent = m.is_agent(actor)
        self._clock = clock
        self._change = change
        self._reader = Reader(user_id, project, clock)
        self._projects: dict[str, str] = {}  # the file's ids, and ours
        self._patterns: dict[Owner, dict[tuple[str, str], Pattern]] = {}  # ours, by kind and name
        self._learnings: dict[Owner, dict[tuple[str, str], Learning]] = {}
        self._superseded: list[tuple[str, str]] = []  # those that came so, and what replaced them
        if self._by_agent and project is None:
            raise OutOfScope("There is no project here to import into.", "Run it in the project's folder.")

    def bring_in(
        self, records: Iterable[Any], parcel: Parcel | None = None, progress: Progress | None = None
    ) -> ImportReport:
        """Keep the records as given, a batch to a transaction, while the next ones are being embedded.

        `parcel` has what an export holds beside them. Of an agent only the memories are taken, as its own and for
        this project. Raises `StoreError` where the store fails, and tells if a part is in it by then.
        """
        report = ImportReport()
        try:
            self._bring_all(records, parcel, report, progress)
        except StoreError as error:
            begun = self._begun()
            if begun is None:
                raise
            raise StoreError(
                "The import was cut short: a part of it is kept.",
                f"`recollect undo {begun}` takes that back. {error.hint}",
            ) from error
        self._finish(report)
        return report

    def _bring_all(
        self, records: Iterable[Any], parcel: Parcel | None, report: ImportReport, progress: Progress | None
    ) -> None:
        rest = parcel if not self._by_agent else None
        if rest is not None:
            self._reader = Reader(self._user_id, self._project, self._clock, rest.user)
            self._adopt(rest.read("projects"), report)
            self._each("setting", rest.read("settings"), self._bring_setting, report)
            self._each("session", rest.read("sessions"), self._bring_session, report)
        self._bring_memories(records, report, progress)
        if rest is not None:
            self._bring_links(rest.read("links"), report)
            self._each("finding", rest.read("findings"), self._bring_finding, report)
            self._each("gap", rest.read("gaps"), self._bring_gap, report)
            self._each("review", rest.read("reviews"), self._bring_review, report)
            self._each("map", rest.read("maps"), self._bring_map, report)
            self._each("pattern", rest.read("patterns"), self._bring_pattern, report)
            self._each("learning", rest.read("learnings"), self._bring_learning, report)
            self._describe_tags(rest, report)
            self._bring_messages(rest.read("messages"), report)
        self._link_successors()
        report.refused.sort()

    def _finish(self, report: ImportReport) -> None:
        kept, links = report.kept, report.links
        summary = (
            f"Imported {kept:,} memor{'y' if kept == 1 else 'ies'} and {links:,} link{'s' * (links != 1)}."
        )
        self._store.changes.finish(replace(self._change, summary=summary, finished_at=self._clock()))
        report.change = self._begun()

    def _begun(self) -> str | None:
        """The change, if there is anything in it: all may have been known already."""
        try:
            return self._store.changes.get(self._user_id, self._change.id).id
        except ChangeNotFound:
            return None

    def _bring_memories(
        self, records: Iterable[Any], report: ImportReport, progress: Progress | None
    ) -> None:
        ready: list[list[_Arrival]] = []  # batches handed to the embedder and not yet written

        def texts() -> Iterator[list[str]]:
            for batch in self._batches(records, report):
                lacking = [each.memory for each in batch if each.vector is None]
                if not lacking:
                    self._write(batch, iter(()), report, progress)
                    continue
                ready.append(batch)
                yield [embedded_text(each.content, each.tags, each.file_paths) for each in lacking]

        source = texts()
        try:
            for rows in self._embedder.embed_each(source):
                made = (row.astype("<f4").tobytes() for row in rows)
                self._write(ready.pop(0), made, report, progress)
        except EmbedderUnavailable as error:
            if not error.by_choice:
                report.lacks_vectors = True
                report.notes += (f"Imported without vectors for now: {error.message} {error.hint}".strip(),)
            while ready:
                self._write(ready.pop(0), iter(()), report, progress)
            for _ in source:
                self._write(ready.pop(0), iter(()), report, progress)

    def _adopt(self, projects: Iterable[Any], report: ImportReport) -> None:
        """Learn which of our projects the file means; one that is not known yet is made.

        Nothing known is replaced, and an id is made of the remote it comes with: else a file could give the name
        of one repository to the memories of another.
        """
        left_out = _LeftOut("project")
        for record in projects:
            try:
                theirs = self._reader.project(record)
            except RecollectError as error:
                left_out.add(error)
                continue
            remote = theirs.remotes[:1]
            ours = self._store.project_for(theirs.remotes or theirs.keys)
            if ours is None:
                known_id = not remote and OUR_PROJECT.fullmatch(theirs.id)
                ours = theirs.id if known_id else _project_id(remote[0] if remote else f"file:{theirs.id}")
                self._store.adopt_project(m.Project(ours, theirs.name, "", ""), remote)
            report.redacted += self._reader.found
            self._projects[theirs.id] = ours
        report.notes += left_out.notes()

    def _batches(self, records: Iterable[Any], report: ImportReport) -> Iterator[list[_Arrival]]:
        for chunk in _chunks(enumerate(records)):
            batch = []
            for number, record in chunk:
                try:
                    memory = self._reader.memory(record, self._projects)
                    redacted = self._reader.found
                    vector = None if redacted or self._by_agent else self._reader.vector(record)
                except RecollectError as error:
                    report.ids.append(None)
                    report.refused.append((number, error.message))
                    continue
                report.ids.append(memory.id)
                report.redacted += redacted
                mine = self._agents_own(memory) if self._by_agent else memory
                batch.append(_Arrival(number, mine, self._usable(vector)))
            if batch:
                yield batch

    def _usable(self, vector: ForeignVector | None) -> bytes | None:
        """Its numbers, if our model would have made it."""
        if vector is None or vector.model != self._embedder.model or len(vector.values) != 4 * self._dim:
            return None
        return vector.values

    @cached_property
    def _dim(self) -> int:
        """0 where the model cannot be asked."""
        try:
            return self._embedder.dim
        except EmbedderUnavailable:
            return 0

    def _agents_own(self, memory: m.Memory) -> m.Memory:
        """What an agent may say: here, as its own, seen by it at best; what others made of it is not for it to tell."""
        most = m.TRUST[m.Source.OBSERVED]
        chain = tuple(
            each if m.TRUST[each.source] <= most else replace(each, source=m.Source.OBSERVED)
            for each in memory.provenance
        )
        most = m.TRUST[chain[0].source]
        return replace(
            memory,
            user_id=self._reader.user_id,
            project_id=self._project.id if self._project else None,
            scope=m.Scope.PROJECT,
            created_by=self._actor,
            visibility=m.Visibility.PROJECT,
            standing=m.Standing.CONFIRMED if memory.pinned else memory.standing,
            superseded_by=None,
            provenance=chain,
            trust=min(memory.trust, most),
            confidence=min(memory.confidence, most),
            importance=min(memory.importance, most),
            strength=1,
            access_count=0,
            reinforcements=(),
        )

    def _write(
        self, batch: list[_Arrival], made: Iterator[bytes], report: ImportReport, progress: Progress | None
    ) -> None:
        """`made` are the vectors of those that came without, in their order; none where none could be made."""
        with self._store.changes.recorded(self._change):
            known = self._store.get_many([each.memory.id for each in batch])
            for each in batch:
                memory, vector = each.memory, each.vector or next(made, None)
                old = known.get(memory.id)
                if old is not None and not self._may_join(old, memory):
                    report.ids[each.number] = None
                    refusal = f"Memory {memory.id} is there already, and not yours."
                    report.refused.append((each.number, refusal))
                    continue
                known[memory.id] = self._keep(memory, old, vector, report)  # it may come twice
        if progress is not None:
            progress(len(batch))

    def _keep(
        self, memory: m.Memory, old: m.Memory | None, vector: bytes | None, report: ImportReport
    ) -> m.Memory:
        """`memory` as it came, or joined with the one that is here; as it is now."""
        if old is None:
            now, lost = memory, None
        else:
            now, lost = join(old, memory), lost_text(old, memory)
        beside = vector
        if lost is not None and old is not None and lost.fingerprint == old.fingerprint:
            beside = self._store.vector(old.id, self._embedder.model)
        if now != old:
            self._put(now, old)
            if vector is not None and _same_text(now, memory):
                self._store.put_vector(now.id, self._embedder.model, vector)
        if lost is not None:
            self._keep_beside(lost, beside, report)
        return now

    def _put(self, memory: m.Memory, old: m.Memory | None) -> None:
        action = "add" if old is None else "update"
        self._store.log(action, self._actor, self._clock(), memory.id, {"imported": True})
        self._store.put(memory)
        if memory.state is m.State.SUPERSEDED and memory.superseded_by:
            self._superseded.append((memory.id, memory.superseded_by))

    def _keep_beside(self, lost: m.Memory, vector: bytes | None, report: ImportReport) -> None:
        old = self._store.get_many([lost.id]).get(lost.id)
        now = lost if old is None else join(old, lost)
        if now == old:
            return
        report.beside += 1
        self._put(now, old)
        if vector is not None:
            self._store.put_vector(now.id, self._embedder.model, vector)

    def _may_join(self, old: m.Memory, memory: m.Memory) -> bool:
        """Nobody's memory becomes another's, and an agent joins what it made here itself."""
        here = self._project.id if self._project else None
        own = old.created_by == self._actor and old.project_id == here
        return old.user_id == memory.user_id and (own or not self._by_agent)

    # what is not a memory

    def _each(
        self, what: str, records: Iterable[Any], bring: Callable[[Any], None], report: ImportReport
    ) -> None:
        """`bring` every record, a batch to a transaction; those that cannot be kept are counted."""
        left_out = _LeftOut(what)
        for chunk in _chunks(records):
            with self._store.changes.recorded(self._change):
                for record in chunk:
                    try:
                        bring(record)
                    except RecollectError as error:
                        left_out.add(error)
                    else:
                        report.redacted += self._reader.found
        report.notes += left_out.notes()

    def _bring_setting(self, record: Any) -> None:
        setting = self._reader.setting(record, self._projects)
        ours = self._store.setting(setting.project_id, setting.name)
        value = setting.value if not ours else _join_settings(setting.name, ours, setting.value)
        if m.as_json(value) != ours:
            detail = {"setting": setting.name, "project": setting.project_id, "imported": True}
            self._store.log("update", self._actor, self._clock(), None, detail)
            self._store.set_setting(setting.project_id, setting.name, value)

    def _bring_session(self, record: Any) -> None:
        session = self._reader.session(record, self._projects)
        ours = self._store.get_session(session.id)
        if ours is None:
            self._store.put_session(session)
        elif ours.user_id == session.user_id:
            joined = join_sessions(replace(ours, transcript=""), session)
            self._store.put_session(replace(joined, transcript=ours.transcript))

    def _bring_finding(self, record: Any) -> None:
        finding = self._reader.finding(record)
        if self._store.get_session(finding.session) is None:
            raise ContentRefused("Its session is not here.")
        if not self._store.put_finding(finding) and finding.promoted_to:
            for ours in self._store.findings(finding.session):
                if ours.fingerprint == finding.fingerprint and ours.promoted_to is None:
                    self._store.events.promoted(ours.id, finding.promoted_to)

    def _bring_gap(self, record: Any) -> None:
        self._store.adopt_gap(self._reader.gap(record, self._projects))

    def _bring_review(self, record: Any) -> None:
        review = self._reader.review(record, self._projects)
        self._store.reviews.ask(review)
        if review.decided_at is None or review.decision is None:
            return
        for ours in self._store.reviews.open(review.user_id, review.project_id, review.kind):
            if ours.memories == review.memories:
                self._store.reviews.decide(ours.id, review.decision, review.decided_at)

    def _bring_map(self, record: Any) -> None:
        """The one that a person has corrected holds, and of two the newer: so it is the same on every machine."""
        project_id, theirs = self._reader.module_map(record, self._projects)

        def choose(document: str | None) -> str:
            ours = from_document(document) if document else None
            return as_document(theirs if ours is None else max(ours, theirs, key=_map_rank))

        self._store.modules.change(project_id, choose, theirs.updated_at or self._clock())

    def _bring_pattern(self, record: Any) -> None:
        owner, theirs = self._reader.pattern(record, self._projects)
        if owner not in self._patterns:
            found = self._store.episodes.patterns(owner, limit=_EVERY)
            self._patterns[owner] = {(each.kind, each.name): each for each in found}
        ours = self._patterns[owner].get((theirs.kind, theirs.name))
        if ours is None or (theirs.count, theirs.last_seen) > (ours.count, ours.last_seen):
            self._store.episodes.put_patterns(owner, theirs.kind, [theirs])

    def _bring_learning(self, record: Any) -> None:
        owner, theirs = self._reader.learning(record, self._projects)
        if owner not in self._learnings:
            found = self._store.episodes.learnings(owner)
            self._learnings[owner] = {(each.kind, each.name): each for each in found}
        ours = self._learnings[owner].get((theirs.kind, theirs.name))
        if ours is None or theirs.confidence > ours.confidence:
            self._store.episodes.put_learning(owner, theirs)

    def _describe_tags(self, parcel: Parcel, report: ImportReport) -> None:
        if not parcel.counts.get("tags"):
            return
        everything = m.View(self._user_id, all_projects=True, all_sessions=True, states=frozenset(m.State))
        known = {tag.name: tag.description for tag in self._store.tags(everything)}

        def describe(record: Any) -> None:
            name, text = self._reader.tag(record)
            if name and text > known.get(name, ""):  # of two descriptions, the same one on every machine
                self._store.describe_tag(name, text)

        self._each("tag", parcel.read("tags"), describe, report)

    def _bring_messages(self, records: Iterable[Any], report: ImportReport) -> None:
        from recollect.learn.messages import bring_messages

        left_out = _LeftOut("message")
        for place, group in groupby(records, _place_of):
            came = bring_messages(
                group,
                self._store,
                self._embedder,
                user_id=self._user_id,
                project_id=self._projects.get(place, place) if place else None,
                now=self._clock(),
            )
            report.redacted += came.redacted
            for _, why in came.refused:
                left_out.add(ContentRefused(why))
        report.notes += left_out.notes()

    def _bring_links(self, links: Iterable[Any], report: ImportReport) -> None:
        left_out = _LeftOut("link")
        for chunk in _chunks(links):
            made: list[m.Link] = []
            for record in chunk:
                try:
                    made.append(self._reader.link(record))
                except RecollectError as error:
                    left_out.add(error)
                else:
                    report.redacted += self._reader.found
            with self._store.changes.recorded(self._change):
                ends = self._store.get_many([end for link in made for end in (link.source, link.target)])
                for link in made:
                    try:
                        _check_ends(link, ends)
                    except RecollectError as error:
                        left_out.add(error)
                        continue
                    self._join_link(link)
                    report.links += 1
        report.notes += left_out.notes()

    def _join_link(self, link: m.Link) -> None:
        ours = next((each for each in self._store.links(link.source) if _same_edge(each, link)), None)
        now = link if ours is None else join_links(ours, link)
        if now != ours:
            self._store.put_link(now)

    def _link_successors(self) -> None:
        """Plain lines may say what superseded them without the link that an export has."""
        for chunk in _chunks(self._superseded):
            with self._store.changes.recorded(self._change):
                found = self._store.get_many([end for pair in chunk for end in pair])
                for name, by in chunk:
                    memory, successor = found.get(name), found.get(by)
                    if memory is None or successor is None or memory.superseded_by != by:
                        continue
                    link = m.Link(by, name, m.Relation.SUPERSEDES, memory.updated_at, 1.0, "imported")
                    if not _may_meet(successor, memory):
                        self._store.put(replace(memory, superseded_by=None))
                    elif not any(_same_edge(each, link) for each in self._store.links(name)):
                        self._store.put_link(link)


class _LeftOut:
    """Counts what is not kept beside the memories; the first reason stands for all."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._count = 0
        self._why = ""

    def add(self, error: RecollectError) -> None:
        self._count += 1
        self._why = self._why or error.message

    def notes(self) -> tuple[str, ...]:
        if not self._count:
            return ()
        several = "s were" if self._count > 1 else " was"
        return (f"{self._count:,} {self._what}{several} left out: {self._why}",)


def _map_rank(found: ModuleMap) -> tuple[bool, str, str]:
    said = [by for module in found.modules for by in module.said.values()]
    said += [placed.by for placed in (*found.files.values(), *found.merged.values())]
    by_person = any(by != MODEL and not m.is_agent(by) for by in said)
    return by_person, m.to_text(found.updated_at) if found.updated_at else "", as_document(found)


def _check_ends(link: m.Link, memories: Mapping[str, m.Memory]) -> None:
    """The rules of `states.link`. Raises `ContentRefused`."""
    source, target = memories.get(link.source), memories.get(link.target)
    if source is None or target is None:
        raise ContentRefused("One of its memories is not here.")
    if source.id == target.id:
        raise ContentRefused("A memory cannot be linked to itself.")
    if not _may_meet(source, target):
        raise ContentRefused("Its memories belong to different projects.")


def _may_meet(one: m.Memory, other: m.Memory) -> bool:
    return None in (one.project_id, other.project_id) or one.project_id == other.project_id


def _same_edge(one: m.Link, other: m.Link) -> bool:
    return (one.source, one.target, one.relation) == (other.source, other.target, other.relation)


def _same_text(one: m.Memory, other: m.Memory) -> bool:
    """Whether a vector of one is a vector of the other."""
    return (one.content, one.tags, one.file_paths) == (other.content, other.tags, other.file_paths)


def _place_of(message: Any) -> str | None:
    place = message.get("project_id") if isinstance(message, Mapping) else None
    return place if isinstance(place, str) else None


def _join_settings(name: str, ours: Any, theirs: Any) -> Any:
    """What either side has set; of two numbers the greater."""
    if name == "budget":
        return max(ours, theirs)
    if name == "seasons":
        return sorted({*ours, *theirs})
    names = sorted({*ours.get("added", {}), *theirs["added"]})
    added = {
        each: sorted({*ours.get("added", {}).get(each, ()), *theirs["added"].get(each, ())}) for each in names
    }
    removed = {tuple(pair) for pair in (*ours.get("removed", ()), *theirs["removed"])}
    return {"added": added, "removed": sorted(removed)}


def _project_id(key: str) -> str:
    """As `codebase.project` makes it: the same on every machine for the same remote."""
    return "p" + hashlib.sha256(key.encode()).hexdigest()[:15]


def _chunks(items: Iterable[T]) -> Iterator[list[T]]:
    supply = iter(items)
    while chunk := list(islice(supply, BATCH)):
        yield chunk
