-- Held values are guarded like memories, and ANALYZE keeps no sample of them either.

ALTER TABLE held ALTER content SET STATISTICS 0, ALTER fields SET STATISTICS 0,
  ALTER reason SET STATISTICS 0;
ALTER TABLE held ENABLE ROW LEVEL SECURITY;
ALTER TABLE held FORCE ROW LEVEL SECURITY;
CREATE POLICY own_scope ON held TO commonplace_app
  USING (scope = current_setting('commonplace.scope', true))
  WITH CHECK (scope = current_setting('commonplace.scope', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON held TO commonplace_app;
