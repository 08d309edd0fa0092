"""Memories as files to read and to edit by hand, one for each project: what is changed on either side comes to the other.

Three versions of an entry are compared: what stands in the file, what the store has, and what we wrote last, of which
the store keeps a digest. What only one side has changed is taken over; what both have is kept twice, and told.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect.config import expand_home
from recollect.context.store import Store
from recollect.errors import BadImport, ContentRefused, RecollectError, Refused, StoreError
from recollect.memory.maintenance import states
from recollect.memory.write.writer import MemoryWriter
from recollect.store.keys import sync as to_disk

_FIELDS = ("content", "kind", "tags", "file_paths", "importance", "pinned")
_SETTING = "mirror "  # and the folder
_HINT = "Mend it and run it again: nothing of this file was taken, and it is as you left it."
_ABOUT = (
    "Edit an entry to change its memory, take it out to forget it, add one without an id to remember something."
    " `recollect mirror` brings it in."
)

Entry = dict[str, Any]


@dataclass(slots=True)
class MirrorReport:
    """What a run has done, on both sides."""

    written: list[str] = field(default_factory=list)  # files
    changed: list[str] = field(default_factory=list)  # ids of memories edited in a file
    remembered: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    both: list[tuple[str, str]] = field(
        default_factory=list
    )  # changed on both sides: its id, and what became of it
    refused: list[tuple[str, str]] = field(default_factory=list)  # files that cannot be read, and why
    redacted: int = 0
    change: str | None = None  # what `undo` takes; None where no file had anything new


@dataclass(frozen=True, slots=True)
class _Base:
    """What we wrote last."""

    file: str
    digests: Mapping[str, str]  # by id


class Mirror:
    """Keeps `folder` in step with the memories of one user. `writer` writes for a project, None for none."""

    def __init__(
        self,
        store: Store,
        folder: Path,
        writer: Callable[[m.Project | None], MemoryWriter],
        *,
        user_id: str,
        actor: str,
        clock: m.Clock,
        change: m.Change,
    ) -> None:
        self._store = store
        self._folder = expand_home(folder)
        self._writer = writer
        self._user_id = user_id
        self._actor = actor
        self._clock = clock
        self._change = change

    def sync(self) -> MirrorReport:
        """Take in what was edited by hand, then write what is there now. A file that cannot be read stays as it is."""
        report = MirrorReport()
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise RecollectError(
                f"Cannot use {self._folder}: {error.strerror}.", "Name another folder."
            ) from error
        places: list[m.Project | None] = [None, *self._store.projects()]
        taken = {self._base(place).file for place in places}
        for place in places:
            base = self._base(place)
            name = base.file or file_name(place, taken, "json")
            taken.add(name)
            if not base.file and not self._memories(place):
                continue
            try:
                self._take_in(place, self._folder / name, base, report)
            except (Refused, BadImport) as error:
                report.refused.append((name, error.message))
            else:
                self._write(place, name, report)
        if report.change is not None:
            self._store.changes.finish(
                replace(self._change, summary=_summary(report), finished_at=self._clock())
            )
        return report

    # what was edited by hand

    def _take_in(self, place: m.Project | None, path: Path, base: _Base, report: MirrorReport) -> None:
        """All of a file or nothing: what came of it is told only once it is kept."""
        entries = _read(path)
        if entries is None:  # moved away or not yet written: no reason to forget anything
            return
        came = MirrorReport()
        with self._store.transaction(), self._store.changes.recorded(self._change):
            here = {memory.id: memory for memory in self._memories(place)}
            seen: set[str] = set()
            for number, entry in enumerate(entries, start=1):
                with _naming(path, number, entry):
                    self._take_entry(place, entry, base, here, seen, came)
            for name in sorted(here.keys() & base.digests.keys() - seen):
                self._miss(here[name], base, came)
        for part in ("changed", "remembered", "forgotten", "both"):
            getattr(report, part).extend(getattr(came, part))
        report.redacted += came.redacted
        if came.changed or came.remembered or came.forgotten or came.both:
            report.change = self._change.id

    def _take_entry(
        self,
        place: m.Project | None,
        entry: Entry,
        base: _Base,
        here: Mapping[str, m.Memory],
        seen: set[str],
        came: MirrorReport,
    ) -> None:
        for field_name in entry.keys() - {"id", *_FIELDS}:
            raise ContentRefused(f"{field_name[:60]} is no field; there are {', '.join(_FIELDS)}")
        name = entry.get("id")
        if name is None:
            self._remember(place, self._checked(entry), came)
            return
        if not isinstance(name, str) or not (name in here or name in base.digests):
            raise ContentRefused("there is no such memory here; leave the id out to remember something new")
        if name in seen:
            raise ContentRefused("the same id stands above")
        seen.add(name)
        ours, last = here.get(name), base.digests.get(name)
        if _digest(entry) in (last, _digest(_entry_of(ours)) if ours else None):
            return
        wanted = self._checked(entry, whole=True)
        if ours is not None and _digest(_entry_of(ours)) == last:
            self._change_memory(place, ours, wanted, came)
        else:
            self._keep_both(place, name, ours, wanted, came)

    def _checked(self, entry: Entry, whole: bool = False) -> Entry:
        """The entry, if it keeps the rules of an import; secrets are for the writer. Raises with the field."""
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
        self, place: m.Project | None, ours: m.Memory, wanted: Entry, came: MirrorReport
    ) -> None:
        before = _entry_of(ours)
        details: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in wanted.items()
            if name in _FIELDS and name != "pinned" and value != before[name]
        }
        if details:
            writer = self._writer(place)
            _, receipt = writer.rewrite(ours.id, lambda memory: replace(memory, **details), self._actor)
            came.redacted += len(receipt.redactions)
        if wanted["pinned"] != ours.pinned:
            states.pin(self._store, ours.id, self._actor, self._clock(), wanted["pinned"])
        came.changed.append(ours.id)

    def _remember(self, place: m.Project | None, wanted: Entry, came: MirrorReport) -> str:
        draft = m.Draft(
            wanted["content"],
            kind=wanted["kind"],
            scope=m.Scope.PROJECT if place else m.Scope.GLOBAL,
            tags=tuple(wanted["tags"]),
            file_paths=tuple(wanted["file_paths"]),
            importance=wanted["importance"],
            created_by=self._actor,
        )
        receipt = self._writer(place).remember(draft)
        came.redacted += len(receipt.redactions)
        if wanted["pinned"]:
            states.pin(self._store, receipt.id, self._actor, self._clock(), True)
        came.remembered.append(receipt.id)
        return receipt.id

    def _keep_both(
        self,
        place: m.Project | None,
        name: str,
        ours: m.Memory | None,
        wanted: Entry,
        came: MirrorReport,
    ) -> None:
        """It has changed here since the file was written, or is gone: nobody's words are lost."""
        if ours is not None and ours.content == wanted["content"]:
            came.both.append((name, "The store's tags and details stay."))
            return
        made = self._remember(place, wanted, came)
        if made != name and self._store.get_many([name]):
            reason = "edited by hand while it changed here"
            self._store.put_link(m.Link(made, name, m.Relation.RELATES_TO, self._clock(), 1.0, reason))
        came.both.append((name, f"The file's text was remembered as {made}."))

    def _miss(self, ours: m.Memory, base: _Base, came: MirrorReport) -> None:
        """An entry that was taken out."""
        if _digest(_entry_of(ours)) == base.digests[ours.id]:
            states.forget(self._store, ours.id, self._actor, self._clock(), "taken out of the mirror")
            came.forgotten.append(ours.id)
        else:
            came.both.append((ours.id, "Taken out of the file, and changed here: it stays."))

    # what is there now

    def _write(self, place: m.Project | None, name: str, report: MirrorReport) -> None:
        memories = self._memories(place)
        entries = [{"id": memory.id, **_entry_of(memory)} for memory in memories]
        text = json.dumps(
            {"about": _ABOUT, "project": place.name if place else "global", "memories": entries},
            ensure_ascii=False,
            indent=1,
        )
        path = self._folder / name
        if not path.exists() or path.read_bytes() != f"{text}\n".encode():
            _replace(path, f"{text}\n".encode())
            report.written.append(name)
        kept = {"file": name, "digests": {each["id"]: _digest(each) for each in entries}}
        if self._store.setting(_place_id(place), self._setting) != kept:
            self._store.set_setting(_place_id(place), self._setting, kept)

    @property
    def _setting(self) -> str:
        return f"{_SETTING}{self._folder}"

    def _base(self, place: m.Project | None) -> _Base:
        kept = self._store.setting(_place_id(place), self._setting) or {}
        return _Base(kept.get("file", ""), kept.get("digests", {}))

    def _memories(self, place: m.Project | None) -> list[m.Memory]:
        """The user's own that hold there, oldest first."""
        here = _place_id(place)
        view = m.View(self._user_id, here)
        return [
            memory
            for memory in self._store.iter_memories(view)
            if memory.project_id == here and memory.user_id == self._user_id
        ]


