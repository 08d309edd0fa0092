-- What was done: the six tables of episodes, redacted and bounded, and what is left of them when they grow old.

CREATE TABLE tool_executions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice: readers remember how far they have come
    key TEXT NOT NULL UNIQUE,       -- of the event it was; delivered twice it is recorded once
    user_id TEXT NOT NULL,
    project_id TEXT NOT NULL,       -- '' = outside any project
    timestamp TEXT NOT NULL,
    session_id TEXT NOT NULL,
    task_id TEXT,
    tool_name TEXT NOT NULL,
    parameters TEXT NOT NULL,       -- JSON; of texts only their size and a digest
    result TEXT,                    -- JSON: the shape of what came back, never the output
    success INTEGER NOT NULL,
    error_message TEXT,
    duration_ms INTEGER,
    context_tokens INTEGER
) STRICT;
CREATE INDEX tool_executions_session ON tool_executions (session_id, id);
CREATE INDEX tool_executions_tool ON tool_executions (tool_name, timestamp);
CREATE INDEX tool_executions_task ON tool_executions (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX tool_executions_time ON tool_executions (timestamp);

CREATE TABLE file_interactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    session_id TEXT NOT NULL,
    task_id TEXT,
    file_path TEXT NOT NULL,        -- as the project sees it
    operation TEXT NOT NULL,        -- read, write, edit, search or analyze
    line_range TEXT,                -- JSON: start, end
    success INTEGER NOT NULL,
    context TEXT,                   -- what the agent said the call was for, as part of the call
    changes_summary TEXT
) STRICT;
CREATE INDEX file_interactions_file ON file_interactions (user_id, project_id, file_path, timestamp);
CREATE INDEX file_interactions_session ON file_interactions (session_id, file_path);
CREATE INDEX file_interactions_operation ON file_interactions (operation, timestamp);
CREATE INDEX file_interactions_task ON file_interactions (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX file_interactions_time ON file_interactions (timestamp);

CREATE TABLE task_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,       -- '' = started by a person, for whatever session comes
    description TEXT NOT NULL,
    intent TEXT,                    -- CodeReading, CodeWriting, ProjectFixing, ProjectExploration
    status TEXT NOT NULL,           -- active, paused, completed, failed
    started_at TEXT NOT NULL,
    completed_at TEXT,
    files_touched TEXT NOT NULL DEFAULT '[]',  -- JSON
    tools_used TEXT NOT NULL DEFAULT '{}',     -- JSON
    outcome TEXT,
    words TEXT NOT NULL DEFAULT ''  -- of the description, as they are looked for
) STRICT;
CREATE INDEX task_history_status ON task_history (user_id, project_id, status, started_at);
CREATE INDEX task_history_session ON task_history (session_id, status);

CREATE TABLE task_vectors (
    id INTEGER NOT NULL REFERENCES task_history (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,           -- little-endian float32, unit length
    PRIMARY KEY (id, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE context_snapshots (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    session_id TEXT NOT NULL,
    task_id TEXT,
    context_items TEXT NOT NULL,    -- JSON: id, type, tokens, relevance of each
    total_tokens INTEGER NOT NULL,
    pruned_items TEXT,              -- JSON
    reason TEXT NOT NULL            -- pruning, task_switch, manual_snapshot
) STRICT;
CREATE INDEX context_snapshots_session ON context_snapshots (session_id, id);
CREATE INDEX context_snapshots_time ON context_snapshots (timestamp);

CREATE TABLE learned_patterns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    pattern_type TEXT NOT NULL,     -- co-edit, error-fix, refactor, workflow
    name TEXT NOT NULL,             -- what makes it the same pattern when it is seen again
    pattern_data TEXT NOT NULL,     -- JSON
    confidence REAL NOT NULL,
    observed_count INTEGER NOT NULL,
    first_seen TEXT NOT NULL,
    last_seen TEXT NOT NULL,
    UNIQUE (user_id, project_id, pattern_type, name)
) STRICT;

-- What a pattern was seen in, so that looking twice counts once.
CREATE TABLE pattern_sightings (
    key TEXT NOT NULL,
    pattern INTEGER NOT NULL REFERENCES learned_patterns (id) ON DELETE CASCADE,
    PRIMARY KEY (pattern, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_learnings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,       -- in which it was last confirmed
    learning_type TEXT NOT NULL,    -- file_purpose, common_error, workflow
    name TEXT NOT NULL,             -- what it is about
    data TEXT NOT NULL,             -- JSON
    confidence REAL NOT NULL,
    UNIQUE (user_id, project_id, learning_type, name)
) STRICT;

-- What is left of rows that have gone.
CREATE TABLE tool_days (
    user_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    day TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    executions INTEGER NOT NULL,
    successes INTEGER NOT NULL,
    timed INTEGER NOT NULL,         -- executions of which the duration is known
    duration_ms INTEGER NOT NULL,   -- of all of them
    PRIMARY KEY (user_id, project_id, day, tool_name)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_totals (
    user_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    file_path TEXT NOT NULL,
    reads INTEGER NOT NULL,
    edits INTEGER NOT NULL,
    last_seen TEXT NOT NULL,
    PRIMARY KEY (user_id, project_id, file_path)
) STRICT, WITHOUT ROWID;

-- `seq` grows when a row changes that was there before, `purge` when one goes.
CREATE TABLE episode_change (seq INTEGER NOT NULL, purge INTEGER NOT NULL) STRICT;
INSERT INTO episode_change VALUES (0, 0);
