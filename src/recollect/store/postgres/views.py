"""Memories, views and orphaned tags as SQL. The tenant is in none of it: the policies of the database add it."""

import functools
from typing import Any

import recollect.model as m
from recollect.store.rows import MEMORY_COLUMNS
from recollect.store.visibility import IS_PROPOSAL

Where = tuple[str, tuple[Any, ...]]  # a condition, and its parameters

TAGS = "(SELECT coalesce(json_agg(t.tag ORDER BY t.position), '[]')::text FROM memory_tags t WHERE t.num = m.num)"
_SNIPPETS = "(SELECT json_object_agg(s.mark, s.text) FROM snippets s WHERE s.num = m.num)"
# Rows for `memory_rows.memory_from`.
SELECT_MEMORIES = (
    f"SELECT {', '.join(f'm.{name}' for name in MEMORY_COLUMNS)}, {TAGS}, {_SNIPPETS} FROM memories m"
)
# A row of `tags` whose user has no memory with it.
UNUSED_TAG = (
    "NOT EXISTS (SELECT 1 FROM memory_tags t JOIN memories m ON m.num = t.num"
    " WHERE t.tag = tags.name AND m.user_id = tags.user_id)"
)
# A tag by user and name, if it can be dropped.
ORPHAN_TAG = f"user_id = %s AND name = %s AND description = '' AND {UNUSED_TAG}"
HAS_FILE = (
    "EXISTS (SELECT 1 FROM json_array_elements_text(m.file_paths::json) f WHERE f = %s OR right(f, %s) = %s)"
)
HAS_TAG = "EXISTS (SELECT 1 FROM memory_tags t WHERE t.num = m.num AND t.tag = %s)"


def equals(column: str, value: str | None) -> Where:
    """Return the condition that the column has this value, or none. `IS NOT DISTINCT FROM` would use no index."""
    return (f"{column} IS NULL", ()) if value is None else (f"{column} = %s", (value,))


@functools.lru_cache(maxsize=256)
def shown_in(view: m.View) -> Where:
    """Return `View.shows` as a condition over the memories `m`; a property test compares the two."""
    parts: list[str] = ["m.state = ANY (%s)"]
    params: list[Any] = [sorted(view.states)]
    if view.kinds is not None:
        parts.append("m.kind = ANY (%s)")
        params.append(sorted(view.kinds))
    if view.scopes is not None:
        parts.append("m.scope = ANY (%s)")
        params.append(sorted(view.scopes))
    if not view.all_projects:
        parts.append("(m.project_id IS NULL OR m.project_id = %s)")
        params.append(view.project_id)
    if view.session is None and not view.all_sessions:
        parts.append("m.scope <> 'session'")
    elif not view.all_sessions:
        parts.append("(m.scope <> 'session' OR m.session = %s)")
        params.append(view.session)
    if view.branches is not None:
        parts.append("(m.branch IS NULL OR m.branch = ANY (%s))")
        params.append(sorted(view.branches))
    parts.append("(m.user_id = %s OR m.visibility <> 'private')")
    params.append(view.user_id)
    if not view.proposals:
        parts.append(f"NOT {IS_PROPOSAL}")
    return " AND ".join(parts), tuple(params)


def own_in(view: m.View) -> Where:
    """Return the condition for what `view` shows of its project, or of none, that is its user's own."""
    where, params = shown_in(view)
    here, project = equals("m.project_id", view.project_id)
    return f"{where} AND m.user_id = %s AND {here}", (*params, view.user_id, *project)


def placed_in(view: m.View, table: str) -> Where:
    """Return the condition for rows of the projects that `view` shows, and of none."""
    if view.all_projects:
        return "true", ()
    return f"({table}.project_id IS NULL OR {table}.project_id = %s)", (view.project_id,)


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
        parts.append(HAS_TAG)
        values.append(which.tag)
    if which.file is not None:
        parts.append(HAS_FILE)
        values += file_params(which.file)
    for column, value in (
        ("standing", which.standing),
        ("created_by", which.author),
        ("branch", which.branch),
    ):
        if value is not None:
            parts.append(f"m.{column} = %s")
            values.append(value)
    if which.ids is not None:
        parts.append("m.id = ANY (%s)")
        values.append(sorted(which.ids))
    if which.but:
        parts.append("NOT m.id = ANY (%s)")
        values.append(sorted(which.but))
    if which.in_conflict:
        open_ones = "FROM links WHERE relation = 'contradicts' AND resolved_at IS NULL"
        parts.append(f"m.id IN (SELECT source {open_ones} UNION SELECT target {open_ones})")
    return " AND ".join(parts), tuple(values)


def file_params(file: str) -> tuple[str, int, str]:
    """Return the parameters of `HAS_FILE`: the path, or its end after a slash."""
    return file, len(file) + 1, f"/{file}"
