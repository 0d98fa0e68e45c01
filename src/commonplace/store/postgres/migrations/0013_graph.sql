-- Partitions, guards, and no samples of whom and what people know.

DO $$
DECLARE
  part_of text;
BEGIN
  FOREACH part_of IN ARRAY ARRAY['nodes', 'node_tellings', 'edges', 'edge_tellings', 'graph_vectors'] LOOP
    FOR number IN 0..7 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
                     part_of || '_' || number, part_of, number);
      EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', part_of || '_' || number);
      EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', part_of || '_' || number);
    END LOOP;
  END LOOP;
END $$;

DO $$
DECLARE
  guarded text;
BEGIN
  FOREACH guarded IN ARRAY ARRAY['nodes', 'node_tellings', 'edges', 'edge_tellings', 'graph_vectors',
                                 'graph_notes', 'artifacts', 'extractions', 'marks'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', guarded);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', guarded);
    EXECUTE format('CREATE POLICY own_scope ON %I TO commonplace_app '
                   'USING (scope = current_setting(''commonplace.scope'', true)) '
                   'WITH CHECK (scope = current_setting(''commonplace.scope'', true))', guarded);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO commonplace_app', guarded);
  END LOOP;
END $$;

ALTER TABLE nodes
  ALTER subtype SET STATISTICS 0, ALTER name SET STATISTICS 0, ALTER key SET STATISTICS 0,
  ALTER aliases SET STATISTICS 0, ALTER addresses SET STATISTICS 0, ALTER description SET STATISTICS 0,
  ALTER days SET STATISTICS 0, ALTER created_by SET STATISTICS 0, ALTER text SET STATISTICS 0;
ALTER TABLE node_tellings
  ALTER subtype SET STATISTICS 0, ALTER name SET STATISTICS 0, ALTER key SET STATISTICS 0,
  ALTER aliases SET STATISTICS 0, ALTER addresses SET STATISTICS 0, ALTER description SET STATISTICS 0,
  ALTER teller SET STATISTICS 0, ALTER cited_scope SET STATISTICS 0;
ALTER TABLE edges
  ALTER type SET STATISTICS 0, ALTER description SET STATISTICS 0, ALTER recorded_by SET STATISTICS 0,
  ALTER text SET STATISTICS 0;
ALTER TABLE edge_tellings
  ALTER type SET STATISTICS 0, ALTER description SET STATISTICS 0, ALTER teller SET STATISTICS 0,
  ALTER cited_scope SET STATISTICS 0;
ALTER TABLE graph_notes
  ALTER content SET STATISTICS 0, ALTER added_by SET STATISTICS 0, ALTER cited_scope SET STATISTICS 0;
ALTER TABLE artifacts
  ALTER name SET STATISTICS 0, ALTER content_type SET STATISTICS 0, ALTER output SET STATISTICS 0,
  ALTER description SET STATISTICS 0, ALTER created_by SET STATISTICS 0, ALTER cited_scope SET STATISTICS 0;
ALTER TABLE extractions ALTER source_scope SET STATISTICS 0, ALTER digest SET STATISTICS 0;
ALTER TABLE graph_vectors ALTER vector SET STATISTICS 0;
