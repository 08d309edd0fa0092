"""Checks that the file is undamaged and that the parts of the store agree."""

import apsw

from recollect.model import StoreProblem, fingerprint
from recollect.store.sqlite import rows

# Raised when a row with damaged bytes is read.
UNREADABLE = (ValueError, KeyError, TypeError, IndexError)

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
        "SELECT count(*) FROM vectors v WHERE length(vector) <> (SELECT max(length(w.vector)) FROM vectors w"
        " WHERE w.model = v.model)",
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
    """Return whether the pages are consistent and every memory can be read; SQLite does not check bytes within texts."""
    if not whole(db):
        return False
    try:
        for row in db.execute(rows.SELECT_MEMORIES):
            rows.memory_from(row)
    except UNREADABLE:
        return False
    except apsw.SQLError:  # a backup of an older schema
        return True
    return True


def find_damage(db: apsw.Connection) -> list[StoreProblem]:
    """Return the damage to the file."""
    damage = [str(row[0]) for row in db.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
    if not damage and not whole_in_every_row(db):
        damage = ["a memory cannot be read"]
    hint = "The next command restores the newest intact backup."
    return [StoreProblem(f"The file is damaged: {text}.", hint) for text in damage]


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
