-- Statements about the graph, for both databases; the notation is that of queries.sql.
--   #node_columns … #extraction_columns  in the order that graph_rows.py reads them

-- name: insert_node
INSERT INTO nodes (
  scope, id, seq, version, type, subtype, name, key, aliases, addresses, description, is_owner,
  confidence, sensitivity, ttl_policy, source_count, promotion_score, first_at, last_at, days,
  is_dirty, has_meso, has_macro, merged_into, stands, created_by, created_at, updated_at, text, purge_at
) VALUES (
  :scope, :id, :seq, :version, :type, :subtype, :name, :key, :aliases, :addresses, :description,
  :is_owner, :confidence, :sensitivity, :ttl_policy, :source_count, :promotion_score, :first_at,
  :last_at, :days, :is_dirty, :has_meso, :has_macro, :merged_into, :stands, :created_by,
  :created_at, :updated_at, :text, :purge_at
)

-- name: park_nodes
-- A name can move from one node to another in one changeset: first all of them release theirs.
UPDATE nodes SET stands = 0, is_owner = 0 WHERE scope = :scope AND id IN #list(ids)

-- name: update_node
UPDATE nodes
   SET seq = :seq, version = :version, type = :type, subtype = :subtype, name = :name, key = :key,
       aliases = :aliases, addresses = :addresses, description = :description,
       is_owner = :is_owner, confidence = :confidence, sensitivity = :sensitivity,
       ttl_policy = :ttl_policy, source_count = :source_count, promotion_score = :promotion_score,
       first_at = :first_at, last_at = :last_at, days = :days, is_dirty = :is_dirty,
       has_meso = :has_meso, has_macro = :has_macro, merged_into = :merged_into, stands = :stands,
       created_by = :created_by, created_at = :created_at, updated_at = :updated_at,
       purge_at = :purge_at,
       text = COALESCE(CAST(:text AS TEXT), text)
 WHERE scope = :scope AND id = :id AND version = :expected_version
RETURNING id

-- name: insert_edge
INSERT INTO edges (
  scope, id, seq, version, a, b, kind, type, description, attitude, proximity, confidence,
  sensitivity, valid_from, valid_to, recorded_at, invalidated_at, recorded_by, is_dirty, stands,
  created_at, updated_at, text, purge_at
) VALUES (
  :scope, :id, :seq, :version, :a, :b, :kind, :type, :description, :attitude, :proximity,
  :confidence, :sensitivity, :valid_from, :valid_to, :recorded_at, :invalidated_at, :recorded_by,
  :is_dirty, :stands, :created_at, :updated_at, :text, :purge_at
)

-- name: update_edge
UPDATE edges
   SET seq = :seq, version = :version, a = :a, b = :b, kind = :kind, type = :type,
       description = :description, attitude = :attitude, proximity = :proximity,
       confidence = :confidence, sensitivity = :sensitivity, valid_from = :valid_from,
       valid_to = :valid_to, recorded_at = :recorded_at, invalidated_at = :invalidated_at,
       recorded_by = :recorded_by, is_dirty = :is_dirty, stands = :stands,
       created_at = :created_at, updated_at = :updated_at,
       purge_at = :purge_at,
       text = COALESCE(CAST(:text AS TEXT), text)
 WHERE scope = :scope AND id = :id AND version = :expected_version
RETURNING id

-- name: insert_node_telling
INSERT INTO node_tellings (
  scope, id, node, cited_scope, cited_id, cited_type, cited_at, cited_sensitivity, cited_passage,
  teller, recorded_at, type, subtype, name, key, aliases, not_called, addresses, description,
  confidence, sensitivity, stands
) VALUES (
  :scope, :id, :node, :cited_scope, :cited_id, :cited_type, :cited_at, :cited_sensitivity,
  :cited_passage, :teller, :recorded_at, :type, :subtype, :name, :key, :aliases, :not_called,
  :addresses, :description, :confidence, :sensitivity, :stands
)

-- name: insert_edge_telling
INSERT INTO edge_tellings (
  scope, id, edge, a, b, type, cited_scope, cited_id, cited_type, cited_at, cited_sensitivity,
  cited_passage, teller, recorded_at, valid_from, valid_to, ends, beside, attitude, proximity,
  description, confidence, sensitivity, stands
) VALUES (
  :scope, :id, :edge, :a, :b, :type, :cited_scope, :cited_id, :cited_type, :cited_at,
  :cited_sensitivity, :cited_passage, :teller, :recorded_at, :valid_from, :valid_to, :ends,
  :beside, :attitude, :proximity, :description, :confidence, :sensitivity, :stands
)

