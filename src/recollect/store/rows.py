"""Values of the domain as rows of a table, and back: the same columns in every backend."""

import json
from typing import Any

import recollect.model as m
from recollect.store.columns import (
    OPTIONAL_TIME,
    PLAIN,
    STRINGS,
    TIME,
    Column,
    RowMapper,
    list_of,
    member_of,
)


def _write_if_any(value: Any) -> str | None:
    return m.dumps(value) if value else None


def read_strings(text: str | None) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text else ()


def _read_procedure(text: str | None) -> m.Procedure | None:
    return m.procedure_from(json.loads(text)) if text else None


def _read_span(text: str | None) -> tuple[int, int] | None:
    if not text:
        return None
    first, last = json.loads(text)
    return first, last


# Tags have a table of their own.
_MEMORIES = {
    "id": PLAIN,
    "user_id": PLAIN,
    "project_id": PLAIN,
    "scope": member_of(m.Scope),
    "kind": PLAIN,
    "content": PLAIN,
    "summary": PLAIN,
    "fingerprint": PLAIN,
    "file_paths": STRINGS,
    "anchors": list_of(m.anchor_from),
    "triggers": STRINGS,
    "when_needed": Column(_write_if_any, read_strings),
    "procedure": Column(_write_if_any, _read_procedure),
    "season": PLAIN,
    "branch": PLAIN,
    "session": Column(derived=True),
    "position": PLAIN.of("order"),
    "created_by": PLAIN,
    "visibility": member_of(m.Visibility),
    "standing": member_of(m.Standing),
    "state": member_of(m.State),
    "state_reason": PLAIN,
    "superseded_by": PLAIN,
    "importance": PLAIN,
    "confidence": PLAIN,
    "trust": PLAIN,
    "strength": PLAIN,
    "access_count": PLAIN,
    "last_accessed_at": OPTIONAL_TIME,
    "created_at": TIME,
    "updated_at": TIME,
    "valid_from": TIME,
    "valid_to": OPTIONAL_TIME,
    "deleted_at": OPTIONAL_TIME,
    "provenance": list_of(m.provenance_from),
    "reinforcements": list_of(m.reinforcement_from),
    "promoted_at": OPTIONAL_TIME,
    "settled_at": OPTIONAL_TIME,
}
MEMORY_COLUMNS = tuple(_MEMORIES)
memory_row = RowMapper(m.Memory, _MEMORIES).row
memory_from = RowMapper(m.Memory, {**_MEMORIES, "tags": STRINGS}).item

_LINKS = {
    "source": PLAIN,
    "target": PLAIN,
    "relation": Column(read=m.Relation),
    "weight": PLAIN,
    "reason": PLAIN,
    "verdict": PLAIN,
    "created_at": TIME,
    "resolved_at": OPTIONAL_TIME,
}
LINK_COLUMNS = ", ".join(_LINKS)
link_row = RowMapper(m.Link, _LINKS).row
link_from = RowMapper(m.Link, _LINKS).item

_SESSIONS = {
    "id": PLAIN,
    "user_id": PLAIN,
    "project_id": PLAIN,
    "agent": PLAIN,
    "host": PLAIN,
    "branch": PLAIN,
    "parent": PLAIN,
    "started_at": TIME,
    "ended_at": OPTIONAL_TIME,
    "summary": PLAIN,
    "transcript": PLAIN,
    "active_at": OPTIONAL_TIME,
    "extracted_at": OPTIONAL_TIME,
}
SESSION_COLUMNS = ", ".join(_SESSIONS)
session_row = RowMapper(m.Session, _SESSIONS).row
session_from = RowMapper(m.Session, _SESSIONS).item

_FINDINGS = {
    "id": PLAIN,
    "session": PLAIN,
    "fingerprint": PLAIN,
    "kind": PLAIN,
    "content": PLAIN,
    "importance": PLAIN,
    "confidence": PLAIN,
    "tags": STRINGS,
    "file_paths": STRINGS,
    "messages": Column(_write_if_any, _read_span),
    "promoted_to": PLAIN,
    "created_at": TIME,
    "source": Column(read=m.Source),
    "signals": STRINGS,
    "steps": STRINGS,
    "branch": PLAIN,
}
FINDING_COLUMNS = ", ".join(_FINDINGS)
finding_row = RowMapper(m.Finding, _FINDINGS).row
finding_from = RowMapper(m.Finding, _FINDINGS).item

_MESSAGES = {
    "user_id": PLAIN,
    "project_id": PLAIN,
    "session": PLAIN,
    "position": PLAIN.of("order"),
    "author": PLAIN,
    "text": PLAIN,
    "created_at": TIME,
}
MESSAGE_COLUMNS = ", ".join(_MESSAGES)
message_row = RowMapper(m.Message, _MESSAGES).row
message_from = RowMapper(m.Message, _MESSAGES).item

_CHANGES = {
    "id": PLAIN,
    "user_id": PLAIN,
    "project_id": PLAIN,
    "at": TIME,
    "actor": PLAIN,
    "action": PLAIN,
    "summary": PLAIN,
    "finished_at": OPTIONAL_TIME,
    "undone_at": OPTIONAL_TIME,
}
CHANGE_COLUMNS = ", ".join(_CHANGES)
change_row = RowMapper(m.Change, _CHANGES).row
change_from = RowMapper(m.Change, _CHANGES).item

_REVIEWS = {
    "id": PLAIN,
    "user_id": PLAIN,
    "project_id": PLAIN,
    "kind": PLAIN,
    "memories": STRINGS,
    "reason": PLAIN,
    "created_at": TIME,
    "decided_at": OPTIONAL_TIME,
    "decision": PLAIN,
}
REVIEW_COLUMNS = ", ".join(_REVIEWS)
review_row = RowMapper(m.Review, _REVIEWS).row
review_from = RowMapper(m.Review, _REVIEWS).item

_CALLS = {
    "id": PLAIN,
    "user_id": PLAIN,
    "at": TIME,
    "place": PLAIN,
    "purpose": PLAIN,
    "tokens_in": PLAIN,
    "tokens_out": PLAIN,
    "micros": PLAIN,
    "outcome": Column(str, m.CallOutcome),
}
CALL_COLUMNS = ", ".join(_CALLS)
call_row = RowMapper(m.LlmCall, _CALLS).row
call_from = RowMapper(m.LlmCall, _CALLS).item
