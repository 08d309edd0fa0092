"""Clearing a whole project, and permanently deleting what was forgotten long ago."""

from collections.abc import Sequence
from datetime import datetime

import recollect.model as m
from recollect.model.team import Identity
from recollect.store.journal import Journal
from recollect.store.postgres.connection import Connection, number
from recollect.store.postgres.deliveries import erase_items
from recollect.store.postgres.views import ORPHAN_TAG

_LEARNT = [
    "aliases",
    "seasons",
    "budget",
    "retrievals",
    "clustered_at",
    "compacted",
    "episodes_seen",
]  # settings
_DECIDED = ["memory", "auto", "preset"]  # decisions of a user about a project, which outlive it


def clear(
    db: Connection, journal: Journal, seq: int, user_id: str, project_id: str | None, at: datetime
) -> m.Cleared:
    """Mark memories and messages as deleted and delete everything else; `project_id` None means all the user has.

    Only what is the user's: module maps and shared clusters are everybody's.
    """
    mine, params = ("user_id = %s", [user_id])
    if project_id is not None:
        mine, params = "user_id = %s AND project_id = %s", [user_id, project_id]
    now = m.to_text(at)

    def update(table: str, where: str, values: str, *given: str | int) -> int:
        journal.before_write(table, where, params)
        return db.execute(f"UPDATE {table} SET {values} WHERE {where}", (*given, *params)).rowcount

    def delete(table: str, where: str) -> int:
        journal.before_delete(table, where, params)
        return db.execute(f"DELETE FROM {table} WHERE {where}", params).rowcount

    memories = update(
        "memories",
        f"{mine} AND state <> 'deleted'",
        "seq = %s, state = 'deleted', state_reason = 'forgotten (was ' || state || ')',"
        " deleted_at = %s, updated_at = %s, valid_to = coalesce(valid_to, %s)",
        seq,
        now,
        now,
        now,
    )
    messages = update("messages", f"{mine} AND forgotten_at IS NULL", "forgotten_at = %s", now)
    db.execute("UPDATE change SET message_purge = message_purge + %s", (int(messages > 0),))
    findings = delete("findings", f"session IN (SELECT id FROM sessions WHERE {mine})")
    sessions = delete("sessions", mine)
    gaps = delete("gaps", mine)
    for table in ("clusters", "deliveries", "measures", "timings"):
        delete(table, mine)
    learnt = ", ".join(f"'{name}'" for name in _LEARNT)
    delete("settings", f"{mine} AND name IN ({learnt})")
    return m.Cleared(memories, messages, sessions, findings, gaps)


def forget_unused(db: Connection, before: datetime, at: datetime, seq: int) -> list[str]:
    """Mark memories as deleted that nobody has used or changed since then; return their ids. Pinned ones stay."""
    then, now = m.to_text(before), m.to_text(at)
    found = db.execute(
        "UPDATE memories SET seq = %s, state = 'deleted', state_reason = 'unused (was ' || state || ')',"
        " deleted_at = %s, updated_at = %s, valid_to = coalesce(valid_to, %s)"
        " WHERE state <> 'deleted' AND standing <> 'pinned' AND updated_at < %s"
        " AND coalesce(last_accessed_at, '') < %s RETURNING id",
        (seq, now, now, now, then, then),
    )
    return sorted(str(row[0]) for row in found)


def is_due(db: Connection, before: datetime) -> bool:
    """Return whether something was forgotten before then, or an answer is as old."""
    then = m.to_text(before)
    query = (
        "SELECT (EXISTS (SELECT 1 FROM memories WHERE deleted_at < %s)"
        " OR EXISTS (SELECT 1 FROM settings WHERE name = %s AND value::json ->> 'at' < %s)"
        " OR EXISTS (SELECT 1 FROM answers WHERE at < %s)"
        " OR EXISTS (SELECT 1 FROM changes c WHERE c.at < %s"
        " AND c.id = (SELECT min(change) FROM change_parts)))::int"  # ids sort by time
    )
    return bool(number(db, query, (then, m.FORGOTTEN_SETTING, then, then, then)))


