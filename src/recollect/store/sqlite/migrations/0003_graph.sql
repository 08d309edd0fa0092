-- The graph, walked quickly: who has a tag in one project, whatever the others hold; and what has triggers.

ALTER TABLE memory_tags ADD COLUMN project TEXT NOT NULL DEFAULT '';  -- '' = global
UPDATE memory_tags
SET project = coalesce((SELECT m.project_id FROM memories m WHERE m.num = memory_tags.num), '');
DROP INDEX memory_tags_tag;
CREATE INDEX memory_tags_place ON memory_tags (tag, project, num);

CREATE INDEX memories_triggers ON memories (num) WHERE triggers <> '[]' OR procedure IS NOT NULL;