-- name: insert_note
INSERT INTO graph_notes (
  scope, id, seq, about, content, added_by, date_added, expires_at, cited_scope, cited_id,
  cited_type, cited_at, cited_sensitivity, cited_passage, sensitivity, stands, purge_at
) VALUES (
  :scope, :id, :seq, :about, :content, :added_by, :date_added, :expires_at, :cited_scope,
  :cited_id, :cited_type, :cited_at, :cited_sensitivity, :cited_passage, :sensitivity, :stands,
  :purge_at
)

-- name: insert_artifact
INSERT INTO artifacts (
  scope, id, seq, name, content_type, output, description, cited_scope, cited_id, cited_type,
  cited_at, cited_sensitivity, cited_passage, sensitivity, ttl_policy, created_by, created_at,
  updated_at, purge_at
) VALUES (
  :scope, :id, :seq, :name, :content_type, :output, :description, :cited_scope, :cited_id,
  :cited_type, :cited_at, :cited_sensitivity, :cited_passage, :sensitivity, :ttl_policy,
  :created_by, :created_at, :updated_at, :purge_at
)

-- name: put_extraction
INSERT INTO extractions (
  scope, source_scope, source, started_at, completed_at, passages, digest, heard, stands
) VALUES (
  :scope, :source_scope, :source, :started_at, :completed_at, :passages, :digest, :heard, :stands
)
ON CONFLICT (scope, source, source_scope) DO UPDATE
   SET started_at = excluded.started_at, completed_at = excluded.completed_at,
       passages = excluded.passages, digest = excluded.digest, heard = excluded.heard,
       stands = excluded.stands

-- name: put_graph_vector
INSERT INTO graph_vectors (scope, id, generation, vector, checksum)
VALUES (:scope, :id, :generation, :vector, :checksum)
ON CONFLICT (scope, id, generation)
DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum

