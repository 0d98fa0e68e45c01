-- Runs of nightly maintenance, what each of them did, and pairs of memories that were compared.

-- One run for each night and schedule, however many workers there are; by hand as many as one likes. tasks and results are JSON
-- lists of codes and numbers; no text of a user is in them. position: how many tasks are over.
CREATE TABLE sleep_runs (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  schedule        #id     NOT NULL,
  due_at          #int    NOT NULL,
  tasks           TEXT    NOT NULL,
  state           #id     NOT NULL,
  started_at      #int    NOT NULL,
  finished_at     #int,
  undone_at       #int,
  live_at_start   #int    NOT NULL,
  ended           #int    NOT NULL,
  position        #int    NOT NULL,
  results         TEXT    NOT NULL,
  PRIMARY KEY (scope, id)
) #heap;
CREATE UNIQUE INDEX sleep_runs_once ON sleep_runs (scope, schedule, due_at)
  WHERE schedule <> 'by hand';

-- before: the item's record as in an export, as JSON text. It is text of the user, and is erased
-- with the item.
CREATE TABLE sleep_changes (
  scope           #id     NOT NULL,
  run             #id     NOT NULL,
  number          #int    NOT NULL,
  kind            #id     NOT NULL,
  subject         TEXT    NOT NULL,
  task            #id     NOT NULL,
  why             TEXT    NOT NULL,
  before          TEXT,
  after_ref       TEXT,
  can_be_undone   #int    NOT NULL,
  at              #int    NOT NULL,
  PRIMARY KEY (scope, run, number, kind, subject)
) #heap;
CREATE INDEX sleep_changes_by_subject ON sleep_changes (scope, subject);
CREATE INDEX sleep_changes_by_age ON sleep_changes (scope, at);

CREATE TABLE fingerprints (
  scope           #id     NOT NULL,
  a               #id     NOT NULL,
  b               #id     NOT NULL,
  score           #real   NOT NULL,
  checked_at      #int    NOT NULL,
  PRIMARY KEY (scope, a, b, score)
) #heap;
CREATE INDEX fingerprints_by_age ON fingerprints (scope, checked_at);
