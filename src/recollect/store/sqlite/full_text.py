"""Word search over memories with SQLite's FTS5."""

import json
from collections.abc import Collection
from typing import TYPE_CHECKING

import recollect.model as m
from recollect.store import rows
from recollect.store.sqlite.views import SELECT_MEMORIES, shown_in
from recollect.text.words import index_text, query_terms

if TYPE_CHECKING:
    import apsw

_BOOSTS = "2.0, 1.5, 1.2, 1.0"  # content, tags, paths, kind


def index(db: "apsw.Connection", num: int, memory: m.Memory) -> None:
    db.execute(
        "INSERT OR REPLACE INTO memory_words (rowid, content, tags, paths, kind) VALUES (?, ?, ?, ?, ?)",
        (
            num,
            index_text(memory.content),
            " ".join(memory.tags),
            index_text(" ".join(memory.file_paths)),
            memory.kind,
        ),
    )


def index_again(db: "apsw.Connection", nums: Collection[int]) -> None:
    """Index memories again whose rows were written without `put`, by number."""
    query = f"SELECT m.num, {SELECT_MEMORIES.removeprefix('SELECT ')} WHERE m.num IN (SELECT value FROM json_each(?))"
    for num, *row in db.execute(query, (json.dumps(list(nums)),)).fetchall():
        index(db, int(str(num)), rows.memory_from(row))


def rebuild(db: "apsw.Connection") -> None:
    """Index all memories anew."""
    db.execute("INSERT INTO memory_words (memory_words) VALUES ('delete-all')")
    index_again(db, [int(str(row[0])) for row in db.execute("SELECT num FROM memories").fetchall()])


def erase(db: "apsw.Connection") -> None:
    """Rewrite the index without deleted words, which FTS5 only marks (0.2 s at 100,000 memories)."""
    db.execute("INSERT INTO memory_words (memory_words) VALUES ('optimize')")


def match(db: "apsw.Connection", view: m.View, query: str, limit: int) -> list[tuple[str, float]]:
    """Return ids and scores, best first."""
    words = query_terms(query)
    if not words:
        return []
    where, params = shown_in(view)
    sql = (
        f"SELECT m.id, -bm25(memory_words, {_BOOSTS}) AS score"
        " FROM memory_words JOIN memories m ON m.num = memory_words.rowid"
        f" WHERE memory_words MATCH ? AND {where} ORDER BY score DESC, m.id LIMIT ?"
    )
    expression = " OR ".join(f'"{word}"' for word in words)  # words hold no quotes
    return [(str(row[0]), float(row[1])) for row in db.execute(sql, (expression, *params, limit))]
