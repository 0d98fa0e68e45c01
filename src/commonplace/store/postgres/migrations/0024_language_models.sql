-- Answers are guarded like the texts they tell of, and ANALYZE keeps no sample of them.

DO $$
DECLARE
  guarded text;
BEGIN
  FOREACH guarded IN ARRAY ARRAY['model_answers', 'model_usage', 'model_readings'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', guarded);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', guarded);
    EXECUTE format('CREATE POLICY own_scope ON %I TO commonplace_app '
                   'USING (scope = current_setting(''commonplace.scope'', true)) '
                   'WITH CHECK (scope = current_setting(''commonplace.scope'', true))', guarded);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO commonplace_app', guarded);
  END LOOP;
END $$;

ALTER TABLE model_answers ALTER answer SET STATISTICS 0;
ALTER TABLE model_readings ALTER source_scope SET STATISTICS 0, ALTER digest SET STATISTICS 0;
