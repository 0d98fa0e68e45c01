-- What PostgreSQL needs beyond the shared tables: partitions, roles, row-level security.

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