def _summary(report: MirrorReport) -> str:
    return (
        f"From the mirror: {len(report.changed)} changed, {len(report.remembered)} remembered,"
        f" {len(report.forgotten)} forgotten."
    )


def _place_id(place: m.Project | None) -> str | None:
    return place.id if place else None


def file_name(place: m.Project | None, taken: set[str], ending: str) -> str:
    """Of the project's name; with the end of its id where two are called the same."""
    if place is None:
        return f"global.{ending}"
    plain = re.sub(r"[^\w.-]+", "-", place.name).strip(".-")[:60] or "project"
    name = f"{plain}.{ending}"
    return name if name not in {*taken, f"global.{ending}"} else f"{plain}-{place.id[-6:]}.{ending}"


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
    said = json.dumps([entry.get(name) for name in _FIELDS])
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _read(path: Path) -> list[Entry] | None:
    """The entries of a file; None where there is none. Raises `BadImport` with the line."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadImport(f"Cannot read {path}: {error.strerror}.", _HINT) from error
    try:
        document = json.loads(data.decode("utf-8-sig"))  # some editors put a mark first
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadImport(f"{path}, line {line}: not valid UTF-8.", _HINT) from error
    except json.JSONDecodeError as error:
        raise BadImport(f"{path}, line {error.lineno}: not JSON ({error.msg}).", _HINT) from error
    except (ValueError, RecursionError) as error:
        raise BadImport(f"{path}: not JSON ({error}).", _HINT) from error
    entries = document.get("memories") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise BadImport(f'{path} has no list of "memories".', _HINT)
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise BadImport(f"{path}, entry {number}: not an object.", _HINT)
    return entries


@contextlib.contextmanager
def _naming(path: Path, number: int, entry: Entry) -> Iterator[None]:
    """What is refused within is told with where it stands."""
    try:
        yield
    except StoreError:
        raise
    except RecollectError as error:
        name = entry.get("id")
        which = f"entry {number} ({name[:40]})" if isinstance(name, str) else f"entry {number}"
        raise Refused(f"{path}, {which}: {error.message.rstrip('.')}.", _HINT) from error


def _replace(path: Path, data: bytes) -> None:
    """The old file or the new one, never half of one; readable by its owner alone."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        to_disk(fresh)
        fresh.replace(path)
    except OSError as error:
        raise RecollectError(f"Cannot write {path}: {error.strerror}.", "Name another folder.") from error
    finally:
        fresh.unlink(missing_ok=True)
