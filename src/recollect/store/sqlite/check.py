"""Checks that the file is undamaged and that the parts of the store agree."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import apsw

from recollect.model import StoreProblem, fingerprint, from_text
from recollect.store import rows
from recollect.store.row_snapshots import unpack
from recollect.store.sqlite import checksums, episode_rows
from recollect.store.sqlite.connection import UNREADABLE
from recollect.store.sqlite.schema import is_complete, tables
from recollect.store.sqlite.views import SELECT_MEMORIES

# Queries whose rows are read as the store reads them, so that a name with a wrong letter is noticed.
_Read = Callable[[Sequence[Any]], object]
_AS_THE_STORE_READS: tuple[tuple[str, _Read], ...] = (
    (SELECT_MEMORIES, rows.memory_from),
    (f"SELECT {rows.LINK_COLUMNS} FROM links", rows.link_from),
    (f"SELECT {rows.SESSION_COLUMNS} FROM sessions", rows.session_from),
    (f"SELECT {rows.FINDING_COLUMNS} FROM findings", rows.finding_from),
    (f"SELECT id, {episode_rows.EXECUTION_COLUMNS} FROM tool_executions", episode_rows.execution_from),
    (f"SELECT id, {episode_rows.TOUCH_COLUMNS} FROM file_interactions", episode_rows.touch_from),
    (f"SELECT id, {episode_rows.TASK_COLUMNS} FROM task_history", episode_rows.task_from),
    ("SELECT rows FROM change_parts", lambda row: list(unpack(row[0], ""))),
)
# Columns of other tables that hold JSON or a time; those not named here hold a text or a number.
_JSON = ("data", "detail", "document", "event", "item", "memories", "pattern_data", "value")
_TIMES = ("at", "timestamp", "first_seen", "last_seen")

# Problems: a sentence with a place for the count, and a query that returns the count.
_NONE_OF = (
    (
        "{} memories are missing from the full text",
        "SELECT count(*) FROM memories WHERE num NOT IN (SELECT id FROM memory_words_docsize)",
    ),
    (
        "{} full-text entries belong to no memory",
        "SELECT count(*) FROM memory_words_docsize WHERE id NOT IN (SELECT num FROM memories)",
    ),
    (
        "{} vectors belong to no memory",
        "SELECT count(*) FROM vectors WHERE num NOT IN (SELECT num FROM memories)",
    ),
    (
        "{} vectors have a different dimension than others of their model",
        "SELECT count(*) FROM vectors v JOIN (SELECT model, max(length(vector)) AS longest FROM vectors GROUP BY model) w"
        " USING (model) WHERE length(v.vector) <> w.longest",
    ),
    (
        "{} links lead to no memory",
        "SELECT count(*) FROM links WHERE source NOT IN (SELECT id FROM memories)"
        " OR target NOT IN (SELECT id FROM memories)",
    ),
    (
        "{} superseded memories have no link from their replacement",
        "SELECT count(*) FROM memories m WHERE state = 'superseded'"
        " AND superseded_by IN (SELECT id FROM memories)"  # it may have been purged since
        " AND NOT EXISTS (SELECT 1 FROM links l"
        " WHERE l.source = m.superseded_by AND l.target = m.id AND l.relation = 'supersedes')",
    ),
    (
        "{} tags of memories are not among the tags",
        "SELECT count(*) FROM memory_tags t JOIN memories m USING (num)"
        " WHERE NOT EXISTS (SELECT 1 FROM tags g WHERE g.user_id = m.user_id AND g.name = t.tag)",
    ),
    (
        "{} rows are newer than the change counter",
        "SELECT count(*) FROM memories WHERE seq > (SELECT seq FROM change)",
    ),
)


def whole(db: apsw.Connection) -> bool:
    """Return whether the pages of the file are consistent."""
    return bool(db.execute("PRAGMA quick_check(1)").get == "ok")


def whole_in_every_row(db: apsw.Connection) -> bool:
    """Return whether nothing is damaged. Reads everything; give it a connection that has read nothing yet."""
    return damage_in(db) is None


def damage_in(db: apsw.Connection) -> str | None:
    """Return what is damaged, and None if nothing is: pages, an index, the schema, or the bytes of a row.

    SQLite checks pages and indexes, and compares pages with their checksums if they have any. It does not look at the
    bytes of a text. Reads everything.
    """
    try:
        pages = db.execute("PRAGMA integrity_check(1)").get
        if pages != "ok":
            return checksums.wrong_page(str(pages)) or str(pages)
        if not is_complete(db):
            return "a table or column is missing"
        table = _unreadable(db)
    except UNREADABLE:
        return "its schema cannot be read"
    except apsw.IOError as error:
        if not checksums.is_wrong_checksum(error):
            raise
        return checksums.describe(error)
    return f"a row of {table} cannot be read" if table else None


def _unreadable(db: apsw.Connection) -> str | None:
    """Return the table of a row that cannot be read as it was written."""
    for table, columns in tables(db):
        readers = [(number, read) for number, name in enumerate(columns) if (read := _reader(name))]
        try:
            for row in db.execute(f'SELECT * FROM "{table}"'):  # not UTF-8: apsw raises
                for number, read in readers:
                    if isinstance(value := row[number], str):
                        read(value)
        except UNREADABLE:
            return table
    for query, read_row in _AS_THE_STORE_READS:
        try:
            for row in db.execute(query):
                read_row(row)
        except UNREADABLE:
            return query.rpartition(" FROM ")[2].split()[0]
        except apsw.SQLError:  # a backup of an older schema
            continue
    return None


def _reader(column: str) -> Callable[[str], object] | None:
    if column in _JSON:
        return json.loads
    return from_text if column in _TIMES or column.endswith("_at") else None


def find_damage(db: apsw.Connection) -> list[StoreProblem]:
    """Return the damage to the file."""
    what = damage_in(db)
    hint = "The next command repairs it or restores the newest intact backup."
    return [] if what is None else [StoreProblem(f"The file is damaged: {what}.", hint)]


def find_problems(db: apsw.Connection) -> list[StoreProblem]:
    """Return where the parts of an undamaged file disagree. Reads everything."""
    found: list[StoreProblem] = []
    for sentence, query in _NONE_OF:
        count = db.execute(query).get
        if count:
            found.append(
                StoreProblem(f"{sentence.format(count)}.", "This is a bug in Recollect. Please report it.")
            )
    strange = sum(
        fingerprint(text) != mark for text, mark in db.execute("SELECT content, fingerprint FROM memories")
    )
    if strange:
        found.append(
            StoreProblem(
                f"{strange} memories have a fingerprint that does not match their text.",
                "Edit them to renew it.",
            )
        )
    return found
