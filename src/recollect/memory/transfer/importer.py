"""Import memories from a file.

An import restores, it does not learn: records are checked and redacted, and a memory that exists already is joined with
the imported version.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import recollect.model as m
from recollect.context.context import Context
from recollect.errors import (
    ChangeNotFound,
    ContentRefused,
    EmbedderUnavailable,
    OutOfScope,
    RecollectError,
    StoreError,
)
from recollect.frozen import frozen
from recollect.memory.maintenance.states import can_link
from recollect.memory.search.triggers import is_specific
from recollect.memory.transfer.fields import OUR_PROJECT
from recollect.memory.transfer.import_extras import ImportExtras, chunks
from recollect.memory.transfer.import_file import ImportFile
from recollect.memory.transfer.import_report import ImportReport, LeftOut
from recollect.memory.transfer.join import join, join_links, lost_text
from recollect.memory.transfer.record import ForeignVector, RecordReader
from recollect.memory.write.enrich import embedded_situations, embedded_text
from recollect.policy import Operation, Permission, on_memory
from recollect.text.shapes import looks_like_path

Progress = Callable[[int], None]


@frozen
class _IncomingMemory:
    number: int  # of the record
    memory: m.Memory
    vector: bytes | None  # None = it has to be embedded


class Importer:
    """Imports the records of one file for the user of the context."""

    def __init__(self, context: Context, change: m.Change) -> None:
        """`change` is the change under which the whole import can be undone.

        Raise `OutOfScope` for an agent outside any project.
        """
        self._context = context
        self._store = context.store
        self._embedder = context.embedder
        self._change = change
        self._reader = RecordReader(context.user_id, context.project, context.clock)
        self._projects: dict[str, str] = {}  # ids of the file → ours
        self._superseded: list[tuple[str, str]] = []  # imported as superseded, and by what
        if context.is_agent and context.project is None:
            raise OutOfScope(
                "There is no project to import into.", "Run the command in the project's folder."
            )

    def run(
        self, records: Iterable[Any], file: ImportFile | None = None, progress: Progress | None = None
    ) -> ImportReport:
        """Store the memories in batches, each in one transaction, while the next ones are embedded.

        `file` has the other sections of an export. An agent imports memories only, as its own and into this project.
        If the store fails after a part was imported, the `StoreError` says how to undo that part.
        """
        report = ImportReport()
        try:
            self._import_all(records, file, report, progress)
        except StoreError as error:
            begun = self._recorded_change()
            if begun is None:
                raise
            raise StoreError(
                "The import stopped early; part of it is stored.",
                f"Run `recollect undo {begun}` to remove that part. {error.hint}",
            ) from error
        self._finish(report)
        return report

    def run_links(self, links: Iterable[Any]) -> ImportReport:
        """Store links between memories that are here already."""
        report = ImportReport()
        self._import_links(links, report)
        self._finish(report)
        return report

    def _import_all(
        self,
        records: Iterable[Any],
        file: ImportFile | None,
        report: ImportReport,
        progress: Progress | None,
    ) -> None:
        context = self._context
        if file is None or context.is_agent:
            self._import_memories(records, report, progress)
        else:
            self._reader = RecordReader(context.user_id, context.project, context.clock, file.user)
            self._map_projects(file.read("projects"), report)
            extras = ImportExtras(context, self._change, self._reader, self._projects, report)
            extras.import_before_memories(file)
            self._import_memories(records, report, progress)
            self._import_links(file.read("links"), report)
            extras.import_after_memories(file)
        self._link_successors()
        report.refused.sort()

    def _finish(self, report: ImportReport) -> None:
        kept, links = report.kept, report.links
        summary = (
            f"Imported {kept:,} memor{'y' if kept == 1 else 'ies'} and {links:,} link{'s' * (links != 1)}."
        )
        self._store.changes.finish(replace(self._change, summary=summary, finished_at=self._context.clock()))
        report.change = self._recorded_change()

    def _recorded_change(self) -> str | None:
        """Return the id of the change, or None if nothing was changed because all records were known."""
        try:
            return self._store.changes.get(self._context.user_id, self._change.id).id
        except ChangeNotFound:
            return None

    def _import_memories(
        self, records: Iterable[Any], report: ImportReport, progress: Progress | None
    ) -> None:
        ready: list[list[_IncomingMemory]] = []  # batches given to the embedder and not yet written

        def texts() -> Iterator[list[str]]:
            for batch in self._batches(records, report):
                lacking = [incoming.memory for incoming in batch if incoming.vector is None]
                described = [incoming.memory for incoming in batch if incoming.memory.when_needed]
                if not lacking and not described:
                    self._write(batch, [], report, progress)
                    continue
                ready.append(batch)
                yield [
                    *(embedded_text(each.content, each.tags, each.file_paths) for each in lacking),
                    *(embedded_situations(each.when_needed) for each in described),
                ]

        source = texts()
        try:
            for rows in self._embedder.embed_each(source):
                made = [row.astype("<f4").tobytes() for row in rows]
                self._write(ready.pop(0), made, report, progress)
        except EmbedderUnavailable as error:
            if not error.by_choice:
                report.lacks_vectors = True
                report.notes += (f"Imported without vectors: {error.message} {error.hint}".strip(),)
            while ready:
                self._write(ready.pop(0), [], report, progress)
            for _ in source:
                self._write(ready.pop(0), [], report, progress)

    def _map_projects(self, projects: Iterable[Any], report: ImportReport) -> None:
        """Find our project for each project of the file, or create it.

        A known project is never replaced, and a new id is derived from the project's remote: otherwise a file could
        attach the memories of one repository to another.
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

    def _batches(self, records: Iterable[Any], report: ImportReport) -> Iterator[list[_IncomingMemory]]:
        for chunk in chunks(enumerate(records)):
            batch = []
            for number, record in chunk:
                try:
                    memory = self._reader.memory(record, self._projects)
                    redacted = self._reader.redacted
                    vector = None if redacted or self._context.is_agent else self._reader.vector(record)
                except RecollectError as error:
                    report.ids.append(None)
                    report.refused.append((number, error.message))
                    continue
                report.ids.append(memory.id)
                report.redacted += redacted
                mine = self._agents_own(memory) if self._context.is_agent else memory
                batch.append(_IncomingMemory(number, mine, self._usable(vector)))
            if batch:
                yield batch

    def _usable(self, vector: ForeignVector | None) -> bytes | None:
        """Return its numbers, or None if it is of another model or size."""
        if vector is None or vector.model != self._embedder.model or len(vector.values) != 4 * self._dim:
            return None
        return vector.values

    @cached_property
    def _dim(self) -> int:
        """The size of our vectors; 0 if the embedder is unavailable."""
        try:
            return self._embedder.dim
        except EmbedderUnavailable:
            return 0

    def _agents_own(self, memory: m.Memory) -> m.Memory:
        """Return the memory as an agent may import it: in this project, as its own, observed at best, without usage."""
        most = m.TRUST[m.Source.OBSERVED]
        provenance = tuple(
            entry if m.TRUST[entry.source] <= most else replace(entry, source=m.Source.OBSERVED)
            for entry in memory.provenance
        )
        most = m.TRUST[provenance[0].source]
        return replace(
            memory,
            user_id=self._reader.user_id,
            project_id=self._context.project_id,
            scope=m.Scope.PROJECT,
            created_by=self._context.actor,
            visibility=m.Visibility.PROJECT,
            standing=m.Standing.CONFIRMED if memory.pinned else memory.standing,
            superseded_by=None,
            file_paths=tuple(filter(looks_like_path, memory.file_paths)),
            triggers=tuple(filter(is_specific, memory.triggers)),
            procedure=_without_trigger(memory.procedure),
            provenance=provenance,
            trust=min(memory.trust, most),
            confidence=min(memory.confidence, most),
            importance=min(memory.importance, most),
            strength=1,
            access_count=0,
            reinforcements=(),
        )

    def _write(
        self,
        batch: list[_IncomingMemory],
        made: Sequence[bytes],
        report: ImportReport,
        progress: Progress | None,
    ) -> None:
        """Store a batch. `made` has vectors for the memories that came without, then for all situations, or nothing."""
        lacking = sum(incoming.vector is None for incoming in batch)
        of_texts, of_situations = iter(made[:lacking]), iter(made[lacking:])
        with self._store.changes.recorded(self._change):
            known = self._store.get_many([incoming.memory.id for incoming in batch])
            for incoming in batch:
                memory, vector = incoming.memory, incoming.vector or next(of_texts, None)
                situations = next(of_situations, None) if memory.when_needed else None
                old = known.get(memory.id)
                if old is not None and not self._may_join(old, memory):
                    report.ids[incoming.number] = None
                    refusal = f"Memory {memory.id} already exists and belongs to another user."
                    report.refused.append((incoming.number, refusal))
                    continue
                known[memory.id] = self._keep(
                    memory, old, vector, situations, report
                )  # the file may have it twice
        if progress is not None:
            progress(len(batch))

    def _keep(
        self,
        memory: m.Memory,
        old: m.Memory | None,
        vector: bytes | None,
        situations: bytes | None,
        report: ImportReport,
    ) -> m.Memory:
        """Store `memory`, joined with the existing version if there is one, and return the result."""
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
            if situations is not None and now.when_needed == memory.when_needed:
                self._store.put_vector(now.id, self._embedder.model + m.WHEN_MODEL, situations)
        if lost is not None:
            self._keep_beside(lost, beside, report)
        return now

    def _put(self, memory: m.Memory, old: m.Memory | None) -> None:
        action = "add" if old is None else "update"
        self._store.log(action, self._context.actor, self._context.clock(), memory.id, {"imported": True})
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
        """Return whether the versions belong to one user; an agent may only join memories it made in this project."""
        if not self._context.is_agent:
            return old.user_id == memory.user_id
        ruling = on_memory(self._context.actor, Operation.EDIT, old, self._context.project_id)
        own = old.user_id == memory.user_id and old.created_by == self._context.actor
        return own and ruling.permission is Permission.ALLOW

    def _import_links(self, links: Iterable[Any], report: ImportReport) -> None:
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
        ours = next((known for known in self._store.links(link.source) if _same_edge(known, link)), None)
        now = link if ours is None else join_links(ours, link)
        if now != ours:
            self._store.put_link(now)

    def _link_successors(self) -> None:
        """Add the links that JSON lines with `superseded_by` lack."""
        for chunk in chunks(self._superseded):
            with self._store.changes.recorded(self._change):
                memories = self._store.get_many([end for pair in chunk for end in pair])
                for name, by in chunk:
                    memory, successor = memories.get(name), memories.get(by)
                    if memory is None or successor is None or memory.superseded_by != by:
                        continue
                    link = m.Link(by, name, m.Relation.SUPERSEDES, memory.updated_at, 1.0, "imported")
                    if not can_link(successor, memory):
                        self._store.put(replace(memory, superseded_by=None))
                    elif not any(_same_edge(known, link) for known in self._store.links(name)):
                        self._store.put_link(link)


