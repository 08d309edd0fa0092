"""The audit log: append-only, chained by hashes, with its oldest lines moved to an archive file."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.model import AuditCheck, StoreProblem
from recollect.store.keys import sync
from recollect.store.sqlite.connection import Database, unwritable

if TYPE_CHECKING:
    import apsw

_COLUMNS = "seq, at, actor, action, memory_id, detail, hash"
_LONGEST = 1 << 20  # bytes of a line, and far more
_HINT = "Compare with a backup. Run `recollect audit` to see the entries around it."
_Row = tuple[int, str, str, str, str | None, str, str]


class AuditTrail:
    """The audit log of a store and its archive file."""

    def __init__(self, database: Database, archive: Path) -> None:
        self._db = database
        self._archive = archive

    def log(
        self, action: str, actor: str, at: datetime, memory_id: str | None, detail: Mapping[str, Any]
    ) -> None:
        with self._db.writing() as db:
            before = db.execute("SELECT hash FROM audit ORDER BY seq DESC LIMIT 1").get or ""
            line = (m.to_text(at), actor, action, memory_id, m.dumps(detail))
            db.execute(
                "INSERT INTO audit (at, actor, action, memory_id, detail, hash) VALUES (?, ?, ?, ?, ?, ?)",
                (*line, _hash(before, *line)),
            )

    def lines(self, limit: int, memory_id: str | None) -> list[m.AuditLine]:
        where, params = ("WHERE memory_id = ?", (memory_id,)) if memory_id else ("", ())
        query = f"SELECT {_COLUMNS} FROM audit {where} ORDER BY seq DESC LIMIT ?"
        with self._db.reading() as db:
            return [
                m.AuditLine(seq, m.from_text(at), actor, action, about, json.loads(detail), digest)
                for seq, at, actor, action, about, detail, digest in db.execute(query, (*params, limit))
            ]

    def trim(self, keep: int, down_to: int) -> int:
        """Archive lines first and delete them second: a crash in between leaves them in both, which `problems` allows."""
        with self._db.writing() as db:
            count = int(db.execute("SELECT count(*) FROM audit").get)
            if count <= keep:
                return 0
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM audit ORDER BY seq LIMIT ?", (count - max(1, down_to),)
            ).fetchall()
            try:
                self._append(rows)
            except OSError as error:
                raise unwritable(self._archive, error) from error
            db.execute("DELETE FROM audit WHERE seq <= ?", (rows[-1][0],))
        return len(rows)

    def _append(self, rows: Iterable[Any]) -> None:
        """Append the rows that are not in the archive yet: a crash may have come before they were deleted."""
        self._archive.touch(0o600)
        lines = [json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows]
        with self._archive.open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - _LONGEST))
            tail = file.read()
            whole = tail[: tail.rfind(b"\n") + 1]  # without a last line that was cut off
            last = whole[whole.rfind(b"\n", 0, -1) + 1 :]
            if last in lines:
                lines = lines[lines.index(last) + 1 :]
            file.seek(end - len(tail) + len(whole))
            file.truncate()
            file.writelines(lines)
        sync(self._archive)

    def verify(self) -> AuditCheck:
        """Check that every hash covers its line and the one before, from the first archived line to the newest."""
        with self._db.reading() as db, db:  # one snapshot of the log: others may be trimming it
            checked = self._follow(db, set())
            gone = _gone(db)
        return replace(checked, problem=gone[0]) if gone and checked.problem is None else checked

    def problems(self) -> list[StoreProblem]:
        """Return breaks in the chain, and memories that no line adds."""
        added = set[str]()
        with self._db.reading() as db, db:
            checked = self._follow(db, added)
            if checked.problem is not None:
                return [checked.problem]
            found = _gone(db)
            silent = [row[0] for row in db.execute("SELECT id FROM memories") if row[0] not in added]
        if silent:
            found.append(
                StoreProblem(
                    f"{len(silent)} memories have no audit line that adds them (first: {silent[0]}).",
                    "They were written by another program. Run `recollect show ID` to see one.",
                )
            )
        return found

    def _follow(self, db: "apsw.Connection", added: set[str]) -> AuditCheck:
        """Check the chain, and collect in `added` the ids of all memories that a line adds."""
        first = int(db.execute("SELECT coalesce(min(seq), 0) FROM audit").get)
        twice: dict[int, str] = {}  # archived, but not yet deleted when the process was killed
        before, last, archived, seam = "", 0, 0, ""
        try:
            for seq, *line, digest in self._archived():
                if seq <= last or _hash(before, *line) != digest:
                    return AuditCheck(archived, archived, _altered(f"archived line {seq}"))
                before, last, archived = digest, seq, archived + 1
                if seq < first:
                    seam = digest
                else:
                    twice[seq] = digest
                _note_added(line, added)
        except (ValueError, TypeError):  # not JSON, or not a row of the log
            problem = _altered(f"line {archived + 1} of {self._archive.name}")
            return AuditCheck(archived, archived, problem)
        before, lines = seam, archived
        for seq, *line, digest in db.execute(f"SELECT {_COLUMNS} FROM audit ORDER BY seq"):
            if _hash(before, *line) != digest or twice.get(seq, digest) != digest:
                return AuditCheck(lines, archived, _altered(f"line {seq}"))
            before, lines = digest, lines + (seq not in twice)
            _note_added(line, added)
        return AuditCheck(lines, archived, None)

    def _archived(self) -> Iterator[_Row]:
        if self._archive.exists():
            with self._archive.open(encoding="utf-8") as file:
                for text in file:
                    if text.endswith("\n"):  # the last line may have been cut
                        yield _row(json.loads(text))


def _gone(db: "apsw.Connection") -> list[StoreProblem]:
    """Return a problem if lines are missing at the end, where no later hash would show it."""
    last = int(db.execute("SELECT coalesce(max(seq), 0) FROM audit").get)
    newest = int(db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'audit'").get or 0)
    if newest <= last:
        return []
    return [StoreProblem(f"Audit lines {last + 1} to {newest} are gone: the log was altered.", _HINT)]


def _row(value: Any) -> _Row:
    """Return the value as a row. Raise TypeError if it is not one."""
    kinds = (int, str, str, str, str | None, str, str)
    if not isinstance(value, list) or len(value) != len(kinds) or not all(map(isinstance, value, kinds)):
        raise TypeError
    return tuple(value)


def _note_added(line: list[Any], added: set[str]) -> None:
    if line[2] == "add" and line[3] is not None:
        added.add(line[3])


def _altered(where: str) -> StoreProblem:
    return StoreProblem(
        f"Audit {where} does not match the previous one: the log was altered.",
        _HINT,
    )


def _hash(before: str, *line: str | None) -> str:
    return hashlib.sha256(json.dumps([before, *line], ensure_ascii=False).encode()).hexdigest()
