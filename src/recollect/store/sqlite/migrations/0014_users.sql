-- Settings, gaps and tags belong to a user.

-- Until now settings held for everyone who used the store. Everyone who has memories in it gets a copy, so that `recollect
-- off` or the state of a mirror is not lost if somebody else opens it first. Only the user who opens it keeps the consent
-- to a server: nobody agrees for others. The mark of a forgotten project belongs to the user who forgot it.

CREATE TABLE user_settings (
    user_id TEXT NOT NULL,
    project_id TEXT NOT NULL,       -- '' = everywhere
    name TEXT NOT NULL,
    value TEXT NOT NULL,            -- JSON
    PRIMARY KEY (user_id, project_id, name)
) STRICT, WITHOUT ROWID;
INSERT INTO user_settings
SELECT u.user_id, s.project_id, s.name, s.value
FROM settings s CROSS JOIN (
    SELECT local_user() AS user_id UNION SELECT user_id FROM memories UNION SELECT user_id FROM changes
) u
WHERE CASE s.name
    WHEN 'agreed' THEN u.user_id = local_user()
    WHEN 'forgotten'
    THEN u.user_id = coalesce((SELECT c.user_id FROM changes c WHERE c.id = s.value ->> 'change'), local_user())
    ELSE TRUE
END;
DROP TABLE settings;
ALTER TABLE user_settings RENAME TO settings;

CREATE TABLE user_gaps (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    project_id TEXT,
    session TEXT,
    context TEXT NOT NULL,
    created_at TEXT NOT NULL,
    closed_at TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO user_gaps
SELECT id, coalesce((SELECT s.user_id FROM sessions s WHERE s.id = gaps.session), local_user()),
    project_id, session, context, created_at, closed_at
FROM gaps;
DROP TABLE gaps;
ALTER TABLE user_gaps RENAME TO gaps;
CREATE INDEX gaps_project ON gaps (user_id, project_id, created_at);

-- A memory's tag is the tag of that name of the memory's user: no foreign key can say so.
CREATE TABLE memory_tags_of_users (
    num INTEGER NOT NULL REFERENCES memories (num) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    position INTEGER NOT NULL,      -- tags keep the order they were given in
    project TEXT NOT NULL DEFAULT '',  -- '' = global
    PRIMARY KEY (num, tag)
) STRICT, WITHOUT ROWID;
INSERT INTO memory_tags_of_users SELECT num, tag, position, project FROM memory_tags;
DROP TABLE memory_tags;
ALTER TABLE memory_tags_of_users RENAME TO memory_tags;
CREATE INDEX memory_tags_place ON memory_tags (tag, project, num);

CREATE TABLE user_tags (
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (user_id, name)
) STRICT, WITHOUT ROWID;
INSERT INTO user_tags
SELECT DISTINCT m.user_id, g.name, g.description
FROM memory_tags t JOIN memories m USING (num) JOIN tags g ON g.name = t.tag;
INSERT OR IGNORE INTO user_tags
SELECT local_user(), name, description FROM tags
WHERE description <> '' OR name NOT IN (SELECT tag FROM memory_tags);
DROP TABLE tags;
ALTER TABLE user_tags RENAME TO tags;
