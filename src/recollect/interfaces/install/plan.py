"""Plan an installation or its removal, so that the user can see every change, then carry it out in one step."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from recollect.errors import Refused
from recollect.frozen import frozen
from recollect.interfaces.install.change import FileChange, apply, read, remove_empty, text_of
from recollect.interfaces.install.edits import FileEdit, LeftAlone, OwnFile, edits_for
from recollect.interfaces.install.ledger import InstalledFile, Ledger, digest
from recollect.interfaces.install.machine import Machine
from recollect.work.hosts.host import Host

_T = TypeVar("_T")


@frozen
class Plan:
    host: Host
    scope: str
    root: Path
    changes: tuple[FileChange, ...]
    originals: tuple[bytes | None, ...] = ()  # of an installation: each file without our edit
    notes: tuple[str, ...] = ()
    forget: tuple[InstalledFile, ...] = ()  # no longer installed afterwards
    shared: tuple[InstalledFile, ...] = ()  # files that another host has already, and this one uses too

    @property
    def where(self) -> str:
        return "for you" if self.scope == "user" else f"in {self.root}"


def plan_install(host: Host, scope: str, root: Path, machine: Machine, ledger: Ledger) -> Plan:
    """Plan to install `host`. Raise `Refused` for a file that cannot be changed safely."""
    changes: list[FileChange] = []
    originals: list[bytes | None] = []
    others = [record for record in ledger.records() if record.host == host.name and record.scope != scope]
    covered = scope == "project" and bool(others)
    notes = _notes_about_others(host, scope, {record.root for record in others})
    edits = edits_for(host, scope, root, machine, covered=covered)
    shared: list[InstalledFile] = []
    for edit in edits:
        try:
            change, original = _apply(edit, host, ledger, _boundary(scope, root))
        except LeftAlone as left:
            notes.append(left.message)
            continue
        if change.after != change.before:
            changes.append(change)
            originals.append(original)
        elif isinstance(edit, OwnFile) and ledger.of(edit.path, host.name) is None:
            shared += [
                replace(record, host=host.name, scope=scope, root=_root(scope, root))
                for record in ledger.records()
                if record.path == str(edit.path)
            ][:1]
    known = {edit.path: edit for edit in edits_for(host, scope, root, machine)}
    old = [
        record
        for record in _records_of(host, scope, root, ledger)
        if Path(record.path) not in {edit.path for edit in edits}
    ]
    removed, left_alone = _removals(
        {Path(record.path): record for record in old}, known, ledger, _boundary(scope, root)
    )
    return Plan(
        host,
        scope,
        root,
        (*changes, *removed),
        tuple(originals),
        (*notes, *left_alone),
        forget=tuple(old),
        shared=tuple(shared),
    )


def _records_of(host: Host, scope: str, root: Path, ledger: Ledger) -> list[InstalledFile]:
    wanted = (host.name, scope, _root(scope, root))
    return [record for record in ledger.records() if (record.host, record.scope, record.root) == wanted]


def _removals(
    records: Mapping[Path, InstalledFile | None],
    known: Mapping[Path, FileEdit],
    ledger: Ledger,
    boundary: Path | None,
) -> tuple[list[FileChange], list[str]]:
    """Return the changes that remove what was installed, and notes on what is left as it is."""
    changes: list[FileChange] = []
    notes: list[str] = []
    for path, record in records.items():
        try:
            change = _remove(path, known.get(path), record, ledger, boundary)
        except LeftAlone as left:
            notes.append(left.message)
            continue
        if change is not None and change.after != change.before:
            changes.append(change)
    return changes, notes


def _notes_about_others(host: Host, scope: str, roots: set[str]) -> list[str]:
    if scope == "project":
        return (
            [
                f"{host.title} is connected for you in all projects: this adds only what a project needs of its own."
            ]
            if roots
            else []
        )
    return [
        f"It is also connected in {root}, where each event is now recorded twice. Run `recollect uninstall {host.name} --project {root}` to fix this."
        for root in sorted(roots)
    ]


def plan_uninstall(host: Host, scope: str, root: Path, machine: Machine, ledger: Ledger) -> Plan:
    """Plan to remove `host`; what an older version installed goes too, if nobody changed it. Raise `Refused`."""
    known = {edit.path: edit for edit in edits_for(host, scope, root, machine)}
    records = _records_of(host, scope, root, ledger)
    installed: dict[Path, InstalledFile | None] = dict.fromkeys(known)
    installed |= {Path(record.path): record for record in records}
    changes, notes = _removals(installed, known, ledger, _boundary(scope, root))
    return Plan(host, scope, root, tuple(changes), notes=tuple(notes), forget=tuple(records))


def carry_out(plan: Plan, ledger: Ledger) -> None:
    """Make all changes of the plan or none, and record them. Raise `Refused` if one fails."""
    with ledger.lock():
        for original in plan.originals:
            if original is not None:
                ledger.back_up(original)
        made = apply(plan.changes)
        added = [
            _record(plan, change, original, made, ledger)
            for change, original in zip(plan.changes, plan.originals, strict=False)
        ]
        added += plan.shared
        not_empty = remove_empty([Path(folder) for record in plan.forget for folder in record.folders])
        ledger.update(added, [(record.path, record.host) for record in plan.forget], not_empty)


def _record(
    plan: Plan, change: FileChange, original: bytes | None, made: list[Path], ledger: Ledger
) -> InstalledFile:
    assert change.after is not None
    parents = change.path.resolve().parents
    earlier = ledger.of(change.path, plan.host.name)
    return InstalledFile(
        str(change.path),
        plan.host.name,
        plan.scope,
        _root(plan.scope, plan.root),
        None if original is None else digest(original),
        digest(change.after),
        (*(earlier.folders if earlier else ()), *(str(folder) for folder in made if folder in parents)),
    )


def _apply(
    edit: FileEdit, host: Host, ledger: Ledger, boundary: Path | None
) -> tuple[FileChange, bytes | None]:
    current = read(edit.path, boundary)
    base = current
    if current is not None:
        text = text_of(edit.path, current)
        if _attempt(edit, lambda: edit.is_applied(text)):
            return FileChange(edit.path, current, current), current
        record = ledger.of(edit.path, host.name)
        base = _without_edit(edit, current, record, ledger, unrecorded=text)
    start = None if base is None else text_of(edit.path, base)
    after = _attempt(edit, lambda: edit.apply(start))
    return FileChange(edit.path, current, after.encode("utf-8")), base


def _remove(
    path: Path, edit: FileEdit | None, record: InstalledFile | None, ledger: Ledger, boundary: Path | None
) -> FileChange | None:
    current = read(path, boundary)
    if current is None:
        return None
    if isinstance(edit, OwnFile) and _is_shared(path, record, ledger):
        return None
    if edit is None:
        if record is None or digest(current) != record.after:
            raise LeftAlone(f"{path} was changed after it was installed: left as it is.")
        try:
            return FileChange(path, current, ledger.original(record))
        except KeyError:
            raise LeftAlone(f"{path}: the backup is gone: left as it is.") from None
    return FileChange(path, current, _without_edit(edit, current, record, ledger))


def _is_shared(path: Path, record: InstalledFile | None, ledger: Ledger) -> bool:
    """Return whether another host uses the file too."""
    host = record.host if record else ""
    return any(other.path == str(path) and other.host != host for other in ledger.records())


def _without_edit(
    edit: FileEdit, current: bytes, record: InstalledFile | None, ledger: Ledger, unrecorded: str = ""
) -> bytes | None:
    """Return the file byte for byte as it was if nobody changed it since, else without our edit.

    `unrecorded` is what a file without a record is taken to have been before us.
    """
    original: bytes | None = None
    if record is not None:
        try:
            original = ledger.original(record)
        except KeyError:  # the backup is gone
            original = b""
        else:
            if digest(current) == record.after:
                return original
    text = text_of(edit.path, current)
    before = _original_text(original) if record else unrecorded
    remaining = _attempt(edit, lambda: edit.remove(text, before))
    return None if remaining is None else remaining.encode("utf-8")


def _original_text(original: bytes | None) -> str | None:
    """Return what the file was before us; None if we created it."""
    return None if original is None else original.decode("utf-8", "replace")


def _attempt(edit: FileEdit, work: Callable[[], _T]) -> _T:
    try:
        return work()
    except Refused as refused:
        if str(edit.path) in refused.message:
            raise
        raise Refused(f"{edit.path}: {refused.message}", refused.hint) from refused
    except (ValueError, RecursionError) as error:
        kind = "TOML" if edit.path.suffix == ".toml" else "JSON"
        raise Refused(
            f"{edit.path} cannot be edited as {kind}: {error}.",
            "Fix it, then try again; nothing was changed.",
        ) from error


def _boundary(scope: str, root: Path) -> Path | None:
    return root if scope == "project" else None


def _root(scope: str, root: Path) -> str:
    return str(root) if scope == "project" else ""