def overdue(db: Connection, before: datetime, identity: Identity) -> list[tuple[int, str, str]]:
    """Return number, id and fingerprint of the memories that were forgotten before then and that the caller may delete."""
    whose, params = ("true", ()) if identity.role == "service" else ("user_id = %s", (identity.user,))
    query = f"SELECT num, id, fingerprint FROM memories WHERE deleted_at < %s AND {whose} ORDER BY id"
    found = db.execute(query, (m.to_text(before), *params))
    return [(int(num), str(name), str(mark)) for num, name, mark in found]


def erase_traces(db: Connection, memories: Sequence[tuple[str, str]]) -> None:
    """Delete what else has texts of memories that are gone or go now, given by id and fingerprint."""
    if not memories:
        return
    ids, marks = ([row[place] for row in memories] for place in range(2))
    # A finding has the text of the memory it became.
    db.execute("DELETE FROM findings WHERE promoted_to = ANY (%s) OR fingerprint = ANY (%s)", (ids, marks))
    db.execute(
        "DELETE FROM reviews WHERE EXISTS (SELECT 1 FROM json_array_elements_text(memories::json) e"
        " WHERE e = ANY (%s))",
        (ids,),
    )
    erase_items(db, [key for name, mark in memories for key in (name, f"finding {mark}")])


def purge(db: Connection, memories: Sequence[tuple[int, str, str]], before: datetime) -> int:
    """Delete the memories, and what was forgotten or kept for a time before then; return how many messages.

    These are messages, answers, counts of use, invitations and settings of projects. Nothing of it is recorded for undo.
    """
    then = m.to_text(before)
    if memories:
        nums, ids = ([row[place] for row in memories] for place in range(2))
        erase_traces(db, [(name, mark) for _, name, mark in memories])
        tags = db.execute(
            "SELECT DISTINCT m.user_id, t.tag FROM memory_tags t JOIN memories m ON m.num = t.num"
            " WHERE m.num = ANY (%s)",
            (nums,),
        ).fetchall()
        # A cluster's label has words of its members.
        db.execute(
            "DELETE FROM clusters WHERE id IN (SELECT cluster FROM cluster_members WHERE memory = ANY (%s))",
            (ids,),
        )
        db.execute("DELETE FROM memories WHERE num = ANY (%s)", (nums,))  # and all that is theirs
        for tag in tags:
            db.execute(f"DELETE FROM tags WHERE {ORPHAN_TAG}", tag)
    messages = db.execute("DELETE FROM messages WHERE forgotten_at < %s", (then,)).rowcount
    db.execute("UPDATE change SET message_purge = message_purge + %s", (int(messages > 0),))
    db.execute("DELETE FROM answers WHERE at < %s", (then,))
    db.execute("DELETE FROM usage WHERE period < %s", (then[:10],))
    db.execute("DELETE FROM invites WHERE expires_at < %s", (then,))
    _purge_projects(db, then)
    return messages


def _purge_projects(db: Connection, then: str) -> None:
    """Delete the caller's settings of projects that they forgot and have not used since. The project is the team's."""
    marked = "(SELECT project_id FROM settings WHERE name = %s AND value::json ->> 'at' < %s)"
    used = " UNION ".join(
        f"SELECT project_id FROM {table} WHERE project_id IS NOT NULL"
        for table in ("memories", "messages", "sessions", "gaps", "deliveries")
    )
    left = f"project_id IN {marked} AND project_id NOT IN ({used} UNION SELECT project_id FROM settings WHERE name = ANY (%s))"
    given = (m.FORGOTTEN_SETTING, then, _DECIDED)
    for table in ("measures", "timings", "settings"):
        db.execute(f"DELETE FROM {table} WHERE {left}", given)
    db.execute(
        "DELETE FROM settings WHERE name = %s AND value::json ->> 'at' < %s", (m.FORGOTTEN_SETTING, then)
    )
