"""Which memories maintenance may have to archive, as SQL over the memories `m`.

These are the rules of `memory.maintenance.compact` without the exceptions that depend on a memory's provenance.
"""

from datetime import datetime

from recollect.kinds import FADED, INFERRED_HALF_LIFE, KINDS, LATELY, QUARANTINE, USED_ENOUGH
from recollect.model import to_text
from recollect.store.sqlite.views import Where


def ageing_at(now: datetime) -> Where:
    """Return the condition: a quarantine, a session, or the time of what describes a moment may be over."""
    since = to_text(now - QUARANTINE), to_text(now - LATELY)
    return f"({_QUARANTINED} OR {_OUTLIVED})", (*since, to_text(now), to_text(now))


_QUARANTINED = (
    "(m.standing = 'candidate' AND m.promoted_at <= ? AND (m.settled_at IS NULL OR m.access_count > 0"
    " OR EXISTS (SELECT 1 FROM json_each(m.provenance) WHERE value ->> 'source' IN ('user_stated', 'user_corrected'))))"
)


def _by_kind(column: str) -> str:
    days = {kind.name: getattr(kind, column) for kind in KINDS.values() if getattr(kind, column)}
    return " ".join(("CASE m.kind", *(f"WHEN '{name}' THEN {each}" for name, each in days.items()), "END"))


def _days_since(when: str) -> str:
    """Return the days since `when` as SQL, slightly rounded up so that SQLite's rounding misses no memory."""
    return f"max(julianday(?) - julianday({when}) + 0.001, 0)"


_TRANSIENT = ", ".join(f"'{kind.name}'" for kind in KINDS.values() if kind.is_transient)
_OUTLIVED = f"""(m.standing <> 'pinned' AND (m.last_accessed_at IS NULL OR m.last_accessed_at <= ?) AND (
    m.kind IN ({_TRANSIENT}) AND (
    (m.access_count < {USED_ENOUGH} AND {_days_since("m.created_at")} > {_by_kind("ttl")})
    OR m.confidence * m.trust
        * pow(0.5, {_days_since("max(m.created_at, coalesce(m.last_accessed_at, ''))")}
            / min(coalesce({_by_kind("half_life")}, 1e9),
                  iif(m.provenance ->> '$[0].source' = 'inferred', {INFERRED_HALF_LIFE}, 1e9))) < {FADED})
    OR (m.scope = 'session'
        AND EXISTS (SELECT 1 FROM sessions s WHERE s.id = m.session AND s.ended_at IS NOT NULL))))"""
