-- Statements about storylines, macros and archived sources, for both databases; the notation is that
-- of queries.sql.
--   #storyline_columns, #macro_columns  in the order that storylines.py reads them

-- name: insert_storyline
INSERT INTO storylines (
  scope, id, seq, version, anchor, name, description, written_by, is_dirty, sources, closed_at,
  sensitivity, team_id, ttl_policy, created_at, updated_at
) VALUES (
  :scope, :id, :seq, :version, :anchor, :name, :description, :written_by, :is_dirty, :sources,
  :closed_at, :sensitivity, :team_id, :ttl_policy, :created_at, :updated_at
)

-- name: park_storylines
-- Being the open one can move from one storyline to another in one changeset: first all are closed.
UPDATE storylines SET closed_at = 0 WHERE scope = :scope AND id IN #list(ids)

-- name: update_storyline
UPDATE storylines
   SET seq = :seq, version = :version, anchor = :anchor, name = :name, description = :description,
       written_by = :written_by, is_dirty = :is_dirty, sources = :sources, closed_at = :closed_at,
       sensitivity = :sensitivity, team_id = :team_id, ttl_policy = :ttl_policy,
       created_at = :created_at, updated_at = :updated_at
 WHERE scope = :scope AND id = :id AND version = :expected_version
RETURNING id

-- name: insert_macro
INSERT INTO macros (
  scope, id, seq, version, anchor, name, description, written_by, is_dirty, storylines,
  total_source_count, started_at, last_event_at, sensitivity, team_id, ttl_policy, created_at,
  updated_at
) VALUES (
  :scope, :id, :seq, :version, :anchor, :name, :description, :written_by, :is_dirty, :storylines,
  :total_source_count, :started_at, :last_event_at, :sensitivity, :team_id, :ttl_policy,
  :created_at, :updated_at
)

-- name: update_macro
UPDATE macros
   SET seq = :seq, version = :version, anchor = :anchor, name = :name, description = :description,
       written_by = :written_by, is_dirty = :is_dirty, storylines = :storylines,
       total_source_count = :total_source_count, started_at = :started_at,
       last_event_at = :last_event_at, sensitivity = :sensitivity, team_id = :team_id,
       ttl_policy = :ttl_policy, created_at = :created_at, updated_at = :updated_at
 WHERE scope = :scope AND id = :id AND version = :expected_version
RETURNING id

-- name: bump_storylines
UPDATE storylines SET seq = :seq WHERE scope = :scope AND id IN #list(ids)

-- name: bump_macros
UPDATE macros SET seq = :seq WHERE scope = :scope AND id IN #list(ids)

-- ——— deletion ———

-- name: delete_storylines
DELETE FROM storylines WHERE scope = :scope AND id IN #list(ids)

-- name: delete_macros
DELETE FROM macros WHERE scope = :scope AND id IN #list(ids)

-- name: clear_storylines
DELETE FROM storylines WHERE scope = :scope

-- name: clear_macros
DELETE FROM macros WHERE scope = :scope

-- name: delete_link
DELETE FROM links WHERE scope = :scope AND a = :a AND b = :b

-- ——— reads ———

-- name: storylines
SELECT #storyline_columns FROM storylines y
 WHERE y.scope = :scope AND (CAST(:any AS BIGINT) = 1 OR y.id IN #list(ids))

-- name: macros
SELECT #macro_columns FROM macros w
 WHERE w.scope = :scope AND (CAST(:any AS BIGINT) = 1 OR w.id IN #list(ids))

-- name: storylines_since
SELECT #storyline_columns FROM storylines y WHERE y.scope = :scope AND y.seq > :after_seq

-- name: macros_since
SELECT #macro_columns FROM macros w WHERE w.scope = :scope AND w.seq > :after_seq

-- name: unembedded_stories
-- The text is that of `search_text`: the name, a line break, the description.
SELECT s.id, s.version, s.name || '
' || s.description
  FROM (SELECT y.id, y.version, y.name, y.description FROM storylines y WHERE y.scope = :scope
        UNION ALL
        SELECT w.id, w.version, w.name, w.description FROM macros w WHERE w.scope = :scope) s
 WHERE NOT EXISTS
   (SELECT 1 FROM graph_vectors v
     WHERE v.scope = :scope AND v.id = s.id
       AND v.generation = COALESCE(CAST(:generation AS BIGINT),
              (SELECT g.number FROM generations g WHERE g.state = 'current'), 1))
 ORDER BY s.id LIMIT CAST(:limit AS BIGINT)

-- name: count_unbuilt_stories
SELECT COUNT(*)
  FROM (SELECT y.id FROM storylines y WHERE y.scope = :scope
        UNION ALL
        SELECT w.id FROM macros w WHERE w.scope = :scope) s
 WHERE NOT EXISTS
   (SELECT 1 FROM graph_vectors v
     WHERE v.scope = :scope AND v.id = s.id AND v.generation = CAST(:generation AS BIGINT))

-- name: texts_of_storylines
SELECT name, description, written_by FROM storylines WHERE scope = :scope

-- name: texts_of_macros
SELECT name, description, written_by FROM macros WHERE scope = :scope

-- ——— archived sources ———

-- name: archived_sources
SELECT id FROM marks WHERE scope = :scope AND archived_at IS NOT NULL

-- name: set_archived
-- A source that this user never read has no marks yet.
INSERT INTO marks (
  scope, id, salience, touched_at, access_count, recall_frequency, last_recall_interval,
  decay_gradient, archived_at
) VALUES (:scope, :id, :salience, NULL, 0, 0, NULL, :decay_gradient, :archived_at)
ON CONFLICT (scope, id) DO UPDATE SET archived_at = excluded.archived_at
