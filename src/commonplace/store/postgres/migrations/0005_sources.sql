-- Partitions, guards, and no samples of what people say.

DO $$
DECLARE
  part_of text;
BEGIN
  FOREACH part_of IN ARRAY ARRAY['sources', 'originals', 'passages'] LOOP
    FOR number IN 0..7 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
                     part_of || '_' || number, part_of, number);
      EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', part_of || '_' || number);
      EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', part_of || '_' || number);
    END LOOP;
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', part_of);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', part_of);
    EXECUTE format('CREATE POLICY own_scope ON %I TO commonplace_app '
                   'USING (scope = current_setting(''commonplace.scope'', true)) '
                   'WITH CHECK (scope = current_setting(''commonplace.scope'', true))', part_of);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO commonplace_app', part_of);
  END LOOP;
END $$;

ALTER TABLE sources
  ALTER title SET STATISTICS 0, ALTER summary SET STATISTICS 0, ALTER keywords SET STATISTICS 0,
  ALTER tags SET STATISTICS 0, ALTER participants SET STATISTICS 0, ALTER provenance SET STATISTICS 0,
  ALTER origin SET STATISTICS 0, ALTER external_id SET STATISTICS 0, ALTER thread_id SET STATISTICS 0,
  ALTER digest SET STATISTICS 0;
ALTER TABLE originals ALTER raw SET STATISTICS 0;
ALTER TABLE passages
  ALTER text SET STATISTICS 0, ALTER speaker SET STATISTICS 0, ALTER role SET STATISTICS 0,
  ALTER session SET STATISTICS 0, ALTER label SET STATISTICS 0;

-- Names of threads, categories and the like are words of people's, too.
ALTER TABLE memories
  ALTER category SET STATISTICS 0, ALTER facet SET STATISTICS 0, ALTER source_id SET STATISTICS 0,
  ALTER thread_id SET STATISTICS 0, ALTER actor_id SET STATISTICS 0, ALTER role SET STATISTICS 0,
  ALTER agent_id SET STATISTICS 0, ALTER run_id SET STATISTICS 0;
ALTER TABLE journal
  ALTER thread_id SET STATISTICS 0, ALTER category SET STATISTICS 0, ALTER meta SET STATISTICS 0;
ALTER TABLE cursors ALTER thread SET STATISTICS 0;
