"""What search reads instead of the database: the words and vectors of all memories, as arrays in memory.

The store only serves rows. `MemoryIndex` follows the store's change feed: before every question it compares its own
position with `Store.change()` and reads the rows written since (`texts_since`, `vectors_since`), by this process or by
another. So a write is found by the very next search, and a backend needs no vector or ranking code of its own.

- `index`: `MemoryIndex`, one per open store, shared by search, writing and the mirror
- `vectors`: cosines between a query vector and every memory, exact or prefiltered by sign bits
- `words`: the words of all memories, and which of them a view shows
- `messages`: the same for the messages of sessions, with their neighbours in the session
- `days`: dates as terms
- `instructions`: messages that say what a person wants from now on
- `bm25`: the inverted index and the BM25 scores that `words` and `messages` are built on
- `packed`: arrays as bytes, for what the store keeps
- `vocabulary`: text to terms: stems, parts of identifiers, and words that are spelled almost alike

A search asks `words` for the coverage of each memory and `scan` for its cosine; the writer asks `near` for neighbours.
Rows that a view does not show are masked (`store.visibility`) and never returned.

It promises that nothing is read and numpy is not imported before the first question, that threads may share an index,
and that the vectors of two models are never compared. Everything in it can be rebuilt from the store. From some
thousands of rows on it lets the store keep what it has read (`Store.write_index`), so that the first question of the next process
does not wait: 100,000 memories take 7 s to read.

BM25's constants and the weights of fields are in `recollect.memory.ranking`. The SQLite store has a full-text index
(FTS5) as well: docs/decisions/0014-two-word-indexes.md says who uses which.
"""
