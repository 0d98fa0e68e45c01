-- Answers are guarded like the memories they tell of, and ANALYZE keeps no sample of them.

ALTER TABLE kept_answers ALTER answer SET STATISTICS 0;
ALTER TABLE kept_answers ENABLE ROW LEVEL SECURITY;
ALTER TABLE kept_answers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_scope ON kept_answers TO commonplace_app
  USING (scope = current_setting('commonplace.scope', true))
  WITH CHECK (scope = current_setting('commonplace.scope', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON kept_answers TO commonplace_app;
