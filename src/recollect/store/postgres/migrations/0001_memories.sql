-- Memories and all that belongs to them. Every table begins with the tenant, which the server sets per transaction and
-- no statement names. Times, lists and documents are the texts that the SQLite store writes, so that digests of rows are
-- the same on both. Partitions, row-level security, policies and grants: see schema.py and access.py.

CREATE DOMAIN label AS text COLLATE "C";    -- ids, names and times: compared byte by byte, whatever the database's language

-- The words of memories, stemmed and without stop words: a search finds "is" too.
CREATE TEXT SEARCH DICTIONARY stem (TEMPLATE = snowball, Language = english);

-- Positions of the change feeds, one row per tenant.
CREATE TABLE change (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    seq bigint NOT NULL DEFAULT 0,             -- grows with every write to a memory
    purge bigint NOT NULL DEFAULT 0,           -- grows when a memory or vector is gone, or hidden from someone
    message_seq bigint NOT NULL DEFAULT 0,
    message_purge bigint NOT NULL DEFAULT 0,
    audit_seq bigint NOT NULL DEFAULT 0,       -- of the newest audit line
    audit_hash text NOT NULL DEFAULT '',
    audit_archived bigint NOT NULL DEFAULT 0,  -- lines up to this one are archived
    PRIMARY KEY (tenant)
) PARTITION BY HASH (tenant);

CREATE TABLE memories (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    num bigint NOT NULL,                       -- change.seq when it was first written: greater for younger memories
    id label NOT NULL,
    seq bigint NOT NULL,                       -- change.seq when it was last written
    user_id label NOT NULL,
    project_id label,
    scope label NOT NULL,
    kind label NOT NULL,
    content text NOT NULL,
    summary text NOT NULL,
    fingerprint label NOT NULL,
    file_paths text NOT NULL,
    anchors text NOT NULL,
    triggers text NOT NULL,
    procedure text,
    season label,
    branch label,
    session label,
    position bigint,
    created_by label NOT NULL,
    visibility label NOT NULL,
    standing label NOT NULL,
    state label NOT NULL,
    state_reason text,
    superseded_by label,
    importance double precision NOT NULL,
    confidence double precision NOT NULL,
    trust double precision NOT NULL,
    strength bigint NOT NULL,
    access_count bigint NOT NULL,
    last_accessed_at label,
    created_at label NOT NULL,
    updated_at label NOT NULL,
    valid_from label NOT NULL,
    valid_to label,
    deleted_at label,
    provenance text NOT NULL,                  -- without snippets, which are in a table of their own
    reinforcements text NOT NULL,              -- without what was said
    promoted_at label,
    settled_at label,
    PRIMARY KEY (tenant, num),
    UNIQUE (tenant, id)
) PARTITION BY HASH (tenant);
CREATE INDEX memories_seq ON memories (tenant, seq);
CREATE INDEX memories_fingerprint ON memories (tenant, fingerprint);
CREATE INDEX memories_session ON memories (tenant, session) WHERE session IS NOT NULL;
CREATE INDEX memories_project ON memories (tenant, project_id, state, id);
CREATE INDEX memories_user ON memories (tenant, user_id, id);
CREATE INDEX memories_pinned ON memories (tenant, id) WHERE standing = 'pinned';
CREATE INDEX memories_triggers ON memories (tenant, num) WHERE triggers <> '[]' OR procedure IS NOT NULL;
CREATE INDEX memories_deleted ON memories (tenant, deleted_at) WHERE deleted_at IS NOT NULL;

-- What a person said when a memory was made or confirmed: for that person only.
CREATE TABLE snippets (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    num bigint NOT NULL,
    mark label NOT NULL,                        -- a digest of the entry that it belongs to
    user_id label NOT NULL DEFAULT current_setting('recollect.user'),
    text text NOT NULL,
    PRIMARY KEY (tenant, num, mark, user_id),
    FOREIGN KEY (tenant, num) REFERENCES memories ON DELETE CASCADE
) PARTITION BY HASH (tenant);

-- The words of a memory. One row per word and not an array with an index of its own: row-level security lets the index
-- be used for equality only.
CREATE TABLE memory_words (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    word label NOT NULL,
    num bigint NOT NULL,
    PRIMARY KEY (tenant, word, num),
    FOREIGN KEY (tenant, num) REFERENCES memories ON DELETE CASCADE
) PARTITION BY HASH (tenant);
CREATE INDEX memory_words_memory ON memory_words (tenant, num);

CREATE TABLE vectors (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    num bigint NOT NULL,
    model label NOT NULL,
    vector bytea NOT NULL,                     -- little-endian float32, unit length
    PRIMARY KEY (tenant, num, model),
    FOREIGN KEY (tenant, num) REFERENCES memories ON DELETE CASCADE
) PARTITION BY HASH (tenant);

CREATE TABLE tags (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    user_id label NOT NULL,
    name label NOT NULL,
    description text NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, user_id, name)
) PARTITION BY HASH (tenant);

CREATE TABLE memory_tags (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    num bigint NOT NULL,
    tag label NOT NULL,
    position bigint NOT NULL,
    project label NOT NULL DEFAULT '',          -- '' = global
    PRIMARY KEY (tenant, num, tag),
    FOREIGN KEY (tenant, num) REFERENCES memories ON DELETE CASCADE
) PARTITION BY HASH (tenant);
CREATE INDEX memory_tags_place ON memory_tags (tenant, tag, project, num);

