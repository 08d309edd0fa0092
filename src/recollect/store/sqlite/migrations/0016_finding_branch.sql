-- The branch on which something was noticed, which a memory made of it keeps.

ALTER TABLE findings ADD COLUMN branch TEXT;  -- NULL = unknown, or no git
