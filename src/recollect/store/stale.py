"""Which memories the code has moved away from, as it was last found: recall need not look at the code."""

from dataclasses import dataclass
from datetime import datetime

import recollect.model as m
from recollect.context.store import Store

STALE = "stale"  # the setting of a project: memory → why and since when. It can be found anew from the code


@dataclass(frozen=True, slots=True)
class Stale:
    why: str  # a clause for people
    since: datetime


def stale_in(store: Store, project_id: str | None) -> dict[str, Stale]:
    """The stale memories of a project, by id."""
    kept = store.setting(project_id, STALE) or {}
    return {name: Stale(why, m.from_text(since)) for name, (why, since) in kept.items()}
