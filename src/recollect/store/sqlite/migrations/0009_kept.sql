-- Messages are kept for a while from the day they came in, which may be years after they were said.

ALTER TABLE messages ADD COLUMN kept_at TEXT NOT NULL DEFAULT '';
UPDATE messages SET kept_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now');
DROP INDEX messages_created;
CREATE INDEX messages_kept ON messages (kept_at);
