"""Switches that a person sets for one project or for all: `memory` and `auto`."""

from recollect.context.store import Store


def is_on(store: Store, project_id: str | None, name: str) -> bool:
    """As it is set here, or else everywhere; on where nobody has said."""
    here = store.setting(project_id, name) if project_id else None
    return bool(here if here is not None else store.setting(None, name) is not False)
