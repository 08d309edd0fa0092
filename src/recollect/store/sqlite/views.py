"""Views and orphaned tags as SQL conditions."""

import functools
from collections.abc import Iterable
from typing import Any

import recollect.model as m
from recollect.store.visibility import IS_PROPOSAL

Where = tuple[str, tuple[Any, ...]]  # a condition, and its parameters

# A row of `tags` whose user has no memory with it.
UNUSED_TAG = (
    "NOT EXISTS (SELECT 1 FROM memory_tags t JOIN memories m USING (num)"
    " WHERE t.tag = tags.name AND m.user_id = tags.user_id)"
)
# A tag by user and name, if it can be dropped.
ORPHAN_TAG = f"user_id = ? AND name = ? AND description = '' AND {UNUSED_TAG}"


@functools.lru_cache(maxsize=256)
def shown_in(view: m.View) -> Where:
    """Return `View.shows` as a condition over the memories `m`; a property test compares the two."""
    parts: list[str] = []
    params: list[Any] = []

    def among(column: str, values: Iterable[str]) -> str:
        chosen = sorted(values)
        params.extend(chosen)
        return f"m.{column} IN ({', '.join('?' * len(chosen))})"

    parts.append(among("state", view.states))
    if view.kinds is not None:
        parts.append(among("kind", view.kinds))
    if view.scopes is not None:
        parts.append(among("scope", view.scopes))
    if not view.all_projects:
        parts.append("(m.project_id IS NULL OR m.project_id IS ?)")
        params.append(view.project_id)
    if view.session is None and not view.all_sessions:
        parts.append("m.scope <> 'session'")
    elif not view.all_sessions:
        parts.append("(m.scope <> 'session' OR m.session = ?)")
        params.append(view.session)
    if view.branches is not None:
        parts.append(f"(m.branch IS NULL OR {among('branch', view.branches)})")
    parts.append("(m.user_id = ? OR m.visibility <> 'private')")
    params.append(view.user_id)
    if not view.proposals:
        parts.append(f"NOT {IS_PROPOSAL}")
    return " AND ".join(parts), tuple(params)


def placed_in(view: m.View, table: str) -> Where:
    """Return the condition for rows of the projects that `view` shows, and of none."""
    within = f"(? OR {table}.project_id IS NULL OR {table}.project_id IS ?)"
    return within, (view.all_projects, view.project_id)
