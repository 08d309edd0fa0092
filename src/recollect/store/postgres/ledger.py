"""Calls of language models and what they cost, in PostgreSQL."""

from datetime import datetime

import recollect.model as m
from recollect.model import CallOutcome, LlmCall, SpendingCap
from recollect.store.postgres.connection import Database
from recollect.store.rows import CALL_COLUMNS, call_from, call_row

_LOOKED_BACK = 16  # calls that are read to count failures in a row


class PostgresCostLedger:
    """Implements `CostLedger`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def enter(self, call: LlmCall, cap: SpendingCap) -> bool:
        with self._db.writing() as db:
            spent = db.execute(
                "SELECT coalesce(sum(tokens_in + tokens_out), 0), coalesce(sum(micros), 0)"
                " FROM sidecar_calls WHERE user_id = %s AND at >= %s",
                (call.user_id, m.to_text(cap.since)),
            ).fetchone()
            assert spent is not None
            tokens, micros = spent
            if tokens + call.tokens_in + call.tokens_out > cap.tokens or micros + call.micros > cap.micros:
                return False
            db.execute(
                f"INSERT INTO sidecar_calls ({CALL_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
                call_row(call),
            )
            return True

    def finish(self, call: LlmCall) -> None:
        with self._db.writing() as db:
            db.execute(
                "UPDATE sidecar_calls SET tokens_in = %s, tokens_out = %s, micros = %s, outcome = %s"
                " WHERE user_id = %s AND at = %s AND id = %s",
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
        query = f"SELECT {CALL_COLUMNS} FROM sidecar_calls WHERE user_id = %s AND at >= %s ORDER BY at, id"
        with self._db.reading() as db:
            return [call_from(row) for row in db.execute(query, (user_id, m.to_text(when)))]

    def failures(self, user_id: str, place: str) -> tuple[int, datetime | None]:
        query = (
            "SELECT at, outcome FROM sidecar_calls WHERE user_id = %s AND place = %s AND outcome <> %s"
            " ORDER BY at DESC, id DESC LIMIT %s"
        )
        with self._db.reading() as db:
            calls = db.execute(query, (user_id, place, str(CallOutcome.ASKED), _LOOKED_BACK)).fetchall()
            good = next(
                (place for place, row in enumerate(calls) if row[1] == CallOutcome.ANSWERED), len(calls)
            )
            return good, m.from_text(str(calls[0][0])) if good else None
