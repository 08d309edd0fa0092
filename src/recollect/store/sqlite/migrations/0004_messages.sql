-- What was said in sessions: redacted, bounded, kept for a while. The other thing that can be searched.

CREATE TABLE messages (
    num INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL,
    project_id TEXT,
    session TEXT NOT NULL,
    position INTEGER NOT NULL,
    author TEXT NOT NULL,           -- user or assistant
    text TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (user_id, session, position)
) STRICT;
CREATE INDEX messages_created ON messages (created_at);

CREATE TABLE message_vectors (
    num INTEGER NOT NULL REFERENCES messages (num) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,           -- little-endian float32, unit length
    PRIMARY KEY (num, model)
) STRICT;

-- As `change` is for memories: `seq` grows when messages come, `purge` when one changes or goes.
CREATE TABLE message_change (seq INTEGER NOT NULL, purge INTEGER NOT NULL) STRICT;
INSERT INTO message_change VALUES (0, 0);
