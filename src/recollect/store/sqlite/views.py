"""Memories, views and orphaned tags as SQL."""

import functools
import json
from collections.abc import Iterable
from typing import Any

import recollect.model as m
from recollect.store.rows import MEMORY_COLUMNS
from recollect.store.visibility import IS_PROPOSAL

Where = tuple[str, tuple[Any, ...]]  # a condition, and its parameters

TAGS = "(SELECT json_group_array(tag ORDER BY position) FROM memory_tags t WHERE t.num = m.num)"
# Rows for `rows.memory_from`.
SELECT_MEMORIES = f"SELECT {', '.join(f'm.{name}' for name in MEMORY_COLUMNS)}, {TAGS} FROM memories m"

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


def own_in(view: m.View) -> Where:
    """Return the condition for what `view` shows of its project, or of none, that is its user's own."""
    where, params = shown_in(view)
    return f"{where} AND m.user_id = ? AND m.project_id IS ?", (*params, view.user_id, view.project_id)


def placed_in(view: m.View, table: str) -> Where:
    """Return the condition for rows of the projects that `view` shows, and of none."""
    within = f"(? OR {table}.project_id IS NULL OR {table}.project_id IS ?)"
    return within, (view.all_projects, view.project_id)


# The orders of `MemoryOrder`. The confidence is the stored one: how far it has faded depends on the moment.
ORDERS = {
    m.MemoryOrder.NEWEST: "m.id DESC",
    m.MemoryOrder.UPDATED: "m.updated_at DESC, m.id DESC",
    m.MemoryOrder.USED: "m.access_count DESC, m.id DESC",
    m.MemoryOrder.CONFIDENCE: "m.confidence * m.trust DESC, m.id DESC",
    m.MemoryOrder.IMPORTANCE: "m.importance DESC, m.id DESC",
}


def passing(view: m.View, which: m.MemoryFilter) -> Where:
    """Return what `view` shows and `which` lets pass as a condition over the memories `m`."""
    where, params = shown_in(view)
    parts, values = [where], [*params]
    if which.tag is not None:
        parts.append("EXISTS (SELECT 1 FROM memory_tags t WHERE t.num = m.num AND t.tag = ?)")
        values.append(which.tag)
    if which.file is not None:
        parts.append(
            "EXISTS (SELECT 1 FROM json_each(m.file_paths) f WHERE f.value = ? OR substr(f.value, ?) = ?)"
        )
        values += [which.file, -len(which.file) - 1, f"/{which.file}"]
    for column, value in (
        ("standing", which.standing),
        ("created_by", which.author),
        ("branch", which.branch),
    ):
        if value is not None:
            parts.append(f"m.{column} = ?")
            values.append(value)
    if which.ids is not None:
        parts.append("m.id IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(sorted(which.ids)))
    if which.but:
        parts.append("m.id NOT IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(sorted(which.but)))
    if which.in_conflict:
        open_ones = "FROM links WHERE relation = 'contradicts' AND resolved_at IS NULL"
        parts.append(f"m.id IN (SELECT source {open_ones} UNION SELECT target {open_ones})")
    return " AND ".join(parts), tuple(values)
