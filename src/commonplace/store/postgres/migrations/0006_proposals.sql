-- Proposals are guarded like memories, and ANALYZE keeps no sample of them either.

ALTER TABLE proposals ALTER name SET STATISTICS 0, ALTER value SET STATISTICS 0,
  ALTER signals SET STATISTICS 0, ALTER reason SET STATISTICS 0;
ALTER TABLE proposals ENABLE ROW LEVEL SECURITY;
ALTER TABLE proposals FORCE ROW LEVEL SECURITY;
CREATE POLICY own_scope ON proposals TO commonplace_app
  USING (scope = current_setting('commonplace.scope', true))
  WITH CHECK (scope = current_setting('commonplace.scope', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON proposals TO commonplace_app;
