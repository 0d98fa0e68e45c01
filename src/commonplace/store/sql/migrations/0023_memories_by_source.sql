-- Recall looks up the memories that were made from the sources of its passages.

CREATE INDEX memories_by_source ON memories (scope, source_id);
