"""Clearing a whole project, and permanently deleting what was forgotten long ago."""

import json
from collections.abc import Sequence
from datetime import datetime

import apsw

import recollect.model as m
from recollect.store.journal import Journal
from recollect.store.sqlite import episodes
from recollect.store.sqlite.connection import Value
from recollect.store.sqlite.deliveries import erase_items
from recollect.store.sqlite.pruned import FORGET_WORDS
from recollect.store.sqlite.views import ORPHAN_TAG

_LEARNT = (
    "aliases",
    "seasons",
    "budget",
    "retrievals",
    "clustered_at",
    "compacted",
    "episodes_seen",
)  # settings
_WORK = (
    "tool_executions",
    "tool_days",
    "task_history",
    "deliveries",
    "pruned",
)  # traces of work in a project
_DECIDED = ("memory", "auto", "preset")  # decisions of a user about a project, which outlive it


def clear(
    db: apsw.Connection, journal: Journal, seq: int, user_id: str, project_id: str | None, at: datetime
) -> m.Cleared:
    """Mark memories and messages as deleted and delete everything else; `project_id` None means all the user has."""
    mine = "user_id = ?1 AND (?2 IS NULL OR project_id = ?2)"
    here = "(?1 <> '' AND (?2 IS NULL OR project_id = ?2))"  # clusters and maps have no user
    now = m.to_text(at)

    def update(table: str, where: str, values: str, *params: Value) -> int:
        journal.before_write(table, where, (user_id, project_id))
        db.execute(f"UPDATE {table} SET {values} WHERE {where}", (user_id, project_id, *params))
        return db.changes()

    def delete(table: str, where: str) -> int:
        journal.before_delete(table, where, (user_id, project_id))
        db.execute(f"DELETE FROM {table} WHERE {where}", (user_id, project_id))
        return db.changes()

    memories = update(
        "memories",
        f"{mine} AND state <> 'deleted'",
        "seq = ?3, state = 'deleted', state_reason = 'forgotten (was ' || state || ')',"
        " deleted_at = ?4, updated_at = ?4, valid_to = coalesce(valid_to, ?4)",
        seq,
        now,
    )
    messages = update("messages", f"{mine} AND forgotten_at IS NULL", "forgotten_at = ?3", now)
    db.execute("UPDATE message_change SET purge = purge + ?", (int(messages > 0),))
    findings = delete("findings", f"session IN (SELECT id FROM sessions WHERE {mine})")
    sessions = delete("sessions", mine)
    gaps = delete("gaps", mine)
    delete("clusters", here)
    delete("module_maps", here)
    delete("pruned_words", f"rowid >> 12 IN (SELECT num FROM pruned WHERE {mine})")
    db.execute(FORGET_WORDS)
    for table in ("deliveries", "pruned", "window_items", "measures", "timings"):
        delete(table, mine)
    delete("settings", f"{mine} AND name IN {_LEARNT}")
    episodes.clear(db, user_id, project_id)
    return m.Cleared(memories, messages, sessions, findings, gaps)


def is_due(db: apsw.Connection, before: datetime) -> bool:
    """Return whether something was forgotten before then. Fast: it reads an index of forgotten rows only."""
    query = (
        "SELECT EXISTS (SELECT 1 FROM memories WHERE deleted_at < ?1)"
        " OR EXISTS (SELECT 1 FROM settings WHERE name = ?2 AND value ->> 'at' < ?1)"
        " OR (SELECT at FROM changes WHERE id = (SELECT min(change) FROM change_parts)) < ?1"  # ids sort by time
    )
    return bool(db.execute(query, (m.to_text(before), m.FORGOTTEN_SETTING)).get)


def overdue(db: apsw.Connection, before: datetime) -> list[tuple[int, str, str]]:
    """Return number, id and fingerprint of the memories that were forgotten before then."""
    query = "SELECT num, id, fingerprint FROM memories WHERE deleted_at < ? ORDER BY id"
    return [(int(num), str(name), str(mark)) for num, name, mark in db.execute(query, (m.to_text(before),))]


def purge(db: apsw.Connection, memories: Sequence[tuple[int, str, str]], before: datetime) -> int:
    """Delete the memories, and messages and projects forgotten before then; return how many messages.

    Nothing of it is recorded for undo.
    """
    if memories:
        nums, ids, _ = (json.dumps(column) for column in zip(*memories, strict=True))
        erase_traces(db, [(name, mark) for _, name, mark in memories])
        _purge_memories(db, nums, ids)
    db.execute("DELETE FROM messages WHERE forgotten_at < ?", (m.to_text(before),))  # and their vectors
    messages = db.changes()
    db.execute("UPDATE message_change SET purge = purge + ?", (int(messages > 0),))
    _purge_projects(db, m.to_text(before))
    return messages


def erase_traces(db: apsw.Connection, memories: Sequence[tuple[str, str]]) -> None:
    """Delete what else has texts of memories that are gone or go now, given by id and fingerprint."""
    if not memories:
        return
    ids, marks = (json.dumps(column) for column in zip(*memories, strict=True))
    among = "(SELECT value FROM json_each(?))"
    # A finding has the text of the memory it became.
    db.execute(f"DELETE FROM findings WHERE promoted_to IN {among} OR fingerprint IN {among}", (ids, marks))
    db.execute(
        f"DELETE FROM reviews WHERE EXISTS (SELECT 1 FROM json_each(memories) e WHERE e.value IN {among})",
        (ids,),
    )
    erase_items(db, [key for name, mark in memories for key in (name, f"finding {mark}")])


def _purge_memories(db: apsw.Connection, nums: str, ids: str) -> None:
    among = "(SELECT value FROM json_each(?))"
    tags = db.execute(
        f"SELECT DISTINCT m.user_id, t.tag FROM memory_tags t JOIN memories m USING (num) WHERE num IN {among}",
        (nums,),
    ).fetchall()
    # A cluster's label has words of its members.
    db.execute(
        f"DELETE FROM clusters WHERE id IN (SELECT cluster FROM cluster_members WHERE memory IN {among})",
        (ids,),
    )
    db.execute(f"DELETE FROM memory_words WHERE rowid IN {among}", (nums,))
    db.execute(f"DELETE FROM memories WHERE num IN {among}", (nums,))  # and their vectors, links and tags
    db.executemany(f"DELETE FROM tags WHERE {ORPHAN_TAG}", tags)
    db.execute("UPDATE change SET seq = seq + 1, purge = purge + 1")


def _purge_projects(db: apsw.Connection, then: str) -> None:
    """Delete projects that were forgotten and not used since, with their names and settings."""
    marked = "(SELECT project_id FROM settings WHERE name = ? AND value ->> 'at' < ?)"
    used = " UNION ".join(
        f"SELECT project_id FROM {table} WHERE project_id IS NOT NULL"
        for table in ("memories", "messages", "sessions", "gaps", *_WORK)
    )
    left = f"id IN {marked} AND id NOT IN ({used} UNION SELECT project_id FROM settings WHERE name IN {_DECIDED})"
    gone = [
        row[0] for row in db.execute(f"SELECT id FROM projects WHERE {left}", (m.FORGOTTEN_SETTING, then))
    ]
    db.executemany("DELETE FROM projects WHERE id = ?", ((name,) for name in gone))  # and its keys
    for table in ("settings", "module_maps", "measures", "timings"):
        db.executemany(f"DELETE FROM {table} WHERE project_id = ?", ((name,) for name in gone))
    db.execute("DELETE FROM settings WHERE name = ? AND value ->> 'at' < ?", (m.FORGOTTEN_SETTING, then))
