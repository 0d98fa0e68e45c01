-- Memories, their versions and links, the journal, and what they are found by.
-- Moments are microseconds since 1970 UTC; lists and maps are JSON text; every key starts with the owner.
-- #id is text that compares by bytes, as in Python; #int, #real, #bytes are each database's own types;
-- #clustered keeps small rows in the order of their key, #heap does not, …_by_owner are the large tables.

CREATE TABLE store_facts (
  name            TEXT    PRIMARY KEY,
  value           TEXT    NOT NULL
) #heap;

CREATE TABLE scopes (
  scope           #id     PRIMARY KEY,
  revision        #int    NOT NULL DEFAULT 0,
  seq             #int    NOT NULL DEFAULT 0,
  epoch           #int    NOT NULL DEFAULT 0,
  journal         #int    NOT NULL DEFAULT 0,
  units           #int    NOT NULL DEFAULT 0,
  profile_numbers #int    NOT NULL DEFAULT 0,
  tidied_at       #int
) #heap;

CREATE TABLE memories (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  unit            #int    NOT NULL,
  seq             #int    NOT NULL,
  version         #int    NOT NULL,
  kind            TEXT    NOT NULL,
  content         TEXT    NOT NULL,
  summary         TEXT    NOT NULL,
  category        TEXT    NOT NULL,
  tags            TEXT    NOT NULL,
  metadata        TEXT    NOT NULL,
  importance      #int    NOT NULL,
  confidence      #real   NOT NULL,
  stability       TEXT    NOT NULL,
  sensitivity     TEXT    NOT NULL,
  pinned          #int    NOT NULL,
  evidence        TEXT    NOT NULL,
  facet           TEXT,
  source_type     TEXT,
  source_id       TEXT,
  job_id          TEXT,
  agent_id        TEXT,
  run_id          TEXT,
  actor_id        TEXT,
  role            TEXT,
  thread_id       TEXT,
  state           TEXT    NOT NULL,
  expires_at      #int,
  ends_at         #int,
  superseded_by   TEXT,
  purge_at        #int,
  valid_from      #int,
  valid_to        #int,
  created_at      #int    NOT NULL,
  updated_at      #int    NOT NULL,
  arrived_at      #int    NOT NULL,
  PRIMARY KEY (scope, id)
) #heap_by_owner;
CREATE UNIQUE INDEX memories_by_unit ON memories (scope, unit);
CREATE INDEX memories_by_seq ON memories (scope, seq);
CREATE INDEX memories_by_age ON memories (scope, created_at, unit);
CREATE INDEX memories_by_end ON memories (scope, ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX memories_by_purge ON memories (scope, purge_at) WHERE purge_at IS NOT NULL;
CREATE INDEX memories_by_successor ON memories (scope, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE reads (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  last_accessed_at #int   NOT NULL,
  access_count     #int    NOT NULL,
  PRIMARY KEY (scope, id)
) #clustered_by_owner;

CREATE TABLE versions (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  version         #int    NOT NULL,
  content         TEXT    NOT NULL,
  fields          TEXT    NOT NULL,
  recorded_at     #int    NOT NULL,
  invalidated_at  #int,
  PRIMARY KEY (scope, id, version)
) #heap_by_owner;

CREATE TABLE terms (
  scope           #id     NOT NULL,
  unit            #int    NOT NULL,
  terms           TEXT    NOT NULL,
  PRIMARY KEY (scope, unit)
) #clustered_by_owner;

CREATE TABLE vectors (
  scope           #id     NOT NULL,
  unit            #int    NOT NULL,
  vector          #bytes  NOT NULL,
  PRIMARY KEY (scope, unit)
) #clustered_by_owner;

CREATE TABLE links (
  scope           #id     NOT NULL,
  a               #id     NOT NULL,
  b               #id     NOT NULL,
  relation        TEXT    NOT NULL,
  strength        #real   NOT NULL,
  created_at      #int    NOT NULL,
  PRIMARY KEY (scope, a, b, relation),
  CHECK (a < b)
) #clustered_by_owner;
CREATE INDEX links_by_b ON links (scope, b);

CREATE TABLE journal (
  scope           #id     NOT NULL,
  seq             #int    NOT NULL,
  ts              #int    NOT NULL,
  revision        #int    NOT NULL,
  thread_id       TEXT,
  actor           TEXT,
  node            TEXT    NOT NULL,
  op              TEXT    NOT NULL,
  status          TEXT    NOT NULL,
  event           TEXT,
  subject         TEXT,
  category        TEXT,
  old_ref         TEXT,
  new_ref         TEXT,
  similarity      #real,
  meta            TEXT    NOT NULL,
  PRIMARY KEY (scope, seq)
) #clustered_by_owner;
CREATE INDEX journal_by_subject ON journal (scope, subject, seq);
CREATE INDEX journal_by_revision ON journal (scope, revision);

CREATE TABLE cursors (
  scope           #id     NOT NULL,
  agent           TEXT    NOT NULL,
  thread          TEXT    NOT NULL,
  revision        #int    NOT NULL,
  PRIMARY KEY (scope, agent, thread)
) #clustered;

CREATE TABLE receipts (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  at              #int    NOT NULL,
  items           #int    NOT NULL,
  scrubbed_at     #int,
  PRIMARY KEY (scope, id)
) #clustered;
CREATE INDEX receipts_pending ON receipts (scope, id) WHERE scrubbed_at IS NULL;
