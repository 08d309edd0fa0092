"""Repair a file with flipped bits: keep every row, and take those that a damaged page has changed from a backup.

A backup alone would lose what was written since. A page that does not match its checksum still has most of its bytes: the rows
are copied to a new file, with new indexes, and rows of damaged pages are compared with the backup.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from recollect.model import fingerprint
from recollect.store.sqlite import checksums
from recollect.store.sqlite.backup import copy_rows
from recollect.store.sqlite.check import damage_in
from recollect.store.sqlite.connection import UNREADABLE, connect
from recollect.store.sqlite.full_text import rebuild

Row = tuple[Any, ...]


@dataclass
class Repair:
    """What was done with the rows of damaged pages."""

    replaced: int = 0  # rows that the backup had as they were
    unsure: int = 0  # rows that are not in the backup, or were changed since
    memories: list[str] = field(default_factory=list)  # ids of those among them

    def __str__(self) -> str:
        text = "nothing is missing"
        if self.replaced:
            text += f", and {self.replaced} rows came from a backup"
        if self.unsure:
            text += f". {self.unsure} rows may have a wrong letter, as no backup has them as they are"
        if self.memories:
            more = f" and {len(self.memories) - 5} more" if len(self.memories) > 5 else ""
            text += f"; compare the memories {', '.join(self.memories[:5])}{more} with what you know"
        return text


def repair(path: Path, backup: apsw.Connection | None, target: Path) -> Repair | None:
    """Write a repaired copy of the unencrypted file to `target`. Return None if that is not possible.

    Nobody else may have the file open.
    """
    try:
        with _open(path) as damaged, _open(path) as strict:
            if not checksums.are_compared(strict):
                return None  # what SQLite found needs no checksum to be seen
            checksums.ignore(damaged)
            copy_rows(damaged, target, _readable_rows)
            with _open(target) as copy:
                done = _mend(strict, backup, copy)
                copy.pragma("journal_mode", "delete")
            with _open(target) as copy:
                is_whole = damage_in(copy) is None
                copy.pragma("journal_mode", "delete")
            return done if is_whole else None
    except (apsw.Error, *UNREADABLE):
        return None


@contextlib.contextmanager
def _open(path: Path) -> Iterator[apsw.Connection]:
    connection = connect(path, None)
    try:
        yield connection
    finally:
        connection.close()


def _readable_rows(db: apsw.Connection, table: str, columns: Sequence[str]) -> Iterator[Row]:
    """Yield all rows, with a replacement character for every byte that is not UTF-8."""
    values = ", ".join(
        f'typeof("{name}"), iif(typeof("{name}") = \'text\', CAST("{name}" AS BLOB), "{name}")'
        for name in columns
    )
    for row in db.execute(f'SELECT {values} FROM "{table}"'):
        yield tuple(
            bytes(value).decode(errors="replace") if kind == "text" else value
            for kind, value in zip(row[::2], row[1::2], strict=True)
        )


def _mend(strict: apsw.Connection, backup: apsw.Connection | None, copy: apsw.Connection) -> Repair:
    """Replace rows of the copy that lie on damaged pages with those of the backup."""
    done = Repair()
    copy.pragma("foreign_keys", False)
    copy.execute("BEGIN")
    for table, columns, keys in _tables(copy):
        for row in _on_damaged_pages(strict, copy, table, keys):
            key = [row[columns.index(name)] for name in keys]
            if table.startswith("memory_words_"):
                continue  # made again below
            saved = _saved(backup, table, columns, keys, key)
            if saved == row:
                continue
            if saved is not None and _is_changed_by_damage(table, columns, row, saved):
                places = ", ".join("?" * len(columns))
                copy.execute(f'REPLACE INTO "{table}" VALUES ({places})', saved)
                done.replaced += 1
                continue
            done.unsure += 1
            if table == "memories":
                done.memories.append(str(row[columns.index("id")]))
    rebuild(copy)
    copy.execute("COMMIT")
    return done


def _tables(db: apsw.Connection) -> list[tuple[str, list[str], list[str]]]:
    """Return all tables that have rows of their own, with their columns and the columns of their primary keys."""
    found = []
    for (name,) in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
    ).fetchall():
        about = db.execute(f'PRAGMA table_info("{name}")').fetchall()
        keys = [str(column[1]) for column in about if column[5]]
        if keys:
            found.append((str(name), [str(column[1]) for column in about], keys))
    return found


def _on_damaged_pages(
    strict: apsw.Connection, copy: apsw.Connection, table: str, keys: Sequence[str]
) -> Iterator[Row]:
    """Yield the rows of the copy that cannot be read from the damaged file if checksums count."""
    if _can_be_read(strict, f'SELECT * FROM "{table}"'):
        return
    where = " AND ".join(f'"{name}" IS ?' for name in keys)
    key_columns = ", ".join(f'"{name}"' for name in keys)
    for key in copy.execute(f'SELECT {key_columns} FROM "{table}"').fetchall():
        if not _can_be_read(strict, f'SELECT * FROM "{table}" WHERE {where}', key):
            yield from (
                tuple(row) for row in copy.execute(f'SELECT * FROM "{table}" WHERE {where}', key).fetchall()
            )


def _can_be_read(db: apsw.Connection, query: str, values: Sequence[Any] = ()) -> bool:
    try:
        return sum(1 for _ in db.execute(query, tuple(values))) > 0 or not values
    except apsw.Error as error:
        if not checksums.is_damage(error):
            raise
        return False
    except UNREADABLE:
        return False


def _saved(
    backup: apsw.Connection | None,
    table: str,
    columns: Sequence[str],
    keys: Sequence[str],
    key: Sequence[Any],
) -> Row | None:
    """Return the row as the backup has it; None if it does not."""
    if backup is None:
        return None
    where = " AND ".join(f'"{name}" IS ?' for name in keys)
    try:
        row = backup.execute(
            f'SELECT {", ".join(columns)} FROM "{table}" WHERE {where}', tuple(key)
        ).fetchone()
    except apsw.SQLError:  # of an older schema
        return None
    return None if row is None else tuple(row)


def _is_changed_by_damage(table: str, columns: Sequence[str], row: Row, saved: Row) -> bool:
    """Return whether the row differs from its backup because of damage, and not because it was written since.

    A write changes several values, such as a text, its fingerprint and a time; a flipped bit changes one and keeps its length.
    """
    different = [(value, before) for value, before in zip(row, saved, strict=True) if value != before]
    if len(different) == 1:
        value, before = different[0]
        is_text = isinstance(value, str | bytes)
        return not is_text or _size(value) == _size(before) or (isinstance(value, str) and "\ufffd" in value)
    if table != "memories":
        return False
    about = dict(zip(columns, row, strict=True))
    return bool(fingerprint(str(about["content"])) != about["fingerprint"])


def _size(value: object) -> int | None:
    if isinstance(value, str):
        return len(value.encode())
    return len(value) if isinstance(value, bytes) else None
