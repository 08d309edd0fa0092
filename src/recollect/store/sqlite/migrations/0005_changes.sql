-- What was done to memories by one act, so that it can be seen and undone; and what waits for a person's word.

ALTER TABLE memories ADD COLUMN promoted_at TEXT;  -- when a program decided to keep it; NULL = a person did
ALTER TABLE memories ADD COLUMN settled_at TEXT;   -- when its quarantine was decided; NULL = not yet, or never was one
UPDATE memories SET promoted_at = created_at
WHERE created_by <> 'user' AND created_by NOT LIKE 'user:%' AND provenance NOT LIKE '%"reason":"imported"%';

CREATE TABLE changes (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    project_id TEXT,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    summary TEXT NOT NULL,          -- for people; counts and ids, never a memory's text
    finished_at TEXT,               -- NULL while it is under way, or was cut short
    undone_at TEXT
) STRICT, WITHOUT ROWID;

-- The rows it touched, before and after, one part for each of its transactions. Kept as long as a forgotten memory is.
CREATE TABLE change_parts (
    change TEXT NOT NULL REFERENCES changes (id) ON DELETE CASCADE,
    part INTEGER NOT NULL,
    rows BLOB NOT NULL,             -- JSON, compressed
    PRIMARY KEY (change, part)
) STRICT;

CREATE TABLE reviews (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    project_id TEXT,
    kind TEXT NOT NULL,
    memories TEXT NOT NULL,         -- JSON
    reason TEXT NOT NULL,
    created_at TEXT NOT NULL,
    decided_at TEXT,                -- NULL while it waits
    decision TEXT,
    UNIQUE (kind, memories)         -- nobody is asked the same twice
) STRICT;
CREATE INDEX reviews_open ON reviews (user_id, project_id) WHERE decided_at IS NULL;
