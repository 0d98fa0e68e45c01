-- Values that wait: for a person who decides (conflict), or beside a memory that says otherwise.
-- A memory that is asked about names the conflict, so that one memory is in one question at most.

ALTER TABLE memories ADD COLUMN conflict TEXT;
CREATE INDEX memories_by_conflict ON memories (scope, conflict) WHERE conflict IS NOT NULL;

CREATE TABLE held (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  conflict        TEXT,
  beside          TEXT,
  content         TEXT    NOT NULL,
  fields          TEXT    NOT NULL,
  mentioned       TEXT    NOT NULL,
  reason          TEXT    NOT NULL,
  actor           TEXT,
  held_at         #int    NOT NULL,
  PRIMARY KEY (scope, id)
) #heap;
CREATE INDEX held_by_conflict ON held (scope, conflict) WHERE conflict IS NOT NULL;
CREATE INDEX held_by_memory ON held (scope, beside) WHERE beside IS NOT NULL;
