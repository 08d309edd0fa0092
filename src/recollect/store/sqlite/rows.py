"""Memories, links, sessions and findings as rows of a table, and back."""

import json
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import recollect.model as m

Item = TypeVar("Item")

# In the order of `memory_row`. Tags have a table of their own.
MEMORY_COLUMNS = (
    "id",
    "user_id",
    "project_id",
    "scope",
    "kind",
    "content",
    "summary",
    "fingerprint",
    "file_paths",
    "anchors",
    "triggers",
    "procedure",
    "season",
    "branch",
    "session",
    "position",
    "created_by",
    "visibility",
    "standing",
    "state",
    "state_reason",
    "superseded_by",
    "importance",
    "confidence",
    "trust",
    "strength",
    "access_count",
    "last_accessed_at",
    "created_at",
    "updated_at",
    "valid_from",
    "valid_to",
    "deleted_at",
    "provenance",
    "reinforcements",
    "promoted_at",
    "settled_at",
)

TAGS = "(SELECT json_group_array(tag ORDER BY position) FROM memory_tags t WHERE t.num = m.num)"
SELECT_MEMORIES = f"SELECT {', '.join(f'm.{name}' for name in MEMORY_COLUMNS)}, {TAGS} FROM memories m"


# A row with its columns by name.
_Row = namedtuple("_Row", (*MEMORY_COLUMNS, "tags"))  # type: ignore[misc]

# By value: looking a member up by calling the enum takes ten times as long.
_SCOPES = {str(each): each for each in m.Scope}
_VISIBILITIES = {str(each): each for each in m.Visibility}
_STANDINGS = {str(each): each for each in m.Standing}
_STATES = {str(each): each for each in m.State}


def memory_row(memory: m.Memory) -> tuple[Any, ...]:
    return (
        memory.id,
        memory.user_id,
        memory.project_id,
        memory.scope,
        memory.kind,
        memory.content,
        memory.summary,
        memory.fingerprint,
        m.dumps(memory.file_paths),
        m.dumps(memory.anchors),
        m.dumps(memory.triggers),
        m.dumps(memory.procedure) if memory.procedure else None,
        memory.season,
        memory.branch,
        memory.session,
        memory.order,
        memory.created_by,
        memory.visibility,
        memory.standing,
        memory.state,
        memory.state_reason,
        memory.superseded_by,
        memory.importance,
        memory.confidence,
        memory.trust,
        memory.strength,
        memory.access_count,
        _time(memory.last_accessed_at),
        m.to_text(memory.created_at),
        m.to_text(memory.updated_at),
        m.to_text(memory.valid_from),
        _time(memory.valid_to),
        _time(memory.deleted_at),
        m.dumps(memory.provenance),
        m.dumps(memory.reinforcements),
        _time(memory.promoted_at),
        _time(memory.settled_at),
    )


def memory_from(row: Sequence[Any]) -> m.Memory:
    """Return the memory of a row: MEMORY_COLUMNS, then the tags as a JSON list. A search reads forty, so it must be fast."""
    value: Any = _Row._make(row)
    return m.Memory(
        id=value.id,
        user_id=value.user_id,
        project_id=value.project_id,
        scope=_SCOPES[value.scope],
        kind=value.kind,
        content=value.content,
        summary=value.summary,
        fingerprint=value.fingerprint,
        created_at=m.from_text(value.created_at),
        updated_at=m.from_text(value.updated_at),
        valid_from=m.from_text(value.valid_from),
        provenance=_all(m.provenance_from, value.provenance),
        created_by=value.created_by,
        visibility=_VISIBILITIES[value.visibility],
        standing=_STANDINGS[value.standing],
        state=_STATES[value.state],
        state_reason=value.state_reason,
        superseded_by=value.superseded_by,
        tags=_strings(value.tags),
        file_paths=_strings(value.file_paths),
        anchors=_all(m.anchor_from, value.anchors),
        triggers=_strings(value.triggers),
        procedure=m.procedure_from(json.loads(value.procedure)) if value.procedure else None,
        season=value.season,
        branch=value.branch,
        importance=value.importance,
        confidence=value.confidence,
        trust=value.trust,
        strength=value.strength,
        access_count=value.access_count,
        last_accessed_at=_when(value.last_accessed_at),
        valid_to=_when(value.valid_to),
        deleted_at=_when(value.deleted_at),
        reinforcements=_all(m.reinforcement_from, value.reinforcements),
        order=value.position,
        promoted_at=_when(value.promoted_at),
        settled_at=_when(value.settled_at),
    )


