-- Every call of a sidecar that may cost something: what for, how much, and how it ended. Never what was said.

CREATE TABLE sidecar_calls (
    user_id TEXT NOT NULL,
    at TEXT NOT NULL,
    id TEXT NOT NULL,
    place TEXT NOT NULL,            -- the server or command
    purpose TEXT NOT NULL,
    tokens_in INTEGER NOT NULL,     -- until it is finished, the most it may take
    tokens_out INTEGER NOT NULL,
    micros INTEGER NOT NULL,        -- money, in millionths
    outcome TEXT NOT NULL,          -- a name of `Outcome` in store/ledger.py
    PRIMARY KEY (user_id, at, id)
) STRICT, WITHOUT ROWID;
