-- What left a context window, redacted, and the windows themselves, so that a new process can go on with one.

CREATE TABLE pruned (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    project_id TEXT,
    session TEXT NOT NULL,
    task TEXT,                      -- NULL = of no task
    at TEXT NOT NULL,
    gist TEXT NOT NULL,
    text TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    UNIQUE (user_id, session, id)
) STRICT;
CREATE INDEX pruned_at ON pruned (at);

-- Passages: the number of a text shifted by twelve bits, and the number of the passage in it.
CREATE VIRTUAL TABLE pruned_words USING fts5(
    passage, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO pruned_words (pruned_words, rank) VALUES ('secure-delete', 1);

CREATE TABLE window_items (
    user_id TEXT NOT NULL,
    session TEXT NOT NULL,
    id TEXT NOT NULL,
    project_id TEXT,
    position INTEGER NOT NULL,
    at TEXT NOT NULL,
    item TEXT NOT NULL,             -- JSON
    PRIMARY KEY (user_id, session, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX window_items_at ON window_items (at);
