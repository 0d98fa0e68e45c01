-- Guards, and no samples of what people are told about.

DO $$
DECLARE
  guarded text;
BEGIN
  FOREACH guarded IN ARRAY ARRAY['storylines', 'macros'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', guarded);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', guarded);
    EXECUTE format('CREATE POLICY own_scope ON %I TO commonplace_app '
                   'USING (scope = current_setting(''commonplace.scope'', true)) '
                   'WITH CHECK (scope = current_setting(''commonplace.scope'', true))', guarded);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO commonplace_app', guarded);
  END LOOP;
END $$;

ALTER TABLE storylines
  ALTER name SET STATISTICS 0, ALTER description SET STATISTICS 0, ALTER written_by SET STATISTICS 0,
  ALTER sources SET STATISTICS 0, ALTER team_id SET STATISTICS 0;
ALTER TABLE macros
  ALTER name SET STATISTICS 0, ALTER description SET STATISTICS 0, ALTER written_by SET STATISTICS 0,
  ALTER storylines SET STATISTICS 0, ALTER team_id SET STATISTICS 0;
