"""Memories, links, sessions and findings as rows of a table, and back."""

import json
from typing import Any

import recollect.model as m
from recollect.store.sqlite.columns import (
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
TAGS = "(SELECT json_group_array(tag ORDER BY position) FROM memory_tags t WHERE t.num = m.num)"
SELECT_MEMORIES = f"SELECT {', '.join(f'm.{name}' for name in MEMORY_COLUMNS)}, {TAGS} FROM memories m"

memory_row = RowMapper(m.Memory, _MEMORIES).row
memory_from = RowMapper(m.Memory, {**_MEMORIES, "tags": STRINGS}).item  # rows of `SELECT_MEMORIES`

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
