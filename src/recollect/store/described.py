"""Which memories should say when they are needed, and which of them first, as SQL over the memories `m`."""

from recollect.kinds import KINDS
from recollect.model import TRUST, Source, Standing
from recollect.store.visibility import IS_PROPOSAL

_TRANSIENT = ", ".join(f"'{kind.name}'" for kind in KINDS.values() if kind.is_transient)
_RULES = ", ".join(f"'{kind.name}'" for kind in KINDS.values() if kind.standing)
_WEIGHT = " ".join(f"WHEN '{kind.name}' THEN {kind.weight}" for kind in KINDS.values())

# Pinned memories are always shown, and what describes a moment is soon over.
LASTING = f"m.standing <> '{Standing.PINNED}' AND m.kind NOT IN ({_TRANSIENT}) AND NOT {IS_PROPOSAL}"
UNDESCRIBED = f"{LASTING} AND m.when_needed IS NULL"

_SAID_BY_A_PERSON = f"m.trust >= {TRUST[Source.USER_STATED]}"
_CONFIRMED = f"m.standing <> '{Standing.CANDIDATE}' AND (m.access_count > 0 OR m.promoted_at IS NULL)"
MOST_IMPORTANT_FIRST = (
    f"CASE WHEN {_SAID_BY_A_PERSON} OR (m.kind IN ({_RULES}) AND {_CONFIRMED}) THEN 0 ELSE 1 END,"
    f" CASE m.kind {_WEIGHT} ELSE 0 END DESC, m.id DESC"
)
