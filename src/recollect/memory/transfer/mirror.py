"""Keep a folder of JSON files, one per project, in step with the store, so that you can edit memories by hand.

Three versions of an entry are compared: the file's, the store's, and the one written last, of which the store keeps a
digest. A change on one side is applied to the other; if both sides changed an entry, both texts are kept and reported.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect.config import expand_home
from recollect.context.context import Context
from recollect.errors import BadImport, ContentRefused, RecollectError, Refused, StoreError
from recollect.frozen import frozen
from recollect.memory.index.index import MemoryIndex
from recollect.memory.maintenance import states
from recollect.memory.write.writer import MemoryWriter
from recollect.store.keys import sync as to_disk

_FIELDS = ("content", "kind", "tags", "file_paths", "importance", "pinned")
_SETTING = "mirror "  # and the folder
_HINT = "Correct the file and run `recollect mirror` again. Nothing was read from it, and it is unchanged."
_ABOUT = (
    "Edit an entry to change its memory, delete it to forget the memory, add one without an id to remember something."
    " Then run `recollect mirror`."
)

Entry = dict[str, Any]


@dataclass(slots=True)
class MirrorReport:
    """What a run changed on both sides."""

    written: list[str] = field(default_factory=list)  # files
    changed: list[str] = field(default_factory=list)  # ids of memories edited in a file
    remembered: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    both: list[tuple[str, str]] = field(default_factory=list)  # changed on both sides: id and outcome
    refused: list[tuple[str, str]] = field(default_factory=list)  # files that were not read, and why
    redacted: int = 0
    change: str | None = None  # for `undo`; None = no file had changes


@frozen
class _LastWritten:
    """The file as it was written last."""

    file: str
    digests: Mapping[str, str]  # by id


class Mirror:
    """Keeps `folder` in step with the memories of one user. Edits in the files are recorded as `change`."""

    def __init__(self, context: Context, index: MemoryIndex, folder: Path, change: m.Change) -> None:
        self._context = context
        self._index = index
        self._store = context.store
        self._folder = expand_home(folder)
        self._user_id = context.user_id
        self._actor = context.actor
        self._clock = context.clock
        self._change = change

    def _writer(self, project: m.Project | None) -> MemoryWriter:
        return MemoryWriter(self._context.for_project(project), self._index)

    def sync(self) -> MirrorReport:
        """Apply the edits in the files to the store, then write the files again. An unreadable file stays unchanged."""
        report = MirrorReport()
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise RecollectError(
                f"Cannot use {self._folder}: {error.strerror}.", "Choose another folder."
            ) from error
        projects: list[m.Project | None] = [None, *self._store.projects()]
        taken = {self._base(project).file for project in projects}
        for project in projects:
            base = self._base(project)
            name = base.file or file_name(project, taken, "json")
            taken.add(name)
            if not base.file and not self._memories(project):
                continue
            try:
                self._read_file(project, self._folder / name, base, report)
            except (Refused, BadImport) as error:
                report.refused.append((name, error.message))
            else:
                self._write(project, name, report)
        if report.change is not None:
            self._store.changes.finish(
                replace(self._change, summary=_summary(report), finished_at=self._clock())
            )
        return report

    # from the files to the store

    def _read_file(
        self, project: m.Project | None, path: Path, base: _LastWritten, report: MirrorReport
    ) -> None:
        """Apply a file in one transaction, and report it only after the transaction."""
        entries = _read(path)
        if entries is None:  # moved or not written yet: forget nothing
            return
        result = MirrorReport()
        with self._store.transaction(), self._store.changes.recorded(self._change):
            current = {memory.id: memory for memory in self._memories(project)}
            seen: set[str] = set()
            for number, entry in enumerate(entries, start=1):
                with _naming(path, number, entry):
                    self._apply_entry(project, entry, base, current, seen, result)
            for name in sorted(current.keys() & base.digests.keys() - seen):
                self._apply_removal(current[name], base, result)
        for part in ("changed", "remembered", "forgotten", "both"):
            getattr(report, part).extend(getattr(result, part))
        report.redacted += result.redacted
        if result.changed or result.remembered or result.forgotten or result.both:
            report.change = self._change.id

    def _apply_entry(
        self,
        project: m.Project | None,
        entry: Entry,
        base: _LastWritten,
        current: Mapping[str, m.Memory],
        seen: set[str],
        result: MirrorReport,
    ) -> None:
        for field_name in entry.keys() - {"id", *_FIELDS}:
            raise ContentRefused(f"{field_name[:60]} is not a field; use {', '.join(_FIELDS)}")
        name = entry.get("id")
        if name is None:
            self._remember(project, self._checked(entry), result)
            return
        if not isinstance(name, str) or not (name in current or name in base.digests):
            raise ContentRefused("no such memory in this project; leave out the id to remember something new")
        if name in seen:
            raise ContentRefused("the file has this id twice")
        seen.add(name)
        ours, last = current.get(name), base.digests.get(name)
        if _digest(entry) in (last, _digest(_entry_of(ours)) if ours else None):
            return
        wanted = self._checked(entry, whole=True)
        if ours is not None and _digest(_entry_of(ours)) == last:
            self._change_memory(project, ours, wanted, result)
        else:
            self._keep_both(project, name, ours, wanted, result)

    def _checked(self, entry: Entry, whole: bool = False) -> Entry:
        """Return the entry after checking it by the rules of an import. Secrets are removed when it is written."""
        for name in _FIELDS if whole else ("content",):
            if entry.get(name) is None:
                raise ContentRefused(f"{name} is missing")
        if not isinstance(entry.get("pinned", False), bool):
            raise ContentRefused("pinned must be true or false")
        from recollect.memory.transfer.record import RecordReader  # imports pydantic

        reader = RecordReader(self._user_id, None, self._clock)
        memory = reader.memory({name: entry[name] for name in _FIELDS if name in entry}, {})
        given = ("content", "tags", "file_paths", "pinned")
        return _entry_of(memory) | {name: entry[name] for name in given if name in entry}

    def _change_memory(
        self, project: m.Project | None, ours: m.Memory, wanted: Entry, result: MirrorReport
    ) -> None:
        before = _entry_of(ours)
        details: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in wanted.items()
            if name in _FIELDS and name != "pinned" and value != before[name]
        }
        if details:
            writer = self._writer(project)
            _, receipt = writer.rewrite(ours.id, lambda memory: replace(memory, **details), self._actor)
            result.redacted += len(receipt.redactions)
        if wanted["pinned"] != ours.pinned:
            states.pin(self._store, ours.id, self._actor, self._clock(), wanted["pinned"])
        result.changed.append(ours.id)

    def _remember(self, project: m.Project | None, wanted: Entry, result: MirrorReport) -> str:
        draft = m.Draft(
            wanted["content"],
            kind=wanted["kind"],
            scope=m.Scope.PROJECT if project else m.Scope.GLOBAL,
            tags=tuple(wanted["tags"]),
            file_paths=tuple(wanted["file_paths"]),
            importance=wanted["importance"],
            created_by=self._actor,
        )
        writer = self._writer(project)
        receipt = writer.write(writer.prepare(draft), self._change)
        result.redacted += len(receipt.redactions)
        if wanted["pinned"]:
            states.pin(self._store, receipt.id, self._actor, self._clock(), True)
        result.remembered.append(receipt.id)
        return receipt.id

    def _keep_both(
        self,
        project: m.Project | None,
        name: str,
        ours: m.Memory | None,
        wanted: Entry,
        result: MirrorReport,
    ) -> None:
        """Keep both texts: the memory was changed or removed in the store since the file was written."""
        if ours is not None and ours.content == wanted["content"]:
            result.both.append((name, "The store's tags and details are kept."))
            return
        made = self._remember(project, wanted, result)
        if made != name and self._store.get_many([name]):
            reason = "edited in the mirror and in the store"
            self._store.put_link(m.Link(made, name, m.Relation.RELATES_TO, self._clock(), 1.0, reason))
        result.both.append((name, f"The file's text was remembered as {made}."))

    def _apply_removal(self, ours: m.Memory, base: _LastWritten, result: MirrorReport) -> None:
        """Forget a memory whose entry was removed, unless it has changed in the store."""
        if _digest(_entry_of(ours)) == base.digests[ours.id]:
            states.forget(self._store, ours.id, self._actor, self._clock(), "removed from the mirror")
            result.forgotten.append(ours.id)
        else:
            result.both.append((ours.id, "Removed from the file but changed in the store: it is kept."))

    # from the store to the files

    def _write(self, project: m.Project | None, name: str, report: MirrorReport) -> None:
        memories = self._memories(project)
        entries = [{"id": memory.id, **_entry_of(memory)} for memory in memories]
        value = {"about": _ABOUT, "project": project.name if project else "global", "memories": entries}
        text = m.visible_json(json.dumps(value, ensure_ascii=False, indent=1))
        path = self._folder / name
        if not path.exists() or path.read_bytes() != f"{text}\n".encode():
            _replace(path, f"{text}\n".encode())
            report.written.append(name)
        written = {"file": name, "digests": {entry["id"]: _digest(entry) for entry in entries}}
        if self._store.setting(_id_of(project), self._setting) != written:
            self._store.set_setting(_id_of(project), self._setting, written)

    @property
    def _setting(self) -> str:
        return f"{_SETTING}{self._folder}"

    def _base(self, project: m.Project | None) -> _LastWritten:
        last = self._store.setting(_id_of(project), self._setting) or {}
        return _LastWritten(last.get("file", ""), last.get("digests", {}))

    def _memories(self, project: m.Project | None) -> list[m.Memory]:
        """Return the user's active memories of a project, oldest first."""
        project_id = _id_of(project)
        view = m.View(self._user_id, project_id)
        return [
            memory
            for memory in self._store.iter_memories(view)
            if memory.project_id == project_id and memory.user_id == self._user_id
        ]


