"""Memories that no longer fit the code, as last recorded, so that recall need not read the code."""

import recollect.model as m
from recollect.context.store import Store

STALE = "stale"  # the setting of a project: memory id → why and since when; derived from the code


def stale_in(store: Store, project_id: str | None) -> dict[str, m.Stale]:
    """Return the stale memories of a project, by id."""
    recorded = store.setting(project_id, STALE) or {}
    return {name: m.Stale(why, m.from_text(since)) for name, (why, since) in recorded.items()}
