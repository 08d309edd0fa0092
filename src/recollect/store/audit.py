"""The audit trail: append-only, each line carrying the hash of the one before, trimmed into an archive file."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.store.connection import Database, unwritable
from recollect.store.keys import sync
from recollect.store.protocol import Problem

if TYPE_CHECKING:
    import apsw

_COLUMNS = "seq, at, actor, action, memory_id, detail, hash"
_LONGEST = 1 << 20  # bytes of a line, and far more
_Row = tuple[int, str, str, str, str | None, str, str]


class AuditTrail:
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
        """Archived first, removed second: a crash between leaves lines in both, which `problems` allows for."""
        with self._db.writing() as db:
            count = int(db.execute("SELECT count(*) FROM audit").get)
            if count <= keep:
                return 0
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM audit ORDER BY seq LIMIT ?", (count - max(1, down_to),)
            ).fetchall()
            try:
                self._append(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            except OSError as error:
                raise unwritable(self._archive, error) from error
            db.execute("DELETE FROM audit WHERE seq <= ?", (rows[-1][0],))
        return len(rows)

    def _append(self, lines: Iterable[str]) -> None:
        self._archive.touch(0o600)
        with self._archive.open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - _LONGEST))
            tail = file.read()
            file.seek(end - len(tail) + tail.rfind(b"\n") + 1)  # where a line was cut off, if one was
            file.truncate()
            file.writelines(line.encode() for line in lines)
        sync(self._archive)

    def problems(self) -> list[Problem]:
        """Whether every hash covers its line and the one before, and every memory has its first line."""
        with self._db.reading() as db:
            before, last, added = "", 0, set[str]()
            for seq, *line, digest in self._all(db):
                if seq <= last:
                    continue  # archived and not yet removed when the power went
                if _hash(before, *line) != digest:
                    return [
                        Problem(
                            f"Audit line {seq} does not follow from the one before: the log was altered.",
                            "Compare with a backup; `recollect audit` shows the lines around it.",
                        )
                    ]
                before, last = digest, seq
                if line[2] == "add" and line[3] is not None:
                    added.add(line[3])
            silent = [row[0] for row in db.execute("SELECT id FROM memories") if row[0] not in added]
        if silent:
            return [
                Problem(
                    f"{len(silent)} memories have no audit line that adds them (first: {silent[0]}).",
                    "They were written past Recollect; look at them with `recollect show`.",
                )
            ]
        return []

    def _all(self, db: "apsw.Connection") -> Iterator[_Row]:
        if self._archive.exists():
            with self._archive.open(encoding="utf-8") as file:
                for text in file:
                    if text.endswith("\n"):  # the last line may have been cut
                        yield tuple(json.loads(text))
        yield from db.execute(f"SELECT {_COLUMNS} FROM audit ORDER BY seq")


def _hash(before: str, *line: str | None) -> str:
    return hashlib.sha256(json.dumps([before, *line], ensure_ascii=False).encode()).hexdigest()
