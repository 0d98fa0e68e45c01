-- Whether a source is kept for ever, until its day, or fades; and that day, of one that has it.

ALTER TABLE sources ADD COLUMN ttl_policy TEXT NOT NULL DEFAULT 'decay';
ALTER TABLE sources ADD COLUMN ends_at #int;
CREATE INDEX sources_by_end ON sources (scope, ends_at) WHERE ends_at IS NOT NULL;
