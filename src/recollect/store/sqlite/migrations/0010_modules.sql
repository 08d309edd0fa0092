-- The module map: one document for each project, looked up by project and changed in place.
CREATE TABLE module_maps (
    project_id TEXT PRIMARY KEY,
    document TEXT NOT NULL,  -- JSON, with its own version
    updated_at TEXT NOT NULL
) WITHOUT ROWID;
