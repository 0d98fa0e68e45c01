-- Which sentences of a source its reader has taken in, as digests: what was taken out of the graph by hand is not told
-- anew by a sentence that was heard before. Of what was read before this was noted, all counts as new.

ALTER TABLE extractions ADD COLUMN heard TEXT NOT NULL DEFAULT '';
