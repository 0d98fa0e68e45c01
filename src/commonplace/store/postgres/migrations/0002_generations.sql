-- The key of the partitioned table, and who may look at and work on generations.

ALTER TABLE vectors ADD COLUMN generation BIGINT NOT NULL DEFAULT 1;
ALTER TABLE vectors ALTER generation DROP DEFAULT;
ALTER TABLE vectors DROP CONSTRAINT vectors_pkey;
ALTER TABLE vectors ADD PRIMARY KEY (scope, unit, generation);

INSERT INTO generations (number, embedder, dimension, state)
SELECT 1, substr(value, strpos(value, ' ') + 1), CAST(split_part(value, ' ', 1) AS BIGINT), 'current'
  FROM store_facts WHERE name = 'embedder';
DELETE FROM store_facts WHERE name = 'embedder';

-- Whose vectors are current is nobody's secret; only maintenance moves on from one to the next. For that it
-- locks the owners' counters, so that no writer is halfway, and tells every cache to start anew.
GRANT SELECT ON generations TO commonplace_app;
GRANT SELECT, INSERT, UPDATE ON generations TO commonplace_maintenance;
GRANT UPDATE ON scopes TO commonplace_maintenance;
CREATE POLICY every_scope_starts_anew ON scopes FOR UPDATE TO commonplace_maintenance USING (true) WITH CHECK (true);
