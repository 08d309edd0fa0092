-- What was forgotten is out of sight until its grace is over, and quickly found then.

ALTER TABLE messages ADD COLUMN forgotten_at TEXT;  -- with its project; NULL = not forgotten
CREATE INDEX memories_deleted ON memories (deleted_at) WHERE deleted_at IS NOT NULL;
