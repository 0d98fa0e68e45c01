-- Memories, their versions and links, the journal, and what they are found by.
-- Ids compare by bytes, as they do in SQLite and in Python. The large tables are hash-partitioned by owner.
-- Moments are microseconds since 1970 UTC; lists and maps are JSON text; every key starts with the owner.

CREATE TABLE store_facts (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE scopes (
  scope           TEXT COLLATE "C" PRIMARY KEY,
  revision        BIGINT NOT NULL DEFAULT 0,
  seq             BIGINT NOT NULL DEFAULT 0,
  epoch           BIGINT NOT NULL DEFAULT 0,
  journal         BIGINT NOT NULL DEFAULT 0,
  units           BIGINT NOT NULL DEFAULT 0,
  profile_numbers BIGINT NOT NULL DEFAULT 0,
  tidied_at       BIGINT
);

CREATE TABLE memories (
  scope         TEXT COLLATE "C"    NOT NULL,
  id            TEXT COLLATE "C"    NOT NULL,
  unit          BIGINT NOT NULL,
  seq           BIGINT NOT NULL,
  version       BIGINT NOT NULL,
  kind          TEXT    NOT NULL,
  content       TEXT    NOT NULL,
  summary       TEXT    NOT NULL,
  category      TEXT    NOT NULL,
  tags          TEXT    NOT NULL,
  metadata      TEXT    NOT NULL,
  importance    BIGINT NOT NULL,
  confidence    DOUBLE PRECISION    NOT NULL,
  stability     TEXT    NOT NULL,
  sensitivity   TEXT    NOT NULL,
  pinned        BIGINT NOT NULL,
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
  expires_at    BIGINT,
  ends_at       BIGINT,
  superseded_by TEXT,
  purge_at      BIGINT,
  valid_from    BIGINT,
  valid_to      BIGINT,
  created_at    BIGINT NOT NULL,
  updated_at    BIGINT NOT NULL,
  arrived_at    BIGINT NOT NULL,
  PRIMARY KEY (scope, id)
) PARTITION BY HASH (scope);
CREATE UNIQUE INDEX memories_by_unit ON memories (scope, unit);
CREATE INDEX memories_by_seq ON memories (scope, seq);
CREATE INDEX memories_by_age ON memories (scope, created_at, unit);
CREATE INDEX memories_by_end ON memories (scope, ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX memories_by_purge ON memories (scope, purge_at) WHERE purge_at IS NOT NULL;
CREATE INDEX memories_by_successor ON memories (scope, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE reads (
  scope            TEXT COLLATE "C"    NOT NULL,
  id               TEXT COLLATE "C"    NOT NULL,
  last_accessed_at BIGINT NOT NULL,
  access_count     BIGINT NOT NULL,
  PRIMARY KEY (scope, id)
) PARTITION BY HASH (scope);

CREATE TABLE versions (
  scope          TEXT COLLATE "C"    NOT NULL,
  id             TEXT COLLATE "C"    NOT NULL,
  version        BIGINT NOT NULL,
  content        TEXT    NOT NULL,
  fields         TEXT    NOT NULL,
  recorded_at    BIGINT NOT NULL,
  invalidated_at BIGINT,
  PRIMARY KEY (scope, id, version)
) PARTITION BY HASH (scope);

CREATE TABLE terms (
  scope TEXT COLLATE "C"    NOT NULL,
  unit  BIGINT NOT NULL,
  terms TEXT    NOT NULL,
  PRIMARY KEY (scope, unit)
) PARTITION BY HASH (scope);

CREATE TABLE vectors (
  scope  TEXT COLLATE "C"    NOT NULL,
  unit   BIGINT NOT NULL,
  vector BYTEA   NOT NULL,
  PRIMARY KEY (scope, unit)
) PARTITION BY HASH (scope);

CREATE TABLE links (
  scope      TEXT COLLATE "C"    NOT NULL,
  a          TEXT COLLATE "C"    NOT NULL,
  b          TEXT COLLATE "C"    NOT NULL,
  relation   TEXT    NOT NULL,
  strength   DOUBLE PRECISION    NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (scope, a, b, relation),
  CHECK (a < b)
) PARTITION BY HASH (scope);
CREATE INDEX links_by_b ON links (scope, b);

CREATE TABLE journal (
  scope      TEXT COLLATE "C"    NOT NULL,
  seq        BIGINT NOT NULL,
  ts         BIGINT NOT NULL,
  revision   BIGINT NOT NULL,
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
  similarity DOUBLE PRECISION,
  meta       TEXT    NOT NULL,
  PRIMARY KEY (scope, seq)
) PARTITION BY HASH (scope);
CREATE INDEX journal_by_subject ON journal (scope, subject, seq);
CREATE INDEX journal_by_revision ON journal (scope, revision);

CREATE TABLE cursors (
  scope    TEXT COLLATE "C"    NOT NULL,
  agent    TEXT    NOT NULL,
  thread   TEXT    NOT NULL,
  revision BIGINT NOT NULL,
  PRIMARY KEY (scope, agent, thread)
);

CREATE TABLE receipts (
  scope       TEXT COLLATE "C"    NOT NULL,
  id          TEXT COLLATE "C"    NOT NULL,
  at          BIGINT NOT NULL,
  items       BIGINT NOT NULL,
  scrubbed_at BIGINT,
  PRIMARY KEY (scope, id)
);
CREATE INDEX receipts_pending ON receipts (scope, id) WHERE scrubbed_at IS NULL;

DO $$
DECLARE
  part_of text;
BEGIN
  FOREACH part_of IN ARRAY ARRAY['memories', 'reads', 'versions', 'terms', 'vectors', 'links', 'journal'] LOOP
    FOR number IN 0..7 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
                     part_of || '_' || number, part_of, number);
      -- Rows are reached through the parent and its policy; a partition by itself shows none.
      EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', part_of || '_' || number);
      EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', part_of || '_' || number);
    END LOOP;
  END LOOP;
END $$;

-- ANALYZE keeps samples of the values it sees, where an erasure does not reach: none of what people say.
ALTER TABLE memories
  ALTER content SET STATISTICS 0, ALTER summary SET STATISTICS 0, ALTER tags SET STATISTICS 0,
  ALTER metadata SET STATISTICS 0, ALTER evidence SET STATISTICS 0;
ALTER TABLE versions ALTER content SET STATISTICS 0, ALTER fields SET STATISTICS 0;
ALTER TABLE terms ALTER terms SET STATISTICS 0;
ALTER TABLE vectors ALTER vector SET STATISTICS 0;

-- The engine never works as the owner of these tables: it takes on commonplace_app inside each
-- transaction, names the scope, and sees rows of that scope alone. commonplace_maintenance sees
-- which scopes there are and which receipts wait for compaction, and no more.
-- Roles belong to the whole server: another database's store may make them at the same moment.
DO $$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['commonplace_app', 'commonplace_maintenance'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOBYPASSRLS', wanted);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;
      END;
    END IF;
    IF NOT pg_has_role(wanted, 'SET') THEN
      EXECUTE format('GRANT %I TO %I', wanted, current_user);
    END IF;
  END LOOP;
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO commonplace_app, commonplace_maintenance', current_schema());
END $$;

DO $$
DECLARE
  guarded text;
BEGIN
  FOREACH guarded IN ARRAY ARRAY['scopes', 'memories', 'reads', 'versions', 'terms', 'vectors', 'links',
                                 'journal', 'cursors', 'receipts'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', guarded);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', guarded);
    EXECUTE format('CREATE POLICY own_scope ON %I TO commonplace_app '
                   'USING (scope = current_setting(''commonplace.scope'', true)) '
                   'WITH CHECK (scope = current_setting(''commonplace.scope'', true))', guarded);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO commonplace_app', guarded);
  END LOOP;
END $$;
GRANT SELECT ON migrations TO commonplace_app, commonplace_maintenance;
GRANT SELECT, INSERT, UPDATE ON store_facts TO commonplace_maintenance;
GRANT SELECT ON scopes TO commonplace_maintenance;
GRANT SELECT, UPDATE ON receipts TO commonplace_maintenance;
CREATE POLICY every_scope ON scopes FOR SELECT TO commonplace_maintenance USING (true);
CREATE POLICY every_receipt ON receipts TO commonplace_maintenance USING (true) WITH CHECK (true);
