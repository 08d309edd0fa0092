"""Calls of language models and what they cost, in SQLite."""

from datetime import datetime

import recollect.model as m
from recollect.model import CallOutcome, LlmCall, SpendingCap
from recollect.store.rows import CALL_COLUMNS, call_from, call_row
from recollect.store.sqlite.connection import Database

_LOOKED_BACK = 16  # calls that are read to count failures in a row


class SqliteCostLedger:
    """Implements `CostLedger`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def enter(self, call: LlmCall, cap: SpendingCap) -> bool:
        with self._db.writing() as db:
            tokens, micros = next(
                db.execute(
                    "SELECT coalesce(sum(tokens_in + tokens_out), 0), coalesce(sum(micros), 0)"
                    " FROM sidecar_calls WHERE user_id = ? AND at >= ?",
                    (call.user_id, m.to_text(cap.since)),
                )
            )
            if tokens + call.tokens_in + call.tokens_out > cap.tokens or micros + call.micros > cap.micros:
                return False
            db.execute(
                f"INSERT INTO sidecar_calls ({CALL_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                call_row(call),
            )
            return True

    def finish(self, call: LlmCall) -> None:
        with self._db.writing() as db:
            db.execute(
                "UPDATE sidecar_calls SET tokens_in = ?, tokens_out = ?, micros = ?, outcome = ?"
                " WHERE user_id = ? AND at = ? AND id = ?",
                (
                    call.tokens_in,
                    call.tokens_out,
                    call.micros,
                    str(call.outcome),
                    call.user_id,
                    m.to_text(call.at),
                    call.id,
                ),
            )

    def since(self, user_id: str, when: datetime) -> list[LlmCall]:
        query = f"SELECT {CALL_COLUMNS} FROM sidecar_calls WHERE user_id = ? AND at >= ? ORDER BY at, id"
        with self._db.reading() as db:
            return [call_from(row) for row in db.execute(query, (user_id, m.to_text(when)))]

    def failures(self, user_id: str, place: str) -> tuple[int, datetime | None]:
        query = (
            "SELECT at, outcome FROM sidecar_calls WHERE user_id = ? AND place = ? AND outcome <> ?"
            " ORDER BY at DESC, id DESC LIMIT ?"
        )
        with self._db.reading() as db:
            calls = db.execute(query, (user_id, place, str(CallOutcome.ASKED), _LOOKED_BACK)).fetchall()
            good = next(
                (place for place, row in enumerate(calls) if row[1] == CallOutcome.ANSWERED), len(calls)
            )
            return good, m.from_text(str(calls[0][0])) if good else None
