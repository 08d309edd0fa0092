"""Which memories the code has moved away from, as it was last found: recall need not look at the code."""

import recollect.model as m
from recollect.context.store import Store

STALE = "stale"  # the setting of a project: memory → why and since when. It can be found anew from the code


def stale_in(store: Store, project_id: str | None) -> dict[str, m.Stale]:
    """The stale memories of a project, by id."""
    kept = store.setting(project_id, STALE) or {}
    return {name: m.Stale(why, m.from_text(since)) for name, (why, since) in kept.items()}
