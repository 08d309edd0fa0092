-- Situations in which a memory is needed, in other words than its own, as JSON: they are searched, and never shown as its words.

ALTER TABLE memories ADD COLUMN when_needed text;  -- NULL = none are known