LINK_COLUMNS = "source, target, relation, weight, reason, verdict, created_at, resolved_at"


def link_row(link: m.Link) -> tuple[Any, ...]:
    return (
        link.source,
        link.target,
        link.relation,
        link.weight,
        link.reason,
        link.verdict,
        m.to_text(link.created_at),
        _time(link.resolved_at),
    )


def link_from(row: Sequence[Any]) -> m.Link:
    source, target, relation, weight, reason, verdict, created_at, resolved_at = row
    return m.Link(
        source=source,
        target=target,
        relation=m.Relation(relation),
        created_at=m.from_text(created_at),
        weight=weight,
        reason=reason,
        verdict=verdict,
        resolved_at=_when(resolved_at),
    )


SESSION_COLUMNS = (
    "id, user_id, project_id, agent, host, branch, parent, started_at, ended_at, summary, transcript,"
    " active_at, extracted_at"
)


def session_row(session: m.Session) -> tuple[Any, ...]:
    return (
        session.id,
        session.user_id,
        session.project_id,
        session.agent,
        session.host,
        session.branch,
        session.parent,
        m.to_text(session.started_at),
        _time(session.ended_at),
        session.summary,
        session.transcript,
        _time(session.active_at),
        _time(session.extracted_at),
    )


def session_from(row: Sequence[Any]) -> m.Session:
    (session_id, user_id, project_id, agent, host, branch, parent, started_at, ended_at, summary) = row[:10]
    return m.Session(
        id=session_id,
        user_id=user_id,
        project_id=project_id,
        started_at=m.from_text(started_at),
        agent=agent,
        host=host,
        branch=branch,
        parent=parent,
        ended_at=_when(ended_at),
        summary=summary,
        transcript=row[10],
        active_at=_when(row[11]),
        extracted_at=_when(row[12]),
    )


FINDING_COLUMNS = (
    "id, session, fingerprint, kind, content, importance, confidence, tags, file_paths, messages,"
    " promoted_to, created_at, source, signals, steps"
)


def finding_row(finding: m.Finding) -> tuple[Any, ...]:
    return (
        finding.id,
        finding.session,
        finding.fingerprint,
        finding.kind,
        finding.content,
        finding.importance,
        finding.confidence,
        m.dumps(finding.tags),
        m.dumps(finding.file_paths),
        m.dumps(finding.messages) if finding.messages else None,
        finding.promoted_to,
        m.to_text(finding.created_at),
        finding.source,
        m.dumps(finding.signals),
        m.dumps(finding.steps),
    )


def finding_from(row: Sequence[Any]) -> m.Finding:
    (finding_id, session, fingerprint, kind, content, importance, confidence, tags, paths, messages) = row[
        :10
    ]
    span = json.loads(messages) if messages else None
    return m.Finding(
        id=finding_id,
        session=session,
        fingerprint=fingerprint,
        kind=kind,
        content=content,
        created_at=m.from_text(row[11]),
        importance=importance,
        confidence=confidence,
        tags=_strings(tags),
        file_paths=_strings(paths),
        messages=(span[0], span[1]) if span else None,
        promoted_to=row[10],
        source=m.Source(row[12]),
        signals=_strings(row[13]),
        steps=_strings(row[14]),
    )


def _all(read: Callable[[Any], Item], text: str) -> tuple[Item, ...]:
    return tuple(map(read, json.loads(text))) if text != "[]" else ()


def _strings(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text != "[]" else ()


def _time(when: Any) -> str | None:
    return m.to_text(when) if when is not None else None


def _when(text: str | None) -> Any:
    return m.from_text(text) if text is not None else None
