-- Partitions, guards, and no samples of what people ask.

DO $$
DECLARE
  part_of text;
BEGIN
  FOREACH part_of IN ARRAY ARRAY['recall_log', 'recall_hits'] LOOP
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

ALTER TABLE recall_log
  ALTER asked SET STATISTICS 0, ALTER thread SET STATISTICS 0, ALTER agent SET STATISTICS 0;
ALTER TABLE recall_hits ALTER why SET STATISTICS 0, ALTER parts SET STATISTICS 0;
