-- How long a team keeps what it stores, and the identities with which people sign in at an identity provider.

ALTER TABLE tenants ADD COLUMN retention text NOT NULL DEFAULT '{}';  -- JSON: days, by name

CREATE TABLE identities (
    tenant label NOT NULL DEFAULT current_setting('recollect.tenant'),
    hash label NOT NULL,                        -- of issuer and subject
    user_id label NOT NULL,
    created_at label NOT NULL,
    PRIMARY KEY (tenant, hash)
) PARTITION BY HASH (tenant);
CREATE INDEX identities_hash ON identities (hash);
