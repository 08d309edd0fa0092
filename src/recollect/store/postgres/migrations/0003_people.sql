-- Teams, the people in them, and how they sign in. Secrets are stored as hashes only.

CREATE TABLE tenants (
    tenant label NOT NULL,
    name text NOT NULL,
    created_at label NOT NULL,
    PRIMARY KEY (tenant)
) PARTITION BY HASH (tenant);

CREATE TABLE people (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    user_id label NOT NULL,                     -- opaque: the only trace of a person in the audit log
    name text NOT NULL,
    role label NOT NULL,
    subject label,                              -- of an identity provider
    is_new boolean NOT NULL DEFAULT false,     -- what their agents write is quarantined
    created_at label NOT NULL,
    removed_at label,
    PRIMARY KEY (tenant, user_id)
) PARTITION BY HASH (tenant);

CREATE TABLE tokens (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    id label NOT NULL,
    user_id label NOT NULL,
    name text NOT NULL,
    hash label NOT NULL,
    agent label NOT NULL,
    actions text NOT NULL,                     -- JSON
    projects text,                             -- JSON; NULL = all
    created_at label NOT NULL,
    expires_at label,
    last_used_at label,
    revoked_at label,
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE INDEX tokens_hash ON tokens (hash);

CREATE TABLE invites (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    id label NOT NULL,
    role label NOT NULL,
    name text NOT NULL,
    hash label NOT NULL,
    invited_by label NOT NULL,
    created_at label NOT NULL,
    expires_at label NOT NULL,
    accepted_at label,
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE INDEX invites_hash ON invites (hash);

CREATE TABLE consents (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    user_id label NOT NULL,
    name label NOT NULL,
    at label NOT NULL,
    revoked_at label,
    PRIMARY KEY (tenant, user_id, name, at)
) PARTITION BY HASH (tenant);

CREATE TABLE hidden_memories (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    user_id label NOT NULL,
    memory label NOT NULL,
    PRIMARY KEY (tenant, user_id, memory),
    FOREIGN KEY (tenant, memory) REFERENCES memories (tenant, id) ON DELETE CASCADE
) PARTITION BY HASH (tenant);

CREATE TABLE erasures (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    user_id label NOT NULL,
    requested_at label NOT NULL,
    due_at label NOT NULL,
    done_at label,
    erased text NOT NULL DEFAULT '{}',         -- JSON: rows by table
    PRIMARY KEY (tenant, user_id)
) PARTITION BY HASH (tenant);

-- Answers to requests that changed something, by the key that the client chose: a retried request is answered from here.
CREATE TABLE answers (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    user_id label NOT NULL DEFAULT current_setting('recollect.user'),
    key label NOT NULL,
    answer text NOT NULL,
    at label NOT NULL,
    PRIMARY KEY (tenant, user_id, key)
) PARTITION BY HASH (tenant);

-- What each person, agent and tenant has used of its quotas in a period.
CREATE TABLE usage (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    user_id label NOT NULL,                     -- '' = the whole tenant
    period label NOT NULL,
    name label NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (tenant, user_id, period, name)
) PARTITION BY HASH (tenant);
