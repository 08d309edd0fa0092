-- Sessions and what was said and done in them. Episodes, pruned texts, the code graph and the spool stay on each machine.

CREATE TABLE sessions (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    id label NOT NULL,
    user_id label NOT NULL,
    project_id label,
    agent label NOT NULL,
    host label NOT NULL,
    branch label,
    parent label,
    started_at label NOT NULL,
    ended_at label,
    summary text NOT NULL,
    transcript text NOT NULL DEFAULT '',
    active_at label,
    extracted_at label,
    shared boolean NOT NULL DEFAULT false,     -- others in the project see it and its findings, never its messages
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE INDEX sessions_project ON sessions (tenant, project_id, started_at);

CREATE TABLE session_events (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    id label NOT NULL,
    user_id label NOT NULL DEFAULT current_setting('recollect.user'),
    session label NOT NULL,
    position bigint NOT NULL,
    at label NOT NULL,
    event text,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, session, position),
    FOREIGN KEY (tenant, session) REFERENCES sessions ON DELETE CASCADE
) PARTITION BY HASH (tenant);
CREATE INDEX session_events_at ON session_events (tenant, at);

CREATE TABLE findings (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    id label NOT NULL,
    user_id label NOT NULL DEFAULT current_setting('recollect.user'),
    session label NOT NULL,
    fingerprint label NOT NULL,
    kind label NOT NULL,
    content text NOT NULL,
    importance double precision NOT NULL,
    confidence double precision NOT NULL,
    tags text NOT NULL,
    file_paths text NOT NULL,
    messages text,
    promoted_to label,
    created_at label NOT NULL,
    source label NOT NULL,
    signals text NOT NULL,
    steps text NOT NULL,
    branch label,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, session, fingerprint),
    FOREIGN KEY (tenant, session) REFERENCES sessions ON DELETE CASCADE
) PARTITION BY HASH (tenant);
CREATE INDEX findings_fingerprint ON findings (tenant, fingerprint);

CREATE TABLE messages (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    num bigint NOT NULL,
    user_id label NOT NULL,
    project_id label,
    session label NOT NULL,
    position bigint NOT NULL,
    author label NOT NULL,
    text text NOT NULL,
    created_at label NOT NULL,
    forgotten_at label,
    kept_at label NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, num),
    UNIQUE (tenant, user_id, session, position)
) PARTITION BY HASH (tenant);
CREATE INDEX messages_kept ON messages (tenant, kept_at);

CREATE TABLE message_vectors (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    num bigint NOT NULL,
    model label NOT NULL,
    user_id label NOT NULL DEFAULT current_setting('recollect.user'),
    vector bytea NOT NULL,
    PRIMARY KEY (tenant, num, model),
    FOREIGN KEY (tenant, num) REFERENCES messages ON DELETE CASCADE
) PARTITION BY HASH (tenant);

CREATE TABLE deliveries (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    id label NOT NULL,
    user_id label NOT NULL,
    project_id label,
    session label NOT NULL,
    moment label NOT NULL,
    host label NOT NULL,
    at label NOT NULL,
    tokens bigint NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE INDEX deliveries_session ON deliveries (tenant, user_id, session, id);
CREATE INDEX deliveries_at ON deliveries (tenant, at);

CREATE TABLE delivered_items (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    delivery label NOT NULL,
    position bigint NOT NULL,
    user_id label NOT NULL DEFAULT current_setting('recollect.user'),
    key label NOT NULL,
    tier label NOT NULL,
    probability double precision,
    used_at label,
    PRIMARY KEY (tenant, delivery, position),
    FOREIGN KEY (tenant, delivery) REFERENCES deliveries ON DELETE CASCADE
) PARTITION BY HASH (tenant);
CREATE INDEX delivered_items_key ON delivered_items (tenant, key);

CREATE TABLE measures (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    user_id label NOT NULL,
    project_id label NOT NULL,
    session label NOT NULL,
    name label NOT NULL,
    value double precision NOT NULL,
    at label NOT NULL,
    PRIMARY KEY (tenant, user_id, project_id, session, name)
) PARTITION BY HASH (tenant);

CREATE TABLE timings (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    user_id label NOT NULL,
    project_id label NOT NULL,
    day label NOT NULL,
    name label NOT NULL,
    size bigint NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (tenant, user_id, project_id, day, name, size)
) PARTITION BY HASH (tenant);

CREATE TABLE sidecar_calls (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    user_id label NOT NULL,
    at label NOT NULL,
    id label NOT NULL,
    place label NOT NULL,
    purpose label NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    micros bigint NOT NULL,
    outcome label NOT NULL,
    PRIMARY KEY (tenant, user_id, at, id)
) PARTITION BY HASH (tenant);