def _without_trigger(procedure: m.Procedure | None) -> m.Procedure | None:
    """Return the procedure; without a trigger that ordinary texts contain."""
    if procedure is None or not procedure.trigger or is_specific(procedure.trigger):
        return procedure
    return replace(procedure, trigger="")


def _check_ends(link: m.Link, memories: Mapping[str, m.Memory]) -> None:
    """Raise `ContentRefused` if the link breaks a rule of `states.link`."""
    source, target = memories.get(link.source), memories.get(link.target)
    if source is None or target is None:
        raise ContentRefused("One of its memories does not exist.")
    if source.id == target.id:
        raise ContentRefused("A memory cannot be linked to itself.")
    if not can_link(source, target):
        raise ContentRefused("Its memories belong to different projects.")


def _same_edge(one: m.Link, other: m.Link) -> bool:
    return (one.source, one.target, one.relation) == (other.source, other.target, other.relation)


def _same_text(one: m.Memory, other: m.Memory) -> bool:
    """Return whether both have the same embedded text, so that a vector of one fits the other."""
    return (one.content, one.tags, one.file_paths) == (other.content, other.tags, other.file_paths)


def _project_id(key: str) -> str:
    """Return the id that `project` gives to this key: the same on every machine for the same remote."""
    return "p" + hashlib.sha256(key.encode()).hexdigest()[:15]
