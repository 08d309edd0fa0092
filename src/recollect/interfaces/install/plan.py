"""Installing and uninstalling: first what would change, then, if the user agrees, all of it at once."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from recollect.errors import Refused
from recollect.interfaces.install.change import Change, apply, read, remove_empty, text_of
from recollect.interfaces.install.ledger import Ledger, Record, digest
from recollect.interfaces.install.pieces import Kept, Piece, pieces
from recollect.interfaces.install.table import Host, Machine

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Plan:
    host: Host
    scope: str
    root: Path
    changes: tuple[Change, ...]
    originals: tuple[bytes | None, ...] = ()  # what each file is without us; for an installation
    notes: tuple[str, ...] = ()
    forget: tuple[Record, ...] = ()  # what is no longer installed after it

    @property
    def where(self) -> str:
        return "for you" if self.scope == "user" else f"in {self.root}"


def plan_install(host: Host, scope: str, root: Path, machine: Machine, ledger: Ledger) -> Plan:
    """Raises `Refused` for a file that cannot be changed safely."""
    changes: list[Change] = []
    originals: list[bytes | None] = []
    others = [each for each in ledger.records() if each.host == host.name and each.scope != scope]
    covered = scope == "project" and bool(others)
    notes = _about_others(host, scope, {each.root for each in others})
    for piece in pieces(host, scope, root, machine, covered=covered):
        try:
            change, original = _put_in(piece, host, ledger, _fence(scope, root))
        except Kept as kept:
            notes.append(kept.message)
            continue
        if change.after != change.before:
            changes.append(change)
            originals.append(original)
    return Plan(host, scope, root, tuple(changes), tuple(originals), tuple(notes))


def _about_others(host: Host, scope: str, roots: set[str]) -> list[str]:
    if scope == "project":
        return (
            [f"{host.title} is connected for you, in all projects: here only the rest is missing."]
            if roots
            else []
        )
    return [
        f"In {root} it is connected too, and notes each event twice: `recollect uninstall {host.name} --project {root}`."
        for root in sorted(roots)
    ]


def plan_uninstall(host: Host, scope: str, root: Path, machine: Machine, ledger: Ledger) -> Plan:
    """What an older version installed goes too, if nobody has changed it. Raises `Refused`."""
    known = {piece.path: piece for piece in pieces(host, scope, root, machine)}
    records = {
        Path(record.path): record
        for record in ledger.records()
        if (record.host, record.scope, record.root) == (host.name, scope, _root(scope, root))
    }
    changes: list[Change] = []
    notes: list[str] = []
    for path in {**known, **records}:
        try:
            change = _take_out(path, known.get(path), records.get(path), ledger, _fence(scope, root))
        except Kept as kept:
            notes.append(kept.message)
            continue
        if change is not None and change.after != change.before:
            changes.append(change)
    return Plan(host, scope, root, tuple(changes), notes=tuple(notes), forget=tuple(records.values()))


def carry_out(plan: Plan, ledger: Ledger) -> None:
    """All of it or nothing. Raises `Refused`."""
    with ledger.alone():
        for original in plan.originals:
            if original is not None:
                ledger.back_up(original)
        made = apply(plan.changes)
        added = [
            _record(plan, change, original, made, ledger)
            for change, original in zip(plan.changes, plan.originals, strict=False)
        ]
        left = remove_empty([Path(folder) for record in plan.forget for folder in record.folders])
        ledger.update(added, [(record.path, record.host) for record in plan.forget], left)


def _record(plan: Plan, change: Change, original: bytes | None, made: list[Path], ledger: Ledger) -> Record:
    assert change.after is not None
    parents = change.path.resolve().parents
    earlier = ledger.of(change.path, plan.host.name)
    return Record(
        str(change.path),
        plan.host.name,
        plan.scope,
        _root(plan.scope, plan.root),
        None if original is None else digest(original),
        digest(change.after),
        (*(earlier.folders if earlier else ()), *(str(each) for each in made if each in parents)),
    )


def _put_in(piece: Piece, host: Host, ledger: Ledger, fence: Path | None) -> tuple[Change, bytes | None]:
    current = read(piece.path, fence)
    base = current
    if current is not None:
        text = text_of(piece.path, current)
        if _attempt(piece, lambda: piece.is_in(text)):
            return Change(piece.path, current, current), current
        record = ledger.of(piece.path, host.name)
        base = _without_us(piece, current, record, ledger)
    start = None if base is None else text_of(piece.path, base)
    after = _attempt(piece, lambda: piece.put(start))
    return Change(piece.path, current, after.encode("utf-8")), base


def _take_out(
    path: Path, piece: Piece | None, record: Record | None, ledger: Ledger, fence: Path | None
) -> Change | None:
    current = read(path, fence)
    if current is None:
        return None
    if piece is None:
        if record is None or digest(current) != record.after:
            raise Kept(f"{path} was changed since: it stays as it is.")
        try:
            return Change(path, current, ledger.original(record))
        except KeyError:
            raise Kept(f"{path}: what it was before is no longer known, so it stays as it is.") from None
    return Change(path, current, _without_us(piece, current, record, ledger))


def _without_us(piece: Piece, current: bytes, record: Record | None, ledger: Ledger) -> bytes | None:
    """Byte for byte what it was, if nobody else has changed it; else without what we put in."""
    original: bytes | None = None
    if record is not None:
        try:
            original = ledger.original(record)
        except KeyError:  # the backup is gone
            original = b""
        else:
            if digest(current) == record.after:
                return original
    text = text_of(piece.path, current)
    before = _before(record, original)
    rest = _attempt(piece, lambda: piece.take(text, before))
    return None if rest is None else rest.encode("utf-8")


def _before(record: Record | None, original: bytes | None) -> str | None:
    """None only where we know that we made the file."""
    if record is None:
        return ""
    return None if original is None else original.decode("utf-8", "replace")


def _attempt(piece: Piece, work: Callable[[], _T]) -> _T:
    try:
        return work()
    except Refused as refused:
        if str(piece.path) in refused.message:
            raise
        raise Refused(f"{piece.path}: {refused.message}", refused.hint) from refused
    except (ValueError, RecursionError) as error:
        kind = "TOML" if piece.path.suffix == ".toml" else "JSON"
        raise Refused(
            f"{piece.path} is not {kind} as we know it: {error}.",
            "Mend it, then try again; nothing was changed.",
        ) from error


def _fence(scope: str, root: Path) -> Path | None:
    return root if scope == "project" else None


def _root(scope: str, root: Path) -> str:
    return str(root) if scope == "project" else ""
