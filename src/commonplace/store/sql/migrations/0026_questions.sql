-- Questions that a memory answers, as a JSON list. They are searched, and never shown as its text: the
-- row of its vector holds theirs after its own.

ALTER TABLE memories ADD COLUMN questions TEXT NOT NULL DEFAULT '[]';
