"""Word search over memories: a table of words per memory, ranked like BM25 with each word counted once.

PostgreSQL's own full text is not used: its operators are not leak-proof, so that row-level security would keep them from
any index.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable

import recollect.model as m
from recollect.store.postgres.connection import Connection
from recollect.store.postgres.memory_rows import memory_from
from recollect.store.postgres.views import SELECT_MEMORIES, shown_in
from recollect.text.words import index_text, query_terms

_WORD = re.compile(r"[^\W_]+")
_LONGEST = 64  # characters of a word that count
_STEMS = "SELECT DISTINCT (ts_lexize('recollect.stem', word))[1] FROM unnest(%s::text[]) word"
_MATCH = """
    WITH hits AS (
        SELECT w.word, m.id, length(m.content) AS length, count(*) OVER (PARTITION BY w.word) AS known,
            count(*) OVER () AS pairs
        FROM memory_words w JOIN memories m ON m.num = w.num
        WHERE w.word = ANY ({stems}) AND {view}
    )
    SELECT id, sum(ln(1 + (pairs - known + 0.5) / (known + 0.5)))::float8
        / (1 + 0.75 * min(length) / greatest((SELECT avg(length) FROM hits), 1))::float8 AS score
    FROM hits GROUP BY id ORDER BY score DESC, id LIMIT %s
"""


def index(db: Connection, num: int, memory: m.Memory) -> None:
    """Replace the words of a memory."""
    texts = (index_text(memory.content), *memory.tags, index_text(" ".join(memory.file_paths)), memory.kind)
    db.execute("DELETE FROM memory_words WHERE num = %s", (num,))
    db.execute(
        f"INSERT INTO memory_words (word, num) SELECT stem, %s FROM ({_STEMS}) AS stems (stem)",
        (num, _plain_words(texts)),
    )


def index_again(db: Connection, nums: Collection[int]) -> None:
    """Index memories again whose rows were written without `put`, by number."""
    query = SELECT_MEMORIES.replace("SELECT ", "SELECT m.num, ", 1) + " WHERE m.num = ANY (%s)"
    for num, *row in db.execute(query, (list(nums),)).fetchall():
        index(db, int(num), memory_from(row))


def match(db: Connection, view: m.View, query: str, limit: int) -> list[tuple[str, float]]:
    """Return ids and scores, best first."""
    wanted = _plain_words(query_terms(query))
    if not wanted:
        return []
    where, params = shown_in(view)
    sql = _MATCH.format(stems=f"ARRAY({_STEMS})", view=where)
    return [(str(row[0]), float(row[1])) for row in db.execute(sql, (wanted, *params, limit))]


def _plain_words(texts: Iterable[str]) -> list[str]:
    """Return the words in lower case and without accents, once each."""
    words: dict[str, None] = {}
    for text in texts:
        bare = "".join(
            letter
            for letter in unicodedata.normalize("NFKD", text.lower())
            if not unicodedata.combining(letter)
        )
        words |= dict.fromkeys(word[:_LONGEST] for word in _WORD.findall(bare))
    return list(words)
