-- Passages of which a model gave no usable answer: lists of first and last number, prompt and model,
-- as a JSON list. They are read again by another model or prompt.

ALTER TABLE model_readings ADD COLUMN skipped TEXT NOT NULL DEFAULT '[]';
