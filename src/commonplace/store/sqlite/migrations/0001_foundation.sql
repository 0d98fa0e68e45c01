-- Memories, their versions and links, the journal, and what they are found by.
-- Moments are microseconds since 1970 UTC; lists and maps are JSON text; every key starts with the owner.

CREATE TABLE store_facts (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE scopes (
  scope           TEXT PRIMARY KEY,
  revision        INTEGER NOT NULL DEFAULT 0,
  seq             INTEGER NOT NULL DEFAULT 0,
  epoch           INTEGER NOT NULL DEFAULT 0,
  journal         INTEGER NOT NULL DEFAULT 0,
  units           INTEGER NOT NULL DEFAULT 0,
  profile_numbers INTEGER NOT NULL DEFAULT 0,
  tidied_at       INTEGER
) STRICT;

CREATE TABLE memories (
  scope         TEXT    NOT NULL,
  id            TEXT    NOT NULL,
  unit          INTEGER NOT NULL,
  seq           INTEGER NOT NULL,
  version       INTEGER NOT NULL,
  kind          TEXT    NOT NULL,
  content       TEXT    NOT NULL,
  summary       TEXT    NOT NULL,
  category      TEXT    NOT NULL,
  tags          TEXT    NOT NULL,
  metadata      TEXT    NOT NULL,
  importance    INTEGER NOT NULL,
  confidence    REAL    NOT NULL,
  stability     TEXT    NOT NULL,
  sensitivity   TEXT    NOT NULL,
  pinned        INTEGER NOT NULL,
  evidence      TEXT    NOT NULL,
  facet         TEXT,
  source_type   TEXT,
  source_id     TEXT,
  job_id        TEXT,
  agent_id      TEXT,
  run_id        TEXT,
  actor_id      TEXT,
  role          TEXT,
  thread_id     TEXT,
  state         TEXT    NOT NULL,
  expires_at    INTEGER,
  ends_at       INTEGER,
  superseded_by TEXT,
  purge_at      INTEGER,
  valid_from    INTEGER,
  valid_to      INTEGER,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  arrived_at    INTEGER NOT NULL,
  PRIMARY KEY (scope, id)
) STRICT;
CREATE UNIQUE INDEX memories_by_unit ON memories (scope, unit);
CREATE INDEX memories_by_seq ON memories (scope, seq);
CREATE INDEX memories_by_age ON memories (scope, created_at, unit);
CREATE INDEX memories_by_end ON memories (scope, ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX memories_by_purge ON memories (scope, purge_at) WHERE purge_at IS NOT NULL;
CREATE INDEX memories_by_successor ON memories (scope, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE reads (
  scope            TEXT    NOT NULL,
  id               TEXT    NOT NULL,
  last_accessed_at INTEGER NOT NULL,
  access_count     INTEGER NOT NULL,
  PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE versions (
  scope          TEXT    NOT NULL,
  id             TEXT    NOT NULL,
  version        INTEGER NOT NULL,
  content        TEXT    NOT NULL,
  fields         TEXT    NOT NULL,
  recorded_at    INTEGER NOT NULL,
  invalidated_at INTEGER,
  PRIMARY KEY (scope, id, version)
) STRICT;

CREATE TABLE terms (
  scope TEXT    NOT NULL,
  unit  INTEGER NOT NULL,
  terms TEXT    NOT NULL,
  PRIMARY KEY (scope, unit)
) STRICT, WITHOUT ROWID;

CREATE TABLE vectors (
  scope  TEXT    NOT NULL,
  unit   INTEGER NOT NULL,
  vector BLOB    NOT NULL,
  PRIMARY KEY (scope, unit)
) STRICT, WITHOUT ROWID;

CREATE TABLE links (
  scope      TEXT    NOT NULL,
  a          TEXT    NOT NULL,
  b          TEXT    NOT NULL,
  relation   TEXT    NOT NULL,
  strength   REAL    NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (scope, a, b, relation),
  CHECK (a < b)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_b ON links (scope, b);

CREATE TABLE journal (
  scope      TEXT    NOT NULL,
  seq        INTEGER NOT NULL,
  ts         INTEGER NOT NULL,
  revision   INTEGER NOT NULL,
  thread_id  TEXT,
  actor      TEXT,
  node       TEXT    NOT NULL,
  op         TEXT    NOT NULL,
  status     TEXT    NOT NULL,
  event      TEXT,
  subject    TEXT,
  category   TEXT,
  old_ref    TEXT,
  new_ref    TEXT,
  similarity REAL,
  meta       TEXT    NOT NULL,
  PRIMARY KEY (scope, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX journal_by_subject ON journal (scope, subject, seq);
CREATE INDEX journal_by_revision ON journal (scope, revision);

CREATE TABLE cursors (
  scope    TEXT    NOT NULL,
  agent    TEXT    NOT NULL,
  thread   TEXT    NOT NULL,
  revision INTEGER NOT NULL,
  PRIMARY KEY (scope, agent, thread)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
  scope       TEXT    NOT NULL,
  id          TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  items       INTEGER NOT NULL,
  scrubbed_at INTEGER,
  PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_pending ON receipts (scope, id) WHERE scrubbed_at IS NULL;
