-- What is left to do about a reading. skipped: passages of which a model gave no usable answer, as
-- lists of first and last number, prompt and model; another model or prompt reads them again.
-- requests: to forget something, which nobody has decided yet, as lists of id, query, number of the
-- passage, and when the request ends. Both are JSON lists.

ALTER TABLE model_readings ADD COLUMN skipped TEXT NOT NULL DEFAULT '[]';
ALTER TABLE model_readings ADD COLUMN requests TEXT NOT NULL DEFAULT '[]';