def _summary(report: MirrorReport) -> str:
    return (
        f"From the mirror: {len(report.changed)} changed, {len(report.remembered)} remembered,"
        f" {len(report.forgotten)} forgotten."
    )


def _id_of(project: m.Project | None) -> str | None:
    return project.id if project else None


def file_name(project: m.Project | None, taken: set[str], ending: str) -> str:
    """Return a file name made of the project's name, with the end of its id if the name is taken."""
    if project is None:
        return f"global.{ending}"
    plain = re.sub(r"[^\w.-]+", "-", project.name).strip(".-")[:60] or "project"
    name = f"{plain}.{ending}"
    return name if name not in {*taken, f"global.{ending}"} else f"{plain}-{project.id[-6:]}.{ending}"


def _entry_of(memory: m.Memory) -> Entry:
    return {
        "content": memory.content,
        "kind": memory.kind,
        "tags": list(memory.tags),
        "file_paths": list(memory.file_paths),
        "importance": memory.importance,
        "pinned": memory.pinned,
    }


def _digest(entry: Entry) -> str:
    text = json.dumps([entry.get(name) for name in _FIELDS])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read(path: Path) -> list[Entry] | None:
    """Return the entries of a file, or None if it does not exist. Raise `BadImport` with the line."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadImport(f"Cannot read {path}: {error.strerror}.", _HINT) from error
    try:
        document = json.loads(data.decode("utf-8-sig"))  # some editors write a byte order mark
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadImport(f"{path}, line {line}: not valid UTF-8.", _HINT) from error
    except json.JSONDecodeError as error:
        raise BadImport(f"{path}, line {error.lineno}: not valid JSON ({error.msg}).", _HINT) from error
    except (ValueError, RecursionError) as error:
        raise BadImport(f"{path}: not valid JSON ({error}).", _HINT) from error
    entries = document.get("memories") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise BadImport(f'{path} has no list of "memories".', _HINT)
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise BadImport(f"{path}, entry {number}: not an object.", _HINT)
    return entries


@contextlib.contextmanager
def _naming(path: Path, number: int, entry: Entry) -> Iterator[None]:
    """Name the file and the entry in errors raised within."""
    try:
        yield
    except StoreError:
        raise
    except RecollectError as error:
        name = entry.get("id")
        which = f"entry {number} ({name[:40]})" if isinstance(name, str) else f"entry {number}"
        raise Refused(f"{path}, {which}: {error.message.rstrip('.')}.", _HINT) from error


def _replace(path: Path, data: bytes) -> None:
    """Replace the file in one step; only its owner can read it."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        to_disk(fresh)
        fresh.replace(path)
    except OSError as error:
        raise RecollectError(f"Cannot write {path}: {error.strerror}.", "Choose another folder.") from error
    finally:
        fresh.unlink(missing_ok=True)
