"""Checks that the parts of a tenant's store agree."""

from recollect.model import StoreProblem, fingerprint
from recollect.store.postgres.connection import Connection, number

# Problems: a sentence with a place for the count, and a query that returns the count.
_NONE_OF = (
    (
        "{} memories are missing from the word index",
        "SELECT count(*) FROM memories m WHERE NOT EXISTS (SELECT 1 FROM memory_words w WHERE w.num = m.num)",
    ),
    (
        "{} vectors have a different dimension than others of their model",
        "SELECT count(*) FROM vectors v WHERE length(vector) <> (SELECT max(length(w.vector)) FROM vectors w"
        " WHERE w.model = v.model)",
    ),
    (
        "{} superseded memories have no link from their replacement",
        "SELECT count(*) FROM memories m WHERE state = 'superseded'"
        " AND superseded_by IN (SELECT id FROM memories)"  # it may have been purged since
        " AND NOT EXISTS (SELECT 1 FROM links l"
        " WHERE l.source = m.superseded_by AND l.target = m.id AND l.relation = 'supersedes')",
    ),
    (
        "{} rows are newer than the change counter",
        "SELECT count(*) FROM memories WHERE seq > (SELECT seq FROM change)",
    ),
)


def find_problems(db: Connection) -> list[StoreProblem]:
    """Return where the parts disagree, of what the caller sees. Reads everything."""
    hint = "This is a bug in Recollect. Please report it."
    found = [
        StoreProblem(f"{sentence.format(count)}.", hint)
        for sentence, query in _NONE_OF
        if (count := number(db, query))
    ]
    strange = sum(
        fingerprint(text) != mark for text, mark in db.execute("SELECT content, fingerprint FROM memories")
    )
    if strange:
        found.append(
            StoreProblem(
                f"{strange} memories do not match their fingerprint: they were written past the store.",
                "Run `recollect audit` to see who wrote last.",
            )
        )
    return found
