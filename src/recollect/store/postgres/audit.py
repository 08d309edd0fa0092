"""The audit log of a tenant: append-only, chained by hashes. Lines are archived by moving a mark, and never deleted.

The newest line's number and hash are beside the change counters, so that lines that are missing at the end are noticed.
Only an admin sees all lines and can check them; others see their own.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import recollect.model as m
from recollect.errors import OutOfScope
from recollect.store.postgres.connection import Connection, Database

_COLUMNS = "seq, at, actor, action, memory_id, detail, user_id, hash"
_HINT = "Compare with a backup. Run `recollect audit` to see the entries around it."


class AuditLog:
    """Writes and checks the audit log."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def log(
        self, action: str, actor: str, at: datetime, memory_id: str | None, detail: Mapping[str, Any]
    ) -> None:
        with self._db.writing() as db:
            last, before, _ = _head(db)
            line = (m.to_text(at), actor, action, memory_id, m.dumps(detail), self._db.identity.user)
            digest = _hash(before, *line)
            db.execute(
                f"INSERT INTO audit ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
                (last + 1, *line, digest),
            )
            db.execute(
                "INSERT INTO change (audit_seq, audit_hash) VALUES (%s, %s) ON CONFLICT (tenant) DO UPDATE"
                " SET audit_seq = excluded.audit_seq, audit_hash = excluded.audit_hash",
                (last + 1, digest),
            )

    def lines(self, limit: int, memory_id: str | None) -> list[m.AuditLine]:
        which, params = ("AND memory_id = %s", (memory_id,)) if memory_id else ("", ())
        with self._db.reading() as db:
            _, _, archived = _head(db)
            query = f"SELECT {_COLUMNS} FROM audit WHERE seq > %s {which} ORDER BY seq DESC LIMIT %s"
            return [
                m.AuditLine(seq, m.from_text(at), actor, action, about, json.loads(detail), digest)
                for seq, at, actor, action, about, detail, _, digest in db.execute(
                    query, (archived, *params, limit)
                )
            ]

    def trim(self, keep: int, down_to: int) -> int:
        with self._db.writing() as db:
            last, _, archived = _head(db)
            if last - archived <= keep:
                return 0
            moved = last - archived - max(1, down_to)
            db.execute("UPDATE change SET audit_archived = audit_archived + %s", (moved,))
        return moved

    def verify(self) -> m.AuditCheck:
        """Check that every hash covers its line and the one before, from the first line to the newest."""
        self._refuse_others()
        with self._db.reading() as db:
            return _follow(db, set())

    def problems(self) -> list[m.StoreProblem]:
        """Return breaks in the chain, and memories that no line adds."""
        self._refuse_others()
        added = set[str]()
        with self._db.reading() as db:
            checked = _follow(db, added)
            if checked.problem is not None:
                return [checked.problem]
            silent = [
                row[0] for row in db.execute("SELECT id FROM memories ORDER BY id") if row[0] not in added
            ]
        if not silent:
            return []
        what = f"{len(silent)} memories have no audit line that adds them (first: {silent[0]})."
        return [
            m.StoreProblem(what, "They were written by another program. Run `recollect show ID` to see one.")
        ]

    def _refuse_others(self) -> None:
        if self._db.identity.role not in ("owner", "admin", "service"):
            raise OutOfScope("Only an admin of the team can check the audit log.", "Ask an admin.")


def _head(db: Connection) -> tuple[int, str, int]:
    """Return number and hash of the newest line, and the number of the last archived one."""
    row = db.execute("SELECT audit_seq, audit_hash, audit_archived FROM change").fetchone()
    return (int(row[0]), str(row[1]), int(row[2])) if row else (0, "", 0)


def _follow(db: Connection, added: set[str]) -> m.AuditCheck:
    """Check the chain, and collect in `added` the ids of all memories that a line adds."""
    last, newest, archived = _head(db)
    before, checked = "", 0
    for seq, *line, digest in db.execute(f"SELECT {_COLUMNS} FROM audit ORDER BY seq"):
        if seq != checked + 1 or _hash(before, *line) != digest:
            return m.AuditCheck(checked, min(checked, archived), _altered(f"line {checked + 1}"))
        before, checked = digest, seq
        if line[2] == "add" and line[3] is not None:
            added.add(line[3])
    found = m.AuditCheck(checked, archived, None)
    if checked < last:
        gone = f"Audit lines {checked + 1} to {last} are gone: the log was altered."
        return replace(found, problem=m.StoreProblem(gone, _HINT))
    return replace(found, problem=_altered(f"line {checked}")) if before != newest else found


def _altered(where: str) -> m.StoreProblem:
    return m.StoreProblem(f"Audit {where} does not match the previous one: the log was altered.", _HINT)


def _hash(before: str, *line: str | None) -> str:
    return hashlib.sha256(json.dumps([before, *line], ensure_ascii=False).encode()).hexdigest()
