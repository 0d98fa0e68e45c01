-- Work that is owed, by owner. What is done has no row; of each kind and key one job is there at most.
-- due_at: when a queued job runs; when a running one's lease ends; none for a dead one, which waits for a person.
-- lease rises with each claim, so that a holder who comes back too late is known; again: the same work was
-- caused once more while it ran.

CREATE TABLE jobs (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  kind            TEXT    NOT NULL,
  key             TEXT    NOT NULL,
  payload         TEXT    NOT NULL,
  state           TEXT    NOT NULL CHECK (state IN ('queued', 'running', 'dead')),
  due_at          #int,
  tries           #int    NOT NULL,
  max_tries       #int    NOT NULL,
  lease           #int    NOT NULL,
  worker          TEXT,
  error_code      TEXT,
  error           TEXT,
  again           #int    NOT NULL DEFAULT 0,
  created_at      #int    NOT NULL,
  updated_at      #int    NOT NULL,
  PRIMARY KEY (scope, id)
) #heap;
CREATE UNIQUE INDEX jobs_by_work ON jobs (scope, kind, key);
-- The one index that does not start with the owner: workers look for what is due, whoever it belongs to.
CREATE INDEX jobs_due ON jobs (due_at) WHERE due_at IS NOT NULL;
