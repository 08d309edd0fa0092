-- Memories and all that hangs on them. Lists that are only ever read whole are JSON.

-- One row, so that every process sees what the others did: `seq` grows with every write to a memory,
-- `purge` whenever one, or a vector, is gone for good.
CREATE TABLE change (seq INTEGER NOT NULL, purge INTEGER NOT NULL) STRICT;
INSERT INTO change VALUES (0, 0);

CREATE TABLE memories (
    num INTEGER PRIMARY KEY,        -- full text, vectors and tags hang on this number
    id TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL,           -- change.seq when this row was last written
    user_id TEXT NOT NULL,
    project_id TEXT,
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    summary TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    file_paths TEXT NOT NULL,
    anchors TEXT NOT NULL,
    triggers TEXT NOT NULL,
    procedure TEXT,
    season TEXT,
    branch TEXT,
    session TEXT,                   -- of the first provenance
    position INTEGER,
    created_by TEXT NOT NULL,
    visibility TEXT NOT NULL,
    standing TEXT NOT NULL,
    state TEXT NOT NULL,
    state_reason TEXT,
    superseded_by TEXT,
    importance REAL NOT NULL,
    confidence REAL NOT NULL,
    trust REAL NOT NULL,
    strength INTEGER NOT NULL,
    access_count INTEGER NOT NULL,
    last_accessed_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    valid_from TEXT NOT NULL,
    valid_to TEXT,
    deleted_at TEXT,
    provenance TEXT NOT NULL,
    reinforcements TEXT NOT NULL
) STRICT;
CREATE INDEX memories_seq ON memories (seq);
CREATE INDEX memories_fingerprint ON memories (fingerprint);
CREATE INDEX memories_session ON memories (session) WHERE session IS NOT NULL;
CREATE INDEX memories_project ON memories (project_id, state, id);
CREATE INDEX memories_pinned ON memories (id) WHERE standing = 'pinned';

-- Words only: no second copy of the text, and deleting a row really takes its words out.
CREATE VIRTUAL TABLE memory_words USING fts5(
    content, tags, paths, kind,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);

CREATE TABLE vectors (
    num INTEGER NOT NULL REFERENCES memories (num) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,           -- little-endian float32, unit length
    PRIMARY KEY (num, model)
) STRICT;

CREATE TABLE tags (
    name TEXT PRIMARY KEY,
    description TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_tags (
    num INTEGER NOT NULL REFERENCES memories (num) ON DELETE CASCADE,
    tag TEXT NOT NULL REFERENCES tags (name) ON DELETE CASCADE ON UPDATE CASCADE,
    position INTEGER NOT NULL,      -- tags keep the order they were given in
    PRIMARY KEY (num, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_tags_tag ON memory_tags (tag, num);

CREATE TABLE links (
    source TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    target TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    relation TEXT NOT NULL,
    weight REAL NOT NULL,
    reason TEXT NOT NULL,
    verdict TEXT,
    created_at TEXT NOT NULL,
    resolved_at TEXT,
    PRIMARY KEY (source, target, relation)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_target ON links (target);
CREATE INDEX links_open ON links (relation) WHERE relation = 'contradicts' AND resolved_at IS NULL;

CREATE TABLE clusters (
    id TEXT PRIMARY KEY,
    project_id TEXT,
    label TEXT NOT NULL,
    model TEXT NOT NULL,
    centroid BLOB NOT NULL,
    updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE cluster_members (
    cluster TEXT NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
    memory TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    PRIMARY KEY (cluster, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX cluster_members_memory ON cluster_members (memory);
