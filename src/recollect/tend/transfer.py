"""Memories out to a file, and back in. Import restores, it does not learn: limits and redaction, nothing merged."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from itertools import islice
from typing import IO, Any

import recollect.model as m
from recollect.embed.protocol import Embedder
from recollect.errors import BadImport, ContentRefused, EmbedderUnavailable, RecollectError
from recollect.kinds import kind_of
from recollect.learn import enrich, limits
from recollect.learn.redact import redact
from recollect.store.protocol import Store

FORMAT = "recollect-export"
VERSION = 1
BATCH = 128  # memories to a transaction: a sync each would cost more than their embedding

Progress = Callable[[int], None]


@dataclass(slots=True)
class ImportReport:
    """What came of an import. `ids` are in the order given, None where a record was refused."""

    ids: list[str | None] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)  # which record, and why
    redacted: int = 0
    links: int = 0
    superseded: list[tuple[str, str]] = field(default_factory=list)  # ids that came superseded, and by what
    notes: tuple[str, ...] = ()

    @property
    def kept(self) -> int:
        return sum(each is not None for each in self.ids)


def export(store: Store, view: m.View, out: IO[str], now: datetime) -> int:
    """Write all that `view` shows, one memory a line inside one JSON document; how many."""
    head = {"format": FORMAT, "version": VERSION, "exported_at": m.to_text(now)}
    projects = [{"id": p.id, "name": p.name, "keys": store.project_keys(p.id)} for p in store.projects()]
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


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file read, and not yet imported."""

    records: list[dict[str, Any]]
    lines: list[int]  # where each record stands, for what is refused
    links: list[dict[str, Any]]
    projects: list[dict[str, Any]]
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
        self._store = store
        self._embedder = embedder
        self._user_id = user_id
        self._project = project
        self._actor = actor
        self._clock = clock

    def bring_in(
        self,
        records: Iterable[Mapping[str, Any]],
        links: Iterable[Mapping[str, Any]] = (),
        progress: Progress | None = None,
    ) -> ImportReport:
        """Keep the records as given, a batch to a transaction, while the next ones are being embedded."""
        report = ImportReport()
        ready: list[list[m.Memory]] = []  # batches handed to the embedder and not yet written

        def texts() -> Iterator[list[str]]:
            for batch in self._batches(records, report):
                ready.append(batch)
                yield [memory.content for memory in batch]

        source = texts()
        try:
            for rows in self._embedder.embed_each(source):
                self._write(ready.pop(0), [row.astype("<f4").tobytes() for row in rows], report, progress)
        except EmbedderUnavailable as error:
            if not error.by_choice:
                report.notes = (f"Imported without vectors for now: {error.message} {error.hint}".strip(),)
            while ready:
                self._write(ready.pop(0), None, report, progress)
            for _ in source:
                self._write(ready.pop(0), None, report, progress)
        self._bring_links(links, report)
        self._link_successors(report)
        return report

    def _batches(
        self, records: Iterable[Mapping[str, Any]], report: ImportReport
    ) -> Iterator[list[m.Memory]]:
        supply = iter(enumerate(records))
        while chunk := list(islice(supply, BATCH)):
            batch = []
            for number, record in chunk:
                try:
                    memory, redacted = self._memory(record)
                except (
                    RecollectError,
                    ValueError,
                    TypeError,
                    KeyError,
                    AttributeError,
                    OverflowError,
                ) as error:
                    reason = (
                        error.message
                        if isinstance(error, RecollectError)
                        else f"a field is malformed ({error})"
                    )
                    report.ids.append(None)
                    report.refused.append((number, reason))
                    continue
                report.ids.append(memory.id)
                report.redacted += redacted
                batch.append(memory)
            if batch:
                yield batch

    def _write(
        self,
        batch: list[m.Memory],
        vectors: list[bytes] | None,
        report: ImportReport,
        progress: Progress | None,
    ) -> None:
        with self._store.transaction():
            known = self._store.get_many([memory.id for memory in batch])
            for number, memory in enumerate(batch):
                old = known.get(memory.id)
                if old is not None and old.updated_at >= memory.updated_at:
                    continue
                action = "add" if old is None else "update"
                self._store.log(action, self._actor, self._clock(), memory.id, {"imported": True})
                self._store.put(memory)
                if memory.state is m.State.SUPERSEDED and memory.superseded_by:
                    report.superseded.append((memory.id, memory.superseded_by))
                if vectors is not None:
                    self._store.put_vector(memory.id, self._embedder.model, vectors[number])
        if progress is not None:
            progress(len(batch))

    def _bring_links(self, links: Iterable[Mapping[str, Any]], report: ImportReport) -> None:
        with self._store.transaction():
            for record in links:
                try:
                    link = m.link_from(record)
                    self._store.put_link(link)
                except (RecollectError, ValueError, TypeError, KeyError):
                    continue  # an end that was refused, or a relation we do not know
                report.links += 1

    def _link_successors(self, report: ImportReport) -> None:
        """Plain lines may say what superseded them without the link that an export has."""
        with self._store.transaction():
            for memory_id, successor in report.superseded:
                ends = {link.source for link in self._store.links(memory_id) if link.target == memory_id}
                if successor not in ends and self._store.get_many([successor]):
                    self._store.put_link(
                        m.Link(successor, memory_id, m.Relation.SUPERSEDES, self._clock(), 1.0, "imported")
                    )

    def _memory(self, record: Mapping[str, Any]) -> tuple[m.Memory, int]:
        """`record` as a memory, every text in it redacted; how many things were taken out."""
        text = limits.clean(record.get("content"))
        text, found = redact(text)
        limits.check_size(text)
        given = {
            key: value
            for key, value in record.items()
            if key in _KNOWN and key != "content" and value is not None
        }
        given, more = _redacted(given)
        memory = _from_record(given, text, self._user_id, self._project, self._clock())
        return memory, len(found) + more


