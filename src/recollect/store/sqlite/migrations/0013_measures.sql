-- What is counted, by session; "" = outside any.
CREATE TABLE measures (
    user_id TEXT NOT NULL,
    project_id TEXT NOT NULL,  -- "" = none
    session TEXT NOT NULL,
    name TEXT NOT NULL,
    value REAL NOT NULL,  -- the sum of what was noted
    at TEXT NOT NULL,  -- the last time
    PRIMARY KEY (user_id, project_id, session, name)
) WITHOUT ROWID;
CREATE INDEX measures_by_time ON measures (at);

-- How long things took, as counts by the size of the time: enough for a median, and bounded.
CREATE TABLE timings (
    user_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    day TEXT NOT NULL,
    name TEXT NOT NULL,  -- embed, search, write
    size INTEGER NOT NULL,  -- eighths of the binary logarithm of the microseconds
    count INTEGER NOT NULL,
    PRIMARY KEY (user_id, project_id, day, name, size)
) WITHOUT ROWID;