CREATE TABLE links (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    source label NOT NULL,
    target label NOT NULL,
    relation label NOT NULL,
    weight double precision NOT NULL,
    reason text NOT NULL,
    verdict text,
    created_at label NOT NULL,
    resolved_at label,
    user_id label NOT NULL DEFAULT current_setting('recollect.user'),
    PRIMARY KEY (tenant, source, target, relation),
    FOREIGN KEY (tenant, source) REFERENCES memories (tenant, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant, target) REFERENCES memories (tenant, id) ON DELETE CASCADE
) PARTITION BY HASH (tenant);
CREATE INDEX links_target ON links (tenant, target);
CREATE INDEX links_open ON links (tenant, relation) WHERE relation = 'contradicts' AND resolved_at IS NULL;

CREATE TABLE clusters (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    id label NOT NULL,
    user_id label NOT NULL DEFAULT current_setting('recollect.user'),  -- '' = made from shared memories, for all
    project_id label,
    label text NOT NULL,
    model label NOT NULL,
    centroid bytea NOT NULL,
    updated_at label NOT NULL,
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);

CREATE TABLE cluster_members (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    cluster label NOT NULL,
    memory label NOT NULL,
    PRIMARY KEY (tenant, cluster, memory),
    FOREIGN KEY (tenant, cluster) REFERENCES clusters ON DELETE CASCADE,
    FOREIGN KEY (tenant, memory) REFERENCES memories (tenant, id) ON DELETE CASCADE
) PARTITION BY HASH (tenant);
CREATE INDEX cluster_members_memory ON cluster_members (tenant, memory);

CREATE TABLE projects (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    id label NOT NULL,
    name text NOT NULL,
    root text NOT NULL,
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);

CREATE TABLE project_keys (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    key label NOT NULL,
    project_id label NOT NULL,
    PRIMARY KEY (tenant, key),
    FOREIGN KEY (tenant, project_id) REFERENCES projects ON DELETE CASCADE
) PARTITION BY HASH (tenant);
CREATE INDEX project_keys_project ON project_keys (tenant, project_id);

-- Projects that only their members see. A project that is not in here is open to everybody of the tenant.
CREATE TABLE restricted_projects (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    project_id label NOT NULL,
    PRIMARY KEY (tenant, project_id)
) PARTITION BY HASH (tenant);

CREATE TABLE project_members (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    project_id label NOT NULL,
    user_id label NOT NULL,
    PRIMARY KEY (tenant, project_id, user_id)
) PARTITION BY HASH (tenant);

CREATE TABLE settings (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    user_id label NOT NULL,
    project_id label NOT NULL,                  -- '' = everywhere
    name label NOT NULL,
    value text NOT NULL,                       -- JSON
    PRIMARY KEY (tenant, user_id, project_id, name)
) PARTITION BY HASH (tenant);

CREATE TABLE module_maps (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    project_id label NOT NULL,
    document text NOT NULL,
    updated_at label NOT NULL,
    PRIMARY KEY (tenant, project_id)
) PARTITION BY HASH (tenant);

CREATE TABLE gaps (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    id label NOT NULL,
    user_id label NOT NULL,
    project_id label,
    session label,
    context text NOT NULL,
    created_at label NOT NULL,
    closed_at label,
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE INDEX gaps_project ON gaps (tenant, user_id, project_id, created_at);

CREATE TABLE reviews (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    id label NOT NULL,
    user_id label NOT NULL,
    project_id label,
    kind label NOT NULL,
    memories text NOT NULL,                    -- JSON
    reason text NOT NULL,
    created_at label NOT NULL,
    decided_at label,
    decision text,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, user_id, kind, memories)
) PARTITION BY HASH (tenant);

CREATE TABLE changes (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    id label NOT NULL,
    user_id label NOT NULL,
    project_id label,
    at label NOT NULL,
    actor label NOT NULL,
    action label NOT NULL,
    summary text NOT NULL,
    finished_at label,
    undone_at label,
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE INDEX changes_user ON changes (tenant, user_id, id);

CREATE TABLE change_parts (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    change label NOT NULL,
    part bigint NOT NULL,
    user_id label NOT NULL DEFAULT current_setting('recollect.user'),
    rows bytea NOT NULL,
    PRIMARY KEY (tenant, change, part),
    FOREIGN KEY (tenant, change) REFERENCES changes ON DELETE CASCADE
) PARTITION BY HASH (tenant);

-- Append-only: the server's role may neither change nor delete a line. The user is an opaque id; names are in `people`.
CREATE TABLE audit (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    seq bigint NOT NULL,
    at label NOT NULL,
    actor label NOT NULL,
    action label NOT NULL,
    memory_id label,
    detail text NOT NULL,
    user_id label NOT NULL DEFAULT current_setting('recollect.user'),
    hash text NOT NULL,
    PRIMARY KEY (tenant, seq)
) PARTITION BY HASH (tenant);
CREATE INDEX audit_memory ON audit (tenant, memory_id) WHERE memory_id IS NOT NULL;

-- A person who is no admin may use and confirm what others share, and change nothing else of it.
CREATE FUNCTION guard_memory() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    used CONSTANT text[] := ARRAY['seq', 'importance', 'confidence', 'strength', 'access_count', 'last_accessed_at',
                                  'updated_at', 'reinforcements'];
BEGIN
    IF NEW.user_id <> OLD.user_id AND current_setting('recollect.role') <> 'service' THEN
        RAISE insufficient_privilege USING MESSAGE = 'a memory stays its author''s';
    END IF;
    IF OLD.user_id = current_setting('recollect.user')
       OR current_setting('recollect.role') IN ('owner', 'admin', 'service')
       OR to_jsonb(NEW) - used = to_jsonb(OLD) - used THEN
        RETURN NEW;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = 'only its author or an admin may change a memory';
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON memories FOR EACH ROW EXECUTE FUNCTION guard_memory();
