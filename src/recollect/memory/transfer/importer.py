"""Memories back in from a file. Import restores, it does not learn: limits and redaction, and of a memory that is there
already both versions are joined."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import recollect.model as m
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.errors import (
    ChangeNotFound,
    ContentRefused,
    EmbedderUnavailable,
    OutOfScope,
    RecollectError,
    StoreError,
)
from recollect.memory.transfer.fields import OUR_PROJECT
from recollect.memory.transfer.import_extras import ImportExtras, chunks
from recollect.memory.transfer.import_file import ImportFile
from recollect.memory.transfer.import_report import ImportReport, LeftOut
from recollect.memory.transfer.join import join, join_links, lost_text
from recollect.memory.transfer.record import ForeignVector, RecordReader
from recollect.memory.write.enrich import embedded_text

Progress = Callable[[int], None]


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
        self._reader = RecordReader(user_id, project, clock)
        self._projects: dict[str, str] = {}  # the file's ids, and ours
        self._superseded: list[tuple[str, str]] = []  # those that came so, and what replaced them
        if self._by_agent and project is None:
            raise OutOfScope("There is no project here to import into.", "Run it in the project's folder.")

    def bring_in(
        self, records: Iterable[Any], parcel: ImportFile | None = None, progress: Progress | None = None
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
        self,
        records: Iterable[Any],
        parcel: ImportFile | None,
        report: ImportReport,
        progress: Progress | None,
    ) -> None:
        rest = parcel if not self._by_agent else None
        if rest is None:
            self._bring_memories(records, report, progress)
        else:
            self._reader = RecordReader(self._user_id, self._project, self._clock, rest.user)
            self._adopt(rest.read("projects"), report)
            belongings = ImportExtras(
                self._store,
                self._embedder,
                self._reader,
                self._projects,
                report,
                change=self._change,
                actor=self._actor,
                clock=self._clock,
            )
            belongings.bring_before(rest)
            self._bring_memories(records, report, progress)
            self._bring_links(rest.read("links"), report)
            belongings.bring_after(rest)
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
        left_out = LeftOut("project")
        for record in projects:
            try:
                theirs = self._reader.project(record)
            except RecollectError as error:
                left_out.add(error)
                continue
            remote = theirs.remotes[:1]
            ours = self._store.project_for(theirs.remotes or theirs.keys or ())
            if ours is None:
                known_id = not remote and OUR_PROJECT.fullmatch(theirs.id)
                ours = theirs.id if known_id else _project_id(remote[0] if remote else f"file:{theirs.id}")
                self._store.adopt_project(m.Project(ours, theirs.name, "", ""), remote)
            report.redacted += self._reader.redacted
            self._projects[theirs.id] = ours
        report.notes += left_out.notes()

    def _batches(self, records: Iterable[Any], report: ImportReport) -> Iterator[list[_Arrival]]:
        for chunk in chunks(enumerate(records)):
            batch = []
            for number, record in chunk:
                try:
                    memory = self._reader.memory(record, self._projects)
                    redacted = self._reader.redacted
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

    def _bring_links(self, links: Iterable[Any], report: ImportReport) -> None:
        left_out = LeftOut("link")
        for chunk in chunks(links):
            made: list[m.Link] = []
            for record in chunk:
                try:
                    made.append(self._reader.link(record))
                except RecollectError as error:
                    left_out.add(error)
                else:
                    report.redacted += self._reader.redacted
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
        for chunk in chunks(self._superseded):
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


def _project_id(key: str) -> str:
    """As `codebase.project` makes it: the same on every machine for the same remote."""
    return "p" + hashlib.sha256(key.encode()).hexdigest()[:15]
