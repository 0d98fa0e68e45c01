-- Passages that are forgotten, with the end of the time in which they can be restored. An erased
-- passage keeps its row, without its words, so that later passages keep their numbers.

ALTER TABLE passages ADD COLUMN purge_at #int;
CREATE INDEX passages_by_purge ON passages (scope, purge_at) WHERE purge_at IS NOT NULL;
