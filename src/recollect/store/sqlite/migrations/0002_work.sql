-- Where memories come from, and what was done with them.

CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    root TEXT NOT NULL              -- where it was last seen
) STRICT, WITHOUT ROWID;

-- Every way a project has been recognised: its remote, its git directory, its folder.
CREATE TABLE project_keys (
    key TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
    project_id TEXT NOT NULL,       -- '' = everywhere
    name TEXT NOT NULL,
    value TEXT NOT NULL,            -- JSON
    PRIMARY KEY (project_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    project_id TEXT,
    agent TEXT NOT NULL,
    host TEXT NOT NULL,
    branch TEXT,
    parent TEXT,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    summary TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_project ON sessions (project_id, started_at);

CREATE TABLE findings (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    importance REAL NOT NULL,
    confidence REAL NOT NULL,
    tags TEXT NOT NULL,
    file_paths TEXT NOT NULL,
    messages TEXT,
    promoted_to TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (session, fingerprint)
) STRICT, WITHOUT ROWID;
CREATE INDEX findings_fingerprint ON findings (fingerprint);

CREATE TABLE gaps (
    id TEXT PRIMARY KEY,
    project_id TEXT,
    session TEXT,
    context TEXT NOT NULL,
    created_at TEXT NOT NULL,
    closed_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX gaps_project ON gaps (project_id, created_at);

-- Append-only; each line's hash covers the hash before it. Ids and names, never a memory's text.
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    memory_id TEXT,
    detail TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE INDEX audit_memory ON audit (memory_id) WHERE memory_id IS NOT NULL;
