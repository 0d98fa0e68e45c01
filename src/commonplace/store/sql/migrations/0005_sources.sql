-- Sources (experiences kept whole), their originals, and the passages they are found by.
-- A passage is found by a unit, as a memory is: terms and vectors are one table each for both.

CREATE TABLE sources (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  seq             #int    NOT NULL,
  version         #int    NOT NULL,
  user_id         TEXT    NOT NULL,
  team_id         TEXT,
  origin          TEXT    NOT NULL,
  external_id     TEXT    NOT NULL,
  source_type     TEXT    NOT NULL,
  content_type    TEXT    NOT NULL,
  context_type    TEXT,
  title           TEXT    NOT NULL,
  summary         TEXT    NOT NULL,
  keywords        TEXT    NOT NULL,
  tags            TEXT    NOT NULL,
  participants    TEXT    NOT NULL,
  provenance      TEXT    NOT NULL,
  thread_id       TEXT,
  sensitivity     TEXT    NOT NULL,
  status          TEXT    NOT NULL CHECK (status IN ('raw', 'processed', 'extracted')),
  started_at      #int,
  ended_at        #int,
  processing_started_at   #int,
  processing_completed_at #int,
  extraction_started_at   #int,
  extraction_completed_at #int,
  state           TEXT    NOT NULL,
  purge_at        #int,
  passages        #int    NOT NULL,
  parts           #int    NOT NULL,
  digest          TEXT    NOT NULL,
  created_at      #int    NOT NULL,
  updated_at      #int    NOT NULL,
  PRIMARY KEY (scope, id)
) #heap_by_owner;
CREATE UNIQUE INDEX sources_by_alias ON sources (scope, origin, external_id);
CREATE INDEX sources_by_seq ON sources (scope, seq);
CREATE INDEX sources_by_age ON sources (scope, created_at, id);
CREATE INDEX sources_by_purge ON sources (scope, purge_at) WHERE purge_at IS NOT NULL;

CREATE TABLE originals (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  part            #int    NOT NULL,
  raw             #bytes  NOT NULL,
  PRIMARY KEY (scope, id, part)
) #heap_by_owner;

CREATE TABLE passages (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  number          #int    NOT NULL,
  turn            #int    NOT NULL,
  unit            #int    NOT NULL,
  seq             #int    NOT NULL,
  text            TEXT    NOT NULL,
  speaker         TEXT,
  role            TEXT,
  at              #int    NOT NULL,
  session         TEXT,
  label           TEXT,
  suspicious      #int    NOT NULL,
  PRIMARY KEY (scope, id, number)
) #heap_by_owner;
CREATE UNIQUE INDEX passages_by_unit ON passages (scope, unit);
CREATE INDEX passages_by_seq ON passages (scope, seq);

-- What a text is like besides its words: does it ask, does it name a number, a time, a person; its script.
ALTER TABLE terms ADD COLUMN traits #int NOT NULL DEFAULT 0;
