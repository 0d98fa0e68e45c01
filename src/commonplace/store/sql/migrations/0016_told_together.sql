-- What sources told of a memory that they share, each for itself: so that it can be made anew
-- without one of them.

ALTER TABLE held ADD COLUMN merged_into TEXT;
CREATE INDEX held_by_merged ON held (scope, merged_into) WHERE merged_into IS NOT NULL;
