-- Guarded like everything that has an owner; ANALYZE keeps no sample of names.

ALTER TABLE teams ALTER name SET STATISTICS 0, ALTER created_by SET STATISTICS 0;
ALTER TABLE memberships ALTER other SET STATISTICS 0, ALTER invited_by SET STATISTICS 0;
ALTER TABLE shares ALTER other SET STATISTICS 0, ALTER granted_by SET STATISTICS 0;

ALTER TABLE teams ENABLE ROW LEVEL SECURITY;
ALTER TABLE teams FORCE ROW LEVEL SECURITY;
CREATE POLICY own_scope ON teams TO commonplace_app
  USING (scope = current_setting('commonplace.scope', true))
  WITH CHECK (scope = current_setting('commonplace.scope', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON teams TO commonplace_app;

ALTER TABLE memberships ENABLE ROW LEVEL SECURITY;
ALTER TABLE memberships FORCE ROW LEVEL SECURITY;
CREATE POLICY own_scope ON memberships TO commonplace_app
  USING (scope = current_setting('commonplace.scope', true))
  WITH CHECK (scope = current_setting('commonplace.scope', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON memberships TO commonplace_app;

ALTER TABLE shares ENABLE ROW LEVEL SECURITY;
ALTER TABLE shares FORCE ROW LEVEL SECURITY;
CREATE POLICY own_scope ON shares TO commonplace_app
  USING (scope = current_setting('commonplace.scope', true))
  WITH CHECK (scope = current_setting('commonplace.scope', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON shares TO commonplace_app;