_KNOWN = {*(each.name for each in fields(m.Memory)), "session", "author"}
_TIMES = ("created_at", "updated_at", "valid_from", "valid_to", "deleted_at", "last_accessed_at")


def _share(value: Any) -> float:
    number = float(value)
    if not 0.0 <= number <= 1.0:  # nor is NaN
        raise ValueError(f"{value} is not from 0 to 1")
    return number


def _count(value: Any) -> int:
    number = int(value)
    if not 0 <= number < 2**53:  # as far as JSON counts
        raise ValueError(f"{value} is out of range")
    return number


_NUMBERS: dict[str, Callable[[Any], float]] = {
    "importance": _share,
    "confidence": _share,
    "trust": _share,
    "strength": _count,
    "access_count": _count,
    "order": _count,
}
_NAMES = {"scope": m.Scope, "visibility": m.Visibility, "standing": m.Standing, "state": m.State}
_LISTS = ("tags", "file_paths", "triggers")
_TEXTS = (
    "summary",
    "season",
    "branch",
    "created_by",
    "state_reason",
    "user_id",
    "project_id",
    "superseded_by",
    "id",
)


def _from_record(
    given: Mapping[str, Any], text: str, user_id: str, project: m.Project | None, now: datetime
) -> m.Memory:
    values: dict[str, Any] = {name: m.from_text(given[name]) for name in _TIMES if name in given}
    values |= {name: make(given[name]) for name, make in _NUMBERS.items() if name in given}
    values |= {name: make(given[name]) for name, make in _NAMES.items() if name in given}
    values |= {name: limits.check_items(name, given[name]) for name in _LISTS if name in given}
    values |= {
        name: limits.plain(str(given[name])[: limits.MAX_CONTENT], name) for name in _TEXTS if name in given
    }
    values |= {
        "anchors": tuple(m.anchor_from(each) for each in given.get("anchors", ())),
        "procedure": m.procedure_from(given["procedure"]) if given.get("procedure") else None,
        "reinforcements": tuple(m.reinforcement_from(each) for each in given.get("reinforcements", ())),
    }
    born = values.setdefault("created_at", now)
    values.setdefault("updated_at", born)
    values.setdefault("valid_from", born)
    values.setdefault("user_id", user_id)
    if "project_id" not in given and project is not None and values.get("scope") is not m.Scope.GLOBAL:
        values["project_id"] = project.id
    values.setdefault("project_id", None)
    values.setdefault("scope", m.Scope.PROJECT if values["project_id"] else m.Scope.GLOBAL)
    source = m.Source.OBSERVED if given.get("author") == "assistant" else m.Source.USER_STATED
    values["provenance"] = tuple(m.provenance_from(each) for each in given.get("provenance", ())) or (
        m.Provenance(source, born, session=_session(given), branch=values.get("branch"), reason="imported"),
    )
    values.setdefault("trust", m.TRUST[values["provenance"][0].source])
    values.setdefault("confidence", values["trust"])
    values.setdefault("created_by", "user" if source is m.Source.USER_STATED else "agent:unknown")
    values["id"] = _checked_id(values.get("id")) or m.new_id(born)
    values["kind"] = kind_of(str(given.get("kind", "fact"))).name
    values.setdefault("summary", enrich.summarise(text))
    if "tags" not in values:
        values["tags"] = enrich.infer_tags(text, values.get("file_paths", ()), ())
    return m.Memory(content=text, fingerprint=m.fingerprint(text), **values)


def _checked_id(name: str | None) -> str | None:
    if name is not None and not (
        name.isascii() and name.isalnum() and name == name.lower() and len(name) <= 40
    ):
        raise ContentRefused(f"{name[:40]!r} cannot be an id.", "Ids are lower-case letters and digits.")
    return name


def _session(record: Mapping[str, Any]) -> str | None:
    session = record.get("session")
    return limits.plain(str(session)[: limits.MAX_FIELD], "session") if session is not None else None


# Fields of a record, and of what is nested in it, that hold no free text.
_CODED = {
    *_TIMES,
    *_NUMBERS,
    *_NAMES,
    "id",
    "kind",
    "fingerprint",
    "superseded_by",
    "source",
    "at",
    "messages",
    "digest",
}


def _redacted(value: Any) -> tuple[Any, int]:
    """Other people's stores may hold secrets in any field; how many things were taken out."""
    if isinstance(value, str):
        text, found = redact(limits.plain(value, "A field"))
        return text, len(found)
    if isinstance(value, list | tuple):
        pairs = [_redacted(each) for each in value]
        return [each for each, _ in pairs], sum(count for _, count in pairs)
    if isinstance(value, dict):
        cleaned = {key: (each, 0) if key in _CODED else _redacted(each) for key, each in value.items()}
        return {key: each for key, (each, _) in cleaned.items()}, sum(count for _, count in cleaned.values())
    return value, 0
