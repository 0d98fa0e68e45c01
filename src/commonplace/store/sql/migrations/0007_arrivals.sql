-- When this store got a passage; of those that were there before it was noted, when they were last made.

ALTER TABLE passages ADD COLUMN arrived_at #int;
