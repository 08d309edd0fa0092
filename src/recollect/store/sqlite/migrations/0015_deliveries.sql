-- What agents were told, so that a session is told nothing twice and use can be measured for each item.

CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,            -- sorts by time
    user_id TEXT NOT NULL,
    project_id TEXT,
    session TEXT NOT NULL,
    moment TEXT NOT NULL,
    host TEXT NOT NULL,
    at TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    text TEXT NOT NULL              -- empty = nothing was said, or it was erased with a memory
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_session ON deliveries (user_id, session, id);
CREATE INDEX deliveries_at ON deliveries (at);

CREATE TABLE delivered_items (
    delivery TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    key TEXT NOT NULL,              -- a memory's id, or 'file …', 'module …', 'session …', 'finding …', 'fix …'
    tier TEXT NOT NULL,
    probability REAL,               -- that it is useful; NULL = it was not ranked
    used_at TEXT,                   -- NULL = not used so far
    PRIMARY KEY (delivery, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivered_items_key ON delivered_items (key);
