"""Memories out to a file, and back in. Import restores, it does not learn: limits and redaction, nothing merged."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import IO, Any, TypeVar

import recollect.model as m
from recollect.embed.protocol import Embedder
from recollect.errors import BadImport, ContentRefused, EmbedderUnavailable, OutOfScope, RecollectError
from recollect.learn.enrich import embedded_text
from recollect.store.protocol import Store
from recollect.tend.record import OUR_PROJECT, Reader

FORMAT = "recollect-export"
VERSION = 1
BATCH = 128  # memories to a transaction: a sync each would cost more than their embedding

Progress = Callable[[int], None]
T = TypeVar("T")


@dataclass(slots=True)
class ImportReport:
    """What came of an import. `ids` are in the order given, None where a record was refused."""

    ids: list[str | None] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)  # which record, and why
    redacted: int = 0
    links: int = 0
    superseded: list[m.Memory] = field(default_factory=list)  # those that came so, with what replaced them
    notes: tuple[str, ...] = ()
    lacks_vectors: bool = False  # though the user did not turn them off

    @property
    def kept(self) -> int:
        return len({each for each in self.ids if each is not None})


def export(store: Store, view: m.View, out: IO[str], now: datetime) -> int:
    """Write all that `view` shows, one memory a line inside one JSON document; how many."""
    head = {"format": FORMAT, "version": VERSION, "exported_at": m.to_text(now)}
    projects = [
        {"id": p.id, "name": p.name, "keys": _travelling(store.project_keys(p.id))}
        for p in store.projects()
        if view.all_projects or p.id == view.project_id
    ]
    out.write(json.dumps(head, ensure_ascii=False)[:-1] + ',\n"projects": ')
    out.write(json.dumps(projects, ensure_ascii=False) + ',\n"memories": [')
    count = 0
    for count, memory in enumerate(store.each(view), start=1):
        out.write((",\n" if count > 1 else "\n") + m.dumps(memory))
    out.write('\n],\n"links": [')
    for number, link in enumerate(store.all_links(view)):
        out.write((",\n" if number else "\n") + m.dumps(link))
    out.write("\n]}\n")
    return count


def _travelling(keys: Iterable[str]) -> list[str]:
    """A remote is the same everywhere; a folder is another one on another machine, and nobody's business there."""
    return [key for key in keys if key.startswith("remote:")]


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file read, and not yet imported."""

    records: list[Any]  # foreign JSON, as are the links and projects: `record` reads it
    lines: list[int]  # where each record stands, for what is refused
    links: list[Any]
    projects: list[Any]
    unit: str = "line"  # what `lines` counts: an export's records may stand anywhere


def read_parcel(text: str, name: str) -> Parcel:
    """What `export` wrote, or plain JSON lines with at least `content`. Raises `BadImport` with the line."""
    if text.lstrip()[:1] == "{" and f'"{FORMAT}"' in text.lstrip()[:80]:
        return _read_export(text, name)
    records, lines = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadImport(
                f"{name}, line {number}: not JSON ({error}).", "Mend it; nothing was imported."
            ) from error
        if not isinstance(record, dict) or "content" not in record:
            raise BadImport(
                f'{name}, line {number}: not an object with "content".', "Mend it; nothing was imported."
            )
        records.append(record)
        lines.append(number)
    return Parcel(records, lines, [], [])


def _read_export(text: str, name: str) -> Parcel:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadImport(
            f"{name} is not a whole export: {error}.", "Export again; nothing was imported."
        ) from error
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise BadImport(f"{name} was exported by a newer Recollect.", "Upgrade Recollect.")
    records, links, projects = (document.get(part, []) for part in ("memories", "links", "projects"))
    whole = all(isinstance(part, list) for part in (records, links, projects)) and all(
        map(_is_project, projects)
    )
    if not isinstance(version, int) or not whole:
        raise BadImport(
            f"{name} is not what `recollect export` writes.", "Export again; nothing was imported."
        )
    return Parcel(records, list(range(1, len(records) + 1)), links, projects, "record")


def _is_project(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("id"), str)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("keys", []), list)
        and all(isinstance(key, str) for key in value.get("keys", []))
    )


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
    ) -> None:
        """Raises `OutOfScope` for an agent outside any project."""
        self._store = store
        self._embedder = embedder
        self._project = project
        self._actor = actor
        self._by_agent = m.is_agent(actor)
        self._clock = clock
        self._reader = Reader(user_id, project, clock)
        self._projects: dict[str, str] = {}  # the file's ids, and ours
        if self._by_agent and project is None:
            raise OutOfScope("There is no project here to import into.", "Run it in the project's folder.")

    def bring_in(
        self,
        records: Iterable[Any],
        links: Iterable[Any] = (),
        projects: Iterable[Any] = (),
        progress: Progress | None = None,
    ) -> ImportReport:
        """Keep the records as given, a batch to a transaction, while the next ones are being embedded.

        Of an agent only the memories are taken, as its own and for this project.
        """
        report = ImportReport()
        if self._by_agent:
            links, projects = (), ()
        self._adopt(projects, report)
        ready: list[list[tuple[int, m.Memory]]] = []  # batches handed to the embedder and not yet written

        def texts() -> Iterator[list[str]]:
            for batch in self._batches(records, report):
                ready.append(batch)
                yield [embedded_text(each.content, each.tags, each.file_paths) for _, each in batch]

        source = texts()
        try:
            for rows in self._embedder.embed_each(source):
                self._write(ready.pop(0), [row.astype("<f4").tobytes() for row in rows], report, progress)
        except EmbedderUnavailable as error:
            if not error.by_choice:
                report.lacks_vectors = True
                report.notes += (f"Imported without vectors for now: {error.message} {error.hint}".strip(),)
            while ready:
                self._write(ready.pop(0), None, report, progress)
            for _ in source:
                self._write(ready.pop(0), None, report, progress)
        self._bring_links(links, report)
        self._link_successors(report)
        report.refused.sort()
        return report

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

    def _batches(self, records: Iterable[Any], report: ImportReport) -> Iterator[list[tuple[int, m.Memory]]]:
        for chunk in _chunks(enumerate(records)):
            batch = []
            for number, record in chunk:
                try:
                    memory = self._reader.memory(record, self._projects)
                except RecollectError as error:
                    report.ids.append(None)
                    report.refused.append((number, error.message))
                    continue
                report.ids.append(memory.id)
                report.redacted += self._reader.found
                batch.append((number, self._agents_own(memory) if self._by_agent else memory))
            if batch:
                yield batch

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
        self,
        batch: list[tuple[int, m.Memory]],
        vectors: list[bytes] | None,
        report: ImportReport,
        progress: Progress | None,
    ) -> None:
        with self._store.transaction():
            known = self._store.get_many([memory.id for _, memory in batch])
            for place, (number, memory) in enumerate(batch):
                old = known.get(memory.id)
                if old is not None and self._by_agent and not self._is_agents(old):
                    report.ids[number] = None
                    report.refused.append((number, f"Memory {memory.id} is there already, and not yours."))
                    continue
                if old is not None and old.updated_at >= memory.updated_at:
                    continue
                known[memory.id] = memory  # it may come twice
                action = "add" if old is None else "update"
                self._store.log(action, self._actor, self._clock(), memory.id, {"imported": True})
                self._store.put(memory)
                if memory.state is m.State.SUPERSEDED and memory.superseded_by:
                    report.superseded.append(memory)
                if vectors is not None:
                    self._store.put_vector(memory.id, self._embedder.model, vectors[place])
        if progress is not None:
            progress(len(batch))

    def _is_agents(self, memory: m.Memory) -> bool:
        here = self._project.id if self._project else None
        return memory.created_by == self._actor and memory.project_id == here

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
            with self._store.transaction():
                ends = self._store.get_many([end for link in made for end in (link.source, link.target)])
                for link in made:
                    try:
                        _check_ends(link, ends)
                    except RecollectError as error:
                        left_out.add(error)
                        continue
                    if not self._is_settled(link):
                        self._store.put_link(link)
                    report.links += 1
        report.notes += left_out.notes()

    def _is_settled(self, link: m.Link) -> bool:
        """Whether it is an older copy of a conflict that has been resolved here since."""
        return link.relation is m.Relation.CONTRADICTS and any(
            _same_edge(each, link) and each.resolved_at is not None and link.resolved_at is None
            for each in self._store.links(link.source)
        )

    def _link_successors(self, report: ImportReport) -> None:
        """Plain lines may say what superseded them without the link that an export has."""
        for chunk in _chunks(report.superseded):
            with self._store.transaction():
                successors = self._store.get_many([memory.superseded_by or "" for memory in chunk])
                for memory in chunk:
                    successor = successors.get(memory.superseded_by or "")
                    if successor is None:
                        continue
                    link = m.Link(
                        successor.id, memory.id, m.Relation.SUPERSEDES, self._clock(), 1.0, "imported"
                    )
                    if not _may_meet(successor, memory):
                        self._store.put(replace(memory, superseded_by=None))
                    elif not any(_same_edge(each, link) for each in self._store.links(memory.id)):
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


def _project_id(key: str) -> str:
    """As `codebase.project` makes it: the same on every machine for the same remote."""
    return "p" + hashlib.sha256(key.encode()).hexdigest()[:15]


def _chunks(items: Iterable[T]) -> Iterator[list[T]]:
    supply = iter(items)
    while chunk := list(islice(supply, BATCH)):
        yield chunk
