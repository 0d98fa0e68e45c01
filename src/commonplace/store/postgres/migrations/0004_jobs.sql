-- Jobs are guarded like memories. Whoever claims work has a role of its own, which sees and moves jobs of every
-- owner (kinds, ids, times) and no row of any other table.

ALTER TABLE jobs ALTER payload SET STATISTICS 0, ALTER key SET STATISTICS 0;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'commonplace_worker') THEN
    BEGIN
      CREATE ROLE commonplace_worker NOLOGIN NOBYPASSRLS;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL;
    END;
  END IF;
  IF NOT pg_has_role('commonplace_worker', 'SET') THEN
    EXECUTE format('GRANT commonplace_worker TO %I', current_user);
  END IF;
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO commonplace_worker', current_schema());
END $$;

ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_scope ON jobs TO commonplace_app
  USING (scope = current_setting('commonplace.scope', true))
  WITH CHECK (scope = current_setting('commonplace.scope', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON jobs TO commonplace_app;
CREATE POLICY every_job ON jobs TO commonplace_worker USING (true) WITH CHECK (true);
GRANT SELECT, UPDATE ON jobs TO commonplace_worker;
