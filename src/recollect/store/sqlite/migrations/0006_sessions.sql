-- What happened in a session until its findings have been made, and what promotion counts.

ALTER TABLE sessions ADD COLUMN transcript TEXT NOT NULL DEFAULT '';  -- the host's own file, where it has one
ALTER TABLE sessions ADD COLUMN active_at TEXT;     -- when something last happened in it
ALTER TABLE sessions ADD COLUMN extracted_at TEXT;  -- when its findings were last made from all of it; NULL = not yet
UPDATE sessions SET active_at = started_at;

ALTER TABLE findings ADD COLUMN source TEXT NOT NULL DEFAULT 'extracted';
ALTER TABLE findings ADD COLUMN signals TEXT NOT NULL DEFAULT '[]';
ALTER TABLE findings ADD COLUMN steps TEXT NOT NULL DEFAULT '[]';

-- Redacted and clipped. The text goes once the session has been learnt from; the id stays a while, so that an event
-- that is delivered twice counts once.
CREATE TABLE session_events (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    at TEXT NOT NULL,
    event TEXT,                     -- JSON; NULL once it has served
    UNIQUE (session, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_events_at ON session_events (at);
