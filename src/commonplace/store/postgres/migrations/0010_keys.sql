-- Keys are guarded like memories, and ANALYZE keeps no sample of them either.

ALTER TABLE keys ALTER digest SET STATISTICS 0, ALTER label SET STATISTICS 0,
  ALTER agent SET STATISTICS 0, ALTER team SET STATISTICS 0;
ALTER TABLE keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE keys FORCE ROW LEVEL SECURITY;
CREATE POLICY own_scope ON keys TO commonplace_app
  USING (scope = current_setting('commonplace.scope', true))
  WITH CHECK (scope = current_setting('commonplace.scope', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON keys TO commonplace_app;