-- name: insert_late_graph_vector
-- An item that changed since its text was read gets none: the next run embeds it.
INSERT INTO graph_vectors (scope, id, generation, vector, checksum)
SELECT p.scope, p.id, CAST(:generation AS BIGINT), CAST(:vector AS #bytes),
       CAST(:checksum AS BIGINT)
  FROM (SELECT n.scope, n.id FROM nodes n
         WHERE n.scope = :scope AND n.id = :id AND n.version = :version
        UNION ALL
        SELECT e.scope, e.id FROM edges e
         WHERE e.scope = :scope AND e.id = :id AND e.version = :version
        UNION ALL
        SELECT y.scope, y.id FROM storylines y
         WHERE y.scope = :scope AND y.id = :id AND y.version = :version
        UNION ALL
        SELECT w.scope, w.id FROM macros w
         WHERE w.scope = :scope AND w.id = :id AND w.version = :version) p
 WHERE p.id = :id
ON CONFLICT (scope, id, generation)
DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum

-- name: bump_nodes
UPDATE nodes SET seq = :seq WHERE scope = :scope AND id IN #list(ids)

-- name: bump_edges
UPDATE edges SET seq = :seq WHERE scope = :scope AND id IN #list(ids)

-- ——— deletion ———

-- name: delete_graph_vectors
DELETE FROM graph_vectors WHERE scope = :scope AND id IN #list(ids)

-- name: delete_node_tellings
DELETE FROM node_tellings WHERE scope = :scope AND id IN #list(ids)

-- name: delete_edge_tellings
DELETE FROM edge_tellings WHERE scope = :scope AND id IN #list(ids)

-- name: delete_tellings_of_nodes
DELETE FROM node_tellings WHERE scope = :scope AND node IN #list(ids)

-- name: delete_tellings_of_ends
DELETE FROM edge_tellings WHERE scope = :scope AND (a IN #list(ids) OR b IN #list(ids))

-- name: delete_tellings_of_edges
DELETE FROM edge_tellings WHERE scope = :scope AND edge IN #list(ids)

-- name: delete_notes
DELETE FROM graph_notes WHERE scope = :scope AND id IN #list(ids)

-- name: delete_notes_about
DELETE FROM graph_notes WHERE scope = :scope AND about IN #list(ids)

-- name: delete_artifacts
DELETE FROM artifacts WHERE scope = :scope AND id IN #list(ids)

-- name: delete_marks
DELETE FROM marks WHERE scope = :scope AND id IN #list(ids)

-- name: delete_nodes
DELETE FROM nodes WHERE scope = :scope AND id IN #list(ids)

-- name: delete_edges
DELETE FROM edges WHERE scope = :scope AND id IN #list(ids)

-- name: delete_extraction
DELETE FROM extractions
 WHERE scope = :scope AND source = :source AND source_scope = :source_scope

-- name: delete_marks_of_elsewhere
-- The source is another scope's, so its marks here are deleted with the extraction.
DELETE FROM marks
 WHERE scope = :scope AND id = :source
   AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.scope = :scope AND s.id = :source)

-- name: clear_nodes
DELETE FROM nodes WHERE scope = :scope

-- name: clear_node_tellings
DELETE FROM node_tellings WHERE scope = :scope

-- name: clear_edges
DELETE FROM edges WHERE scope = :scope

-- name: clear_edge_tellings
DELETE FROM edge_tellings WHERE scope = :scope

-- name: clear_graph_notes
DELETE FROM graph_notes WHERE scope = :scope

-- name: clear_artifacts
DELETE FROM artifacts WHERE scope = :scope

-- name: clear_extractions
DELETE FROM extractions WHERE scope = :scope

-- name: clear_marks
DELETE FROM marks WHERE scope = :scope

-- name: clear_graph_vectors
DELETE FROM graph_vectors WHERE scope = :scope

-- ——— reads ———

-- name: nodes
SELECT #node_columns FROM nodes n WHERE n.scope = :scope AND n.id IN #list(ids)

-- name: merged_into
SELECT #node_columns FROM nodes n
 WHERE n.scope = :scope AND n.merged_into IN #list(ids) ORDER BY n.created_at, n.id

-- name: edges
SELECT #edge_columns FROM edges e WHERE e.scope = :scope AND e.id IN #list(ids)

-- name: node_tellings
SELECT #node_telling_columns FROM node_tellings t
 WHERE t.scope = :scope AND t.node IN #list(ids) ORDER BY t.recorded_at, t.id

-- name: edge_tellings
SELECT #edge_telling_columns FROM edge_tellings t WHERE t.scope = :scope AND t.a IN #list(ids)
UNION
SELECT #edge_telling_columns FROM edge_tellings t WHERE t.scope = :scope AND t.b IN #list(ids)

-- name: edge_tellings_of
SELECT #edge_telling_columns FROM edge_tellings t
 WHERE t.scope = :scope AND t.a IN #list(ids) AND t.type IN #list(types)
UNION ALL
SELECT #edge_telling_columns FROM edge_tellings t
 WHERE t.scope = :scope AND t.b IN #list(ids) AND NOT (t.a IN #list(ids))
   AND t.type IN #list(types)

-- name: forgotten_of_graph
SELECT id, purge_at FROM nodes WHERE scope = :scope AND purge_at IS NOT NULL
UNION ALL
SELECT id, purge_at FROM edges WHERE scope = :scope AND purge_at IS NOT NULL
UNION ALL
SELECT id, purge_at FROM graph_notes WHERE scope = :scope AND purge_at IS NOT NULL
UNION ALL
SELECT id, purge_at FROM artifacts WHERE scope = :scope AND purge_at IS NOT NULL

-- name: notes_called
SELECT #note_columns FROM graph_notes o WHERE o.scope = :scope AND o.id IN #list(ids)

-- name: node_tellings_by
SELECT #node_telling_columns FROM node_tellings t
 WHERE t.scope = :scope AND t.cited_id IN #list(sources) ORDER BY t.recorded_at, t.id

-- name: edge_tellings_by
SELECT #edge_telling_columns FROM edge_tellings t
 WHERE t.scope = :scope AND t.cited_id IN #list(sources) ORDER BY t.recorded_at, t.id

-- name: notes_by
SELECT #note_columns FROM graph_notes o
 WHERE o.scope = :scope AND o.cited_id IN #list(sources) ORDER BY o.date_added, o.id

-- name: notes
SELECT #note_columns FROM graph_notes o
 WHERE o.scope = :scope AND o.about IN #list(ids) ORDER BY o.date_added DESC, o.id DESC

-- name: notes_ended
SELECT #note_columns FROM graph_notes o
 WHERE o.scope = :scope AND o.expires_at <= CAST(:by AS BIGINT)
 ORDER BY o.expires_at, o.id LIMIT CAST(:limit AS BIGINT)

-- name: artifacts
SELECT #artifact_columns FROM artifacts f
 WHERE f.scope = :scope AND (CAST(:any AS BIGINT) = 1 OR f.id IN #list(ids))
 ORDER BY f.created_at DESC, f.id DESC

-- name: ephemeral_artifacts
SELECT f.id FROM artifacts f
 WHERE f.scope = :scope AND f.ttl_policy = 'ephemeral'
   AND f.created_at <= CAST(:made_by AS BIGINT)
 ORDER BY f.created_at, f.id

-- name: extractions
SELECT #extraction_columns FROM extractions x
 WHERE x.scope = :scope AND (CAST(:any AS BIGINT) = 1 OR x.source IN #list(sources))
 ORDER BY x.completed_at, x.source, x.source_scope

-- name: unembedded_nodes
SELECT n.id, n.version, n.text FROM nodes n
 WHERE n.scope = :scope AND n.text <> '' AND NOT EXISTS
   (SELECT 1 FROM graph_vectors v
     WHERE v.scope = :scope AND v.id = n.id
       AND v.generation = COALESCE(CAST(:generation AS BIGINT),
              (SELECT g.number FROM generations g WHERE g.state = 'current'), 1))
 ORDER BY n.id LIMIT CAST(:limit AS BIGINT)

-- name: unembedded_edges
SELECT e.id, e.version, e.text FROM edges e
 WHERE e.scope = :scope AND e.text <> '' AND NOT EXISTS
   (SELECT 1 FROM graph_vectors v
     WHERE v.scope = :scope AND v.id = e.id
       AND v.generation = COALESCE(CAST(:generation AS BIGINT),
              (SELECT g.number FROM generations g WHERE g.state = 'current'), 1))
 ORDER BY e.id LIMIT CAST(:limit AS BIGINT)

-- ——— the whole graph, or newer rows: for caches and exports ———

-- name: graph_nodes_since
SELECT #node_columns FROM nodes n WHERE n.scope = :scope AND n.seq > :after_seq

-- name: graph_edges_since
SELECT #edge_columns FROM edges e
 WHERE e.scope = :scope AND e.seq > :after_seq ORDER BY e.recorded_at, e.id

-- name: graph_mentions_since
-- Each source counts as one mention of a node, on its own date.
SELECT t.node, t.cited_id, MIN(t.cited_at), MIN(t.cited_scope), MIN(t.cited_type),
       MAX(CASE WHEN t.cited_sensitivity = 'high' THEN 1 ELSE 0 END)
  FROM node_tellings t
  JOIN nodes n ON n.scope = t.scope AND n.id = t.node
 WHERE t.scope = :scope AND n.seq > :after_seq AND t.stands = 1 AND t.cited_id IS NOT NULL
 GROUP BY t.node, t.cited_id

-- name: graph_notes_since
SELECT #note_columns FROM graph_notes o
 WHERE o.scope = :scope
   AND o.about IN (SELECT p.about FROM graph_notes p
                    WHERE p.scope = :scope AND p.seq > :after_seq)
 ORDER BY o.date_added DESC, o.id DESC

-- name: graph_artifacts_since
SELECT #artifact_columns FROM artifacts f
 WHERE f.scope = :scope AND f.seq > :after_seq ORDER BY f.created_at DESC, f.id DESC

-- name: graph_vectors_since
SELECT v.id, v.vector FROM graph_vectors v
  JOIN nodes n ON n.scope = v.scope AND n.id = v.id
 WHERE v.scope = :scope AND v.generation = :generation AND n.seq > :after_seq
UNION ALL
SELECT v.id, v.vector FROM graph_vectors v
  JOIN edges e ON e.scope = v.scope AND e.id = v.id
 WHERE v.scope = :scope AND v.generation = :generation AND e.seq > :after_seq
UNION ALL
SELECT v.id, v.vector FROM graph_vectors v
  JOIN storylines y ON y.scope = v.scope AND y.id = v.id
 WHERE v.scope = :scope AND v.generation = :generation AND y.seq > :after_seq
UNION ALL
SELECT v.id, v.vector FROM graph_vectors v
  JOIN macros w ON w.scope = v.scope AND w.id = v.id
 WHERE v.scope = :scope AND v.generation = :generation AND w.seq > :after_seq

-- name: graph_vectors_all
SELECT id, vector FROM graph_vectors WHERE scope = :scope AND generation = :generation

-- name: all_node_tellings
SELECT #node_telling_columns FROM node_tellings t
 WHERE t.scope = :scope ORDER BY t.recorded_at, t.id

-- name: all_edge_tellings
SELECT #edge_telling_columns FROM edge_tellings t
 WHERE t.scope = :scope ORDER BY t.recorded_at, t.id

-- name: graph_texts
SELECT n.id, n.text FROM nodes n WHERE n.scope = :scope AND n.text <> ''
UNION ALL
SELECT e.id, e.text FROM edges e WHERE e.scope = :scope AND e.text <> ''
UNION ALL
SELECT y.id, y.name || '
' || y.description FROM storylines y WHERE y.scope = :scope
UNION ALL
SELECT w.id, w.name || '
' || w.description FROM macros w WHERE w.scope = :scope

-- ——— salience ———

-- name: marks
SELECT #marks_columns FROM marks k
 WHERE k.scope = :scope AND (CAST(:any AS BIGINT) = 1 OR k.id IN #list(ids))

-- name: put_marks
INSERT INTO marks (
  scope, id, salience, touched_at, access_count, recall_frequency, last_recall_interval,
  decay_gradient, archived_at
) VALUES (
  :scope, :id, :salience, :touched_at, :access_count, :recall_frequency, :last_recall_interval,
  :decay_gradient, :archived_at
)
ON CONFLICT (scope, id) DO UPDATE
   SET salience = excluded.salience, touched_at = excluded.touched_at,
       access_count = excluded.access_count, recall_frequency = excluded.recall_frequency,
       last_recall_interval = excluded.last_recall_interval,
       decay_gradient = excluded.decay_gradient, archived_at = excluded.archived_at

-- name: readable
-- Items that can be accessed: creation time, confidence, TTL policy, sources of a storyline. A source
-- of another scope exists here since its extraction by this user.
SELECT n.id, n.created_at, n.confidence, n.ttl_policy, NULL FROM nodes n
 WHERE n.scope = :scope AND n.id IN #list(ids)
UNION ALL
SELECT e.id, e.created_at, e.confidence, 'decay', NULL FROM edges e
 WHERE e.scope = :scope AND e.id IN #list(ids)
UNION ALL
SELECT x.source, x.started_at, NULL, 'decay', NULL FROM extractions x
 WHERE x.scope = :scope AND x.source IN #list(ids)
UNION ALL
SELECT s.id, s.created_at, NULL, s.ttl_policy, NULL FROM sources s
 WHERE s.scope = :scope AND s.id IN #list(ids)
UNION ALL
SELECT y.id, y.created_at, NULL, y.ttl_policy, y.sources FROM storylines y
 WHERE y.scope = :scope AND y.id IN #list(ids)
UNION ALL
SELECT w.id, w.created_at, NULL, w.ttl_policy, NULL FROM macros w
 WHERE w.scope = :scope AND w.id IN #list(ids)

-- ——— statistics ———

-- name: count_nodes
SELECT type, subtype, COUNT(*) FROM nodes
 WHERE scope = :scope AND stands = 1 AND merged_into IS NULL AND type IN #list(types)
   AND (CAST(:cleared AS BIGINT) = 1 OR sensitivity <> 'high')
 GROUP BY 1, 2

-- name: count_edges
SELECT COUNT(*) FROM edges e
 WHERE e.scope = :scope AND e.stands = 1
   AND (CAST(:cleared AS BIGINT) = 1 OR e.sensitivity <> 'high')
   AND NOT EXISTS (SELECT 1 FROM nodes n
                    WHERE n.scope = :scope AND n.id IN (e.a, e.b)
                      AND (NOT n.type IN #list(types)
                           OR (CAST(:cleared AS BIGINT) = 0 AND n.sensitivity = 'high')))

-- name: count_notes
-- Notes on edges count only for callers who see every category: else both ends would have to be
-- checked.
SELECT COUNT(*) FROM graph_notes o
 WHERE o.scope = :scope AND o.stands = 1
   AND (CAST(:cleared AS BIGINT) = 1 OR COALESCE(o.cited_sensitivity, 'normal') <> 'high')
   AND (CAST(:everywhere AS BIGINT) = 1 OR EXISTS
     (SELECT 1 FROM nodes n
       WHERE n.scope = :scope AND n.id = o.about AND n.type IN #list(types)
         AND (CAST(:cleared AS BIGINT) = 1 OR n.sensitivity <> 'high')))

-- name: count_artifacts
SELECT COUNT(*) FROM artifacts f
 WHERE f.scope = :scope AND (CAST(:cleared AS BIGINT) = 1 OR f.sensitivity <> 'high')

-- name: count_unbuilt_graph
SELECT
  (SELECT COUNT(*) FROM nodes n WHERE n.scope = :scope AND n.text <> '' AND NOT EXISTS
    (SELECT 1 FROM graph_vectors v
      WHERE v.scope = :scope AND v.id = n.id AND v.generation = CAST(:generation AS BIGINT)))
  + (SELECT COUNT(*) FROM edges e WHERE e.scope = :scope AND e.text <> '' AND NOT EXISTS
    (SELECT 1 FROM graph_vectors v
      WHERE v.scope = :scope AND v.id = e.id AND v.generation = CAST(:generation AS BIGINT)))

-- name: remove_graph_generations
DELETE FROM graph_vectors
 WHERE scope = :scope AND generation NOT IN
   (SELECT g.number FROM generations g WHERE g.state IN ('current', 'building'))

-- name: loose_graph
SELECT
  (SELECT COUNT(*) FROM node_tellings t WHERE t.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM nodes n WHERE n.scope = :scope AND n.id = t.node)),
  (SELECT COUNT(*) FROM edge_tellings t WHERE t.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM edges e WHERE e.scope = :scope AND e.id = t.edge)),
  (SELECT COUNT(*) FROM nodes n WHERE n.scope = :scope AND n.stands = 1 AND n.is_owner = 0
      AND NOT EXISTS
    (SELECT 1 FROM node_tellings t WHERE t.scope = :scope AND t.node = n.id) AND NOT EXISTS
    (SELECT 1 FROM nodes p WHERE p.scope = :scope AND p.merged_into = n.id)),
  (SELECT COUNT(*) FROM edges e WHERE e.scope = :scope AND e.stands = 1 AND NOT EXISTS
    (SELECT 1 FROM edge_tellings t WHERE t.scope = :scope AND t.edge = e.id)),
  (SELECT COUNT(*) FROM nodes n WHERE n.scope = :scope AND n.merged_into IS NOT NULL
      AND NOT EXISTS
    (SELECT 1 FROM nodes p WHERE p.scope = :scope AND p.id = n.merged_into)),
  (SELECT COUNT(*) FROM graph_notes o WHERE o.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM nodes n WHERE n.scope = :scope AND n.id = o.about) AND NOT EXISTS
    (SELECT 1 FROM edges e WHERE e.scope = :scope AND e.id = o.about)),
  (SELECT COUNT(*) FROM graph_vectors v WHERE v.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM nodes n WHERE n.scope = :scope AND n.id = v.id) AND NOT EXISTS
    (SELECT 1 FROM edges e WHERE e.scope = :scope AND e.id = v.id) AND NOT EXISTS
    (SELECT 1 FROM storylines y WHERE y.scope = :scope AND y.id = v.id) AND NOT EXISTS
    (SELECT 1 FROM macros w WHERE w.scope = :scope AND w.id = v.id)),
  (SELECT COUNT(*) FROM marks k WHERE k.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM nodes n WHERE n.scope = :scope AND n.id = k.id) AND NOT EXISTS
    (SELECT 1 FROM edges e WHERE e.scope = :scope AND e.id = k.id) AND NOT EXISTS
    (SELECT 1 FROM sources s WHERE s.scope = :scope AND s.id = k.id) AND NOT EXISTS
    (SELECT 1 FROM extractions x WHERE x.scope = :scope AND x.source = k.id) AND NOT EXISTS
    (SELECT 1 FROM storylines y WHERE y.scope = :scope AND y.id = k.id) AND NOT EXISTS
    (SELECT 1 FROM macros w WHERE w.scope = :scope AND w.id = k.id)),
  (SELECT COUNT(*) FROM storylines y WHERE y.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM nodes n WHERE n.scope = :scope AND n.id = y.anchor)),
  (SELECT COUNT(*) FROM macros w WHERE w.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM nodes n WHERE n.scope = :scope AND n.id = w.anchor))

-- name: texts_of_nodes
SELECT subtype, name, key, aliases, addresses, description, created_by, text
  FROM nodes WHERE scope = :scope

-- name: texts_of_node_tellings
SELECT teller, subtype, name, key, aliases, not_called, addresses, description
  FROM node_tellings WHERE scope = :scope

-- name: texts_of_edges
SELECT type, description, recorded_by, text FROM edges WHERE scope = :scope

-- name: texts_of_edge_tellings
SELECT type, teller, description FROM edge_tellings WHERE scope = :scope

-- name: texts_of_graph_notes
SELECT content, added_by FROM graph_notes WHERE scope = :scope

-- name: texts_of_artifacts
SELECT name, content_type, output, description, created_by FROM artifacts WHERE scope = :scope
