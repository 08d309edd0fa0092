"""Rows before and after a change, as undo records them: compared, combined and packed.

A backend's write methods note each row before they write it. When the transaction ends, `snapshot` keeps what an undo
needs: the columns that differ, the whole row if it was deleted, a digest if it was created. Nothing here depends on the
backend.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.frozen import frozen

Values = dict[str, Any]

# The tables that hold memories, what depends on them, and module maps, parents first, with the columns of their keys.
MEMORY_TABLES: dict[str, tuple[str, ...]] = {
    "memories": ("num",),
    "tags": ("user_id", "name"),
    "memory_tags": ("num", "tag"),
    "vectors": ("num", "model"),
    "links": ("source", "target", "relation"),
    "clusters": ("id",),
    "cluster_members": ("cluster", "memory"),
    "reviews": ("id",),
    "findings": ("id",),
    "module_maps": ("project_id",),
}
# And what else belongs to a project.
ALL_TABLES = {
    "sessions": ("id",),
    "session_events": ("id",),
    "messages": ("num",),
    "gaps": ("id",),
    "settings": ("user_id", "project_id", "name"),
} | MEMORY_TABLES
# Their rows had no user before schema version 14. It never changes, so digests leave it out.
_WITHOUT_USER_BEFORE_14 = frozenset({"tags", "gaps", "settings"})
MEMORY_PARTS = frozenset({"memory_tags", "vectors"})  # their keys begin with the memory's number
# Links that are made between statements as they come: neither memory needs the other.
LOOSE_RELATIONS = frozenset({"relates_to", "contradicts"})
_USE = frozenset({"access_count", "last_accessed_at", "confidence"})  # change whenever a memory is used
# And after every write: no sign that somebody else changed the row.
_BOOKKEEPING = _USE | {"seq", "updated_at", "deleted_at"}
_DIGEST = ""  # the column under which the digest of a created row is kept


@frozen
class RowSnapshot:
    """One row before and after: the columns that differ, or all columns if it was deleted."""

    table: str
    key: tuple[Any, ...]
    before: Values | None  # None = it did not exist
    after: Values | None  # None = it no longer exists

    @property
    def memory_num(self) -> int | None:
        """The number of the memory it belongs to, or None if it does not belong to exactly one."""
        return self.key[0] if self.table == "memories" or self.table in MEMORY_PARTS else None


def snapshot(
    table: str, key: tuple[Any, ...], before: Values | None, after: Values | None
) -> RowSnapshot | None:
    """Return what changed between two whole rows, or None if nothing did."""
    if before is None:
        return RowSnapshot(table, key, None, {_DIGEST: _digest(table, after)}) if after is not None else None
    if after is None:
        return RowSnapshot(table, key, before, None)
    names = [name for name in before if name != "seq" and before[name] != after[name]]
    if not names:
        return None
    return RowSnapshot(
        table, key, {name: before[name] for name in names}, {name: after[name] for name in names}
    )


def without_parts_of_new_memories(rows: Iterable[RowSnapshot]) -> list[RowSnapshot]:
    """Return `rows` without tags and vectors of memories that are new: they are deleted with the memory."""
    rows = list(rows)
    new = {row.key[0] for row in rows if row.table == "memories" and row.before is None}
    return [row for row in rows if row.table == "memories" or row.memory_num not in new]


def combined(first: RowSnapshot, second: RowSnapshot) -> RowSnapshot:
    """Return what two parts of a change did to one row, as one snapshot."""
    before = first.before if first.before is None or second.before is None else second.before | first.before
    if second.after is None:
        after = None
    elif first.before is None or _DIGEST in (first.after or ()):
        after = {}  # created and written again: its last state is not known
    elif first.after is None or second.before is None:
        after = second.after  # deleted and created again
    else:
        after = first.after | second.after
    return RowSnapshot(first.table, first.key, before, after)


def is_unchanged(row: RowSnapshot, current: Values | None) -> bool:
    """Return whether the row is as the change left it, apart from use and bookkeeping."""
    if row.after is None:
        return current is None
    if current is None:
        return row.before is None  # created by the change and deleted since: nothing is left to undo
    if row.before is None or _DIGEST in row.after:
        return row.after.get(_DIGEST) in (None, _digest(row.table, current))
    return all(current[name] == value for name, value in row.after.items() if name not in _BOOKKEEPING)


def values_to_restore(row: RowSnapshot, current: Values) -> Values:
    """Return the columns to write back into a row that still exists. Uses that were counted since stay counted."""
    assert row.before is not None and row.after is not None
    used = {name for name in _USE & row.after.keys() if current[name] != row.after[name]}
    return {name: value for name, value in row.before.items() if name not in used}


def with_new_grace(row: RowSnapshot, at: datetime) -> RowSnapshot:
    """Return the row with its deletion dated `at`, so that it can be restored for a full grace period again."""
    from recollect.model import to_text  # takes 45 ms to import, and the code graph needs none of it

    name = {"memories": "deleted_at", "messages": "forgotten_at"}.get(row.table, "")
    if not row.before or not row.after or not row.before.get(name) or name not in row.after:
        return row
    return replace(row, before=row.before | {name: to_text(at)})


def owners(rows: Iterable[RowSnapshot]) -> set[int]:
    """Return the numbers of the memories that the rows belong to."""
    return {row.memory_num for row in rows if row.memory_num is not None}


def replaced_texts(rows: Iterable[RowSnapshot]) -> dict[int, str]:
    """Return the texts that a change replaced by others, by the numbers of their memories."""
    return {
        row.key[0]: row.before["content"]
        for row in rows
        if row.table == "memories" and row.before and row.after and "content" in row.after
    }


def removed_memories(rows: Iterable[RowSnapshot]) -> list[tuple[str, str]]:
    """Return id and fingerprint of the memories that a change removed, as the undo of a statement does."""
    return [
        (row.before["id"], row.before["fingerprint"])
        for row in rows
        if row.table == "memories" and row.before and row.after is None
    ]


def _digest(table: str, values: Values) -> str:
    ignored = _BOOKKEEPING | {"user_id"} if table in _WITHOUT_USER_BEFORE_14 else _BOOKKEEPING
    compared = [(name, value) for name, value in values.items() if name not in ignored and value is not None]
    return hashlib.blake2b(repr(compared).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def pack(rows: Iterable[RowSnapshot]) -> bytes:
    """Return the rows as compressed JSON."""
    listed = [(row.table, row.key, row.before, row.after) for row in rows]
    return zlib.compress(json.dumps(listed, default=_bytes_to_json, separators=(",", ":")).encode(), 6)


def unpack(packed: bytes, user_id: str) -> Iterator[RowSnapshot]:
    """Yield the rows that `pack` wrote for a change of the user, also before schema version 14."""
    for table, key, before, after in json.loads(packed_text(packed)):
        row = RowSnapshot(table, tuple(key), _with_bytes(before), _with_bytes(after))
        yield _with_user(row, user_id) if table in _WITHOUT_USER_BEFORE_14 else row


def packed_text(packed: bytes) -> str:
    """Return the JSON that `pack` compressed."""
    return zlib.decompress(packed).decode()


def _with_user(row: RowSnapshot, user_id: str) -> RowSnapshot:
    key, before = row.key, row.before
    if len(key) < len(ALL_TABLES[row.table]):
        key = (user_id, *key)
    if before is not None and row.after is None and "user_id" not in before:
        before = {**before, "user_id": user_id}
    return RowSnapshot(row.table, key, before, row.after)


def _bytes_to_json(value: bytes) -> Values:
    return {"bytes": base64.b64encode(value).decode()}


def _with_bytes(values: Values | None) -> Values | None:
    if values is None:
        return None
    return {
        name: base64.b64decode(value["bytes"]) if isinstance(value, dict) else value
        for name, value in values.items()
    }
