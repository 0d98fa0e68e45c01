-- Statements about sources and passages, for both databases; the notation is that of queries.sql.
--   #source_columns, #passage_columns  in the order that sources.py reads them

-- name: insert_source
INSERT INTO sources (
  scope, id, seq, version, user_id, team_id, origin, external_id, source_type, content_type,
  context_type, title, summary, keywords, tags, participants, provenance, thread_id, sensitivity,
  ttl_policy, ends_at, status, started_at, ended_at, processing_started_at, processing_completed_at,
  extraction_started_at, extraction_completed_at, state, purge_at, passages, parts, digest,
  created_at, updated_at
) VALUES (
  :scope, :id, :seq, :version, :user_id, :team_id, :origin, :external_id, :source_type,
  :content_type, :context_type, :title, :summary, :keywords, :tags, :participants, :provenance,
  :thread_id, :sensitivity, :ttl_policy, :ends_at, :status, :started_at, :ended_at, :processing_started_at,
  :processing_completed_at, :extraction_started_at, :extraction_completed_at, :state, :purge_at,
  :passages, :parts, :digest, :created_at, :updated_at
)
ON CONFLICT DO NOTHING
RETURNING id

-- name: update_source
UPDATE sources
   SET seq = :seq, version = :version, user_id = :user_id, team_id = :team_id,
       source_type = :source_type, content_type = :content_type, context_type = :context_type,
       title = :title, summary = :summary, keywords = :keywords, tags = :tags,
       participants = :participants, provenance = :provenance, thread_id = :thread_id,
       sensitivity = :sensitivity, ttl_policy = :ttl_policy, ends_at = :ends_at,
       status = :status, started_at = :started_at,
       ended_at = :ended_at, processing_started_at = :processing_started_at,
       processing_completed_at = :processing_completed_at,
       extraction_started_at = :extraction_started_at,
       extraction_completed_at = :extraction_completed_at, state = :state, purge_at = :purge_at,
       passages = :passages, parts = :parts, digest = :digest, updated_at = :updated_at
 WHERE scope = :scope AND id = :id AND version = :expected_version
RETURNING id

-- name: insert_original
INSERT INTO originals (scope, id, part, raw) VALUES (:scope, :id, :part, :raw)

-- name: delete_originals
DELETE FROM originals WHERE scope = :scope AND id IN #list(ids)

-- name: insert_passage
INSERT INTO passages (
  scope, id, number, turn, unit, seq, text, speaker, role, at, session, label, suspicious,
  arrived_at, purge_at
) VALUES (
  :scope, :id, :number, :turn, :unit, :seq, :text, :speaker, :role, :at, :session, :label,
  :suspicious, :arrived_at, :purge_at
)

-- name: revise_passage
UPDATE passages SET text = :text, purge_at = :purge_at
 WHERE scope = :scope AND id = :id AND number = :number

-- name: replace_original
UPDATE originals SET raw = :raw WHERE scope = :scope AND id = :id AND part = :part

-- name: delete_terms_of_passages
DELETE FROM terms
 WHERE scope = :scope
   AND unit IN (SELECT p.unit FROM passages p
                 WHERE p.scope = :scope AND p.id = :id AND p.number IN #ints(numbers))

-- name: delete_vectors_of_passages
DELETE FROM vectors
 WHERE scope = :scope
   AND unit IN (SELECT p.unit FROM passages p
                 WHERE p.scope = :scope AND p.id = :id AND p.number IN #ints(numbers))

-- name: texts_of_numbered_passages
SELECT text FROM passages WHERE scope = :scope AND id = :id AND number IN #ints(numbers)

-- name: delete_passage_terms
DELETE FROM terms
 WHERE scope = :scope
   AND unit IN (SELECT p.unit FROM passages p
                 WHERE p.scope = :scope AND p.id IN #list(ids)
                   AND (CAST(:hidden AS BIGINT) = 1 OR p.purge_at IS NULL))

-- name: delete_passage_vectors
DELETE FROM vectors
 WHERE scope = :scope
   AND unit IN (SELECT p.unit FROM passages p
                 WHERE p.scope = :scope AND p.id IN #list(ids)
                   AND (CAST(:hidden AS BIGINT) = 1 OR p.purge_at IS NULL))

-- name: delete_passages
DELETE FROM passages
 WHERE scope = :scope AND id IN #list(ids)
   AND (CAST(:hidden AS BIGINT) = 1 OR purge_at IS NULL)

-- name: delete_sources
DELETE FROM sources WHERE scope = :scope AND id IN #list(ids)

-- name: clear_sources
DELETE FROM sources WHERE scope = :scope

-- name: clear_originals
DELETE FROM originals WHERE scope = :scope

-- name: clear_passages
DELETE FROM passages WHERE scope = :scope

-- name: sources
SELECT #source_columns FROM sources s WHERE s.scope = :scope AND s.id IN #list(ids)

-- name: source_by_alias
SELECT #source_columns FROM sources s
 WHERE s.scope = :scope AND s.origin = :origin AND s.external_id = :external_id

-- name: source_page
SELECT #source_columns
  FROM sources s
 WHERE s.scope = :scope
   AND s.state IN #list(states)
   AND (CAST(:cleared AS BIGINT) = 1 OR s.sensitivity <> 'high')
   AND (CAST(:any_type AS BIGINT) = 1 OR s.source_type IN #list(types))
   AND (CAST(:any_status AS BIGINT) = 1 OR s.status IN #list(statuses))
   AND (CAST(:any_tag AS BIGINT) = 1
        OR EXISTS (SELECT 1 FROM #each(s.tags) WHERE t.value IN #list(tags)))
   AND (CAST(:thread_id AS TEXT) IS NULL OR s.thread_id = CAST(:thread_id AS TEXT))
   AND (CAST(:origin AS TEXT) IS NULL OR s.origin = CAST(:origin AS TEXT))
   AND (CAST(:purgeable_by AS BIGINT) IS NULL OR s.purge_at <= CAST(:purgeable_by AS BIGINT))
   AND (CAST(:restorable_at AS BIGINT) IS NULL OR s.purge_at > CAST(:restorable_at AS BIGINT))
   AND (CAST(:live_at AS BIGINT) IS NULL
        OR s.ends_at IS NULL OR s.ends_at > CAST(:live_at AS BIGINT))
   AND (CAST(:ended_by AS BIGINT) IS NULL OR s.ends_at <= CAST(:ended_by AS BIGINT))
   AND (CAST(:said_after AS BIGINT) IS NULL
        OR COALESCE(s.ended_at, s.started_at, s.created_at) > CAST(:said_after AS BIGINT))
   AND (CAST(:said_before AS BIGINT) IS NULL
        OR COALESCE(s.started_at, s.created_at) < CAST(:said_before AS BIGINT))
   AND (CAST(:now AS BIGINT) = 1 OR EXISTS (
         SELECT 1 FROM passages p
          WHERE p.scope = s.scope AND p.id = s.id
            AND (CAST(:as_of AS BIGINT) IS NULL OR p.at <= CAST(:as_of AS BIGINT))
            AND (CAST(:known_at AS BIGINT) IS NULL
                 OR COALESCE(p.arrived_at, s.processing_completed_at, s.created_at)
                    <= CAST(:known_at AS BIGINT))))
   AND (CAST(:anybody AS BIGINT) = 1 OR s.id IN #list(among))
   AND (CAST(:brought_by AS TEXT) IS NULL OR s.user_id = CAST(:brought_by AS TEXT))
   AND (CAST(:after_at AS BIGINT) IS NULL
        OR (s.created_at, s.id) < (CAST(:after_at AS BIGINT), CAST(:after_id AS TEXT)))
 ORDER BY s.created_at DESC, s.id DESC
 LIMIT CAST(:limit AS BIGINT)

-- name: original
SELECT raw FROM originals WHERE scope = :scope AND id = :id ORDER BY part

-- name: passages_by_unit
SELECT #passage_columns FROM passages p
 WHERE p.scope = :scope AND p.unit IN #ints(units) AND p.purge_at IS NULL

-- name: passages_of
SELECT #passage_columns FROM passages p
 WHERE p.scope = :scope AND p.id = :id AND p.number >= :first AND p.number <= :last
   AND (CAST(:hidden AS BIGINT) = 1 OR p.purge_at IS NULL)
 ORDER BY p.number

-- name: hidden_passages
SELECT #passage_columns FROM passages p
 WHERE p.scope = :scope AND p.purge_at IS NOT NULL
   AND (CAST(:anywhere AS BIGINT) = 1 OR p.id IN #list(ids))
   AND (CAST(:purgeable_by AS BIGINT) IS NULL
        OR (p.purge_at <= CAST(:purgeable_by AS BIGINT)
            AND SUBSTR(p.text, 1, 1) <> CAST(:blot AS TEXT)))
 ORDER BY p.id, p.number

-- name: all_passages
SELECT #passage_columns FROM passages p WHERE p.scope = :scope ORDER BY p.id, p.number

-- name: unembedded_passages
SELECT p.unit, p.speaker, s.content_type, s.title, p.text
  FROM passages p JOIN sources s ON s.scope = p.scope AND s.id = p.id
 WHERE p.scope = :scope AND p.purge_at IS NULL AND NOT EXISTS
   (SELECT 1 FROM vectors v
     WHERE v.scope = :scope AND v.unit = p.unit
       AND v.generation = COALESCE(CAST(:generation AS BIGINT),
              (SELECT g.number FROM generations g WHERE g.state = 'current'), 1))
 ORDER BY p.unit
 LIMIT CAST(:limit AS BIGINT)

-- name: insert_unit_vector
-- A unit is never reused, so a late vector matches its own text or nothing.
INSERT INTO vectors (scope, unit, generation, vector, checksum)
SELECT p.scope, p.unit, CAST(:generation AS BIGINT), CAST(:vector AS #bytes),
       CAST(:checksum AS BIGINT)
  FROM passages p
 WHERE p.scope = :scope AND p.unit = :unit
ON CONFLICT (scope, unit, generation)
DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum

-- name: insert_unit_terms
INSERT INTO terms (scope, unit, terms, traits)
SELECT p.scope, p.unit, CAST(:terms AS TEXT), CAST(:traits AS BIGINT) FROM passages p
 WHERE p.scope = :scope AND p.unit = :unit
ON CONFLICT (scope, unit) DO UPDATE SET terms = excluded.terms, traits = excluded.traits

-- name: bump_passages
UPDATE passages SET seq = :seq WHERE scope = :scope AND unit IN #ints(units)

-- name: bump_passages_of
-- For a restored source: a cache built while it was forgotten lacks its passages.
UPDATE passages SET seq = :seq WHERE scope = :scope AND id = :id

-- name: index_sources_all
SELECT s.id, s.user_id, s.title, s.participants, s.tags, s.sensitivity, s.source_type,
       s.thread_id, s.state, s.external_id, 0, s.ends_at
  FROM sources s WHERE s.scope = :scope AND s.state = 'active'

-- name: index_sources_since
-- Units rise with the numbers of a source's passages, so the first passage has the lowest; when
-- there is none, the returned number is above every unit.
SELECT s.id, s.user_id, s.title, s.participants, s.tags, s.sensitivity, s.source_type,
       s.thread_id, s.state, s.external_id,
       COALESCE((SELECT p.unit FROM passages p
                  WHERE p.scope = s.scope AND p.id = s.id AND p.purge_at IS NULL
                  ORDER BY p.number LIMIT 1),
                9223372036854775807),
       s.ends_at
  FROM sources s WHERE s.scope = :scope AND s.seq > :after_seq

-- name: index_passages_all
SELECT p.unit, p.id, p.number, p.speaker, p.role, p.session, p.at
  FROM passages p JOIN sources s ON s.scope = p.scope AND s.id = p.id
 WHERE p.scope = :scope AND s.state = 'active' AND p.purge_at IS NULL ORDER BY p.unit

-- name: index_passages_since
SELECT p.unit, p.id, p.number, p.speaker, p.role, p.session, p.at
  FROM passages p
 WHERE p.scope = :scope AND p.seq > :after_seq AND p.purge_at IS NULL ORDER BY p.unit

-- name: passage_terms_since
SELECT t.unit, t.terms, t.traits FROM terms t
 WHERE t.scope = :scope
   AND t.unit IN (SELECT p.unit FROM passages p WHERE p.scope = :scope AND p.seq > :after_seq)

-- name: passage_vectors_since
SELECT v.unit, v.vector FROM vectors v
 WHERE v.scope = :scope AND v.generation = :generation
   AND v.unit IN (SELECT p.unit FROM passages p WHERE p.scope = :scope AND p.seq > :after_seq)

-- name: count_sources
SELECT source_type, status,
       CASE WHEN state = 'active' AND ends_at <= CAST(:now AS BIGINT) THEN 'expired' ELSE state END,
       COUNT(*), COALESCE(SUM(passages), 0)
  FROM sources WHERE scope = :scope
   AND (CAST(:cleared AS BIGINT) = 1 OR sensitivity <> 'high')
 GROUP BY 1, 2, 3

-- name: count_unbuilt_passages
SELECT COUNT(*) FROM passages p
 WHERE p.scope = :scope AND p.purge_at IS NULL AND NOT EXISTS
   (SELECT 1 FROM vectors v
     WHERE v.scope = :scope AND v.unit = p.unit AND v.generation = CAST(:generation AS BIGINT))

-- name: loose_passages
SELECT
  (SELECT COUNT(*) FROM passages p WHERE p.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM sources s WHERE s.scope = :scope AND s.id = p.id)),
  (SELECT COUNT(*) FROM passages p WHERE p.scope = :scope AND p.purge_at IS NULL AND NOT EXISTS
    (SELECT 1 FROM terms t WHERE t.scope = :scope AND t.unit = p.unit)),
  (SELECT COUNT(*) FROM originals o WHERE o.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM sources s WHERE s.scope = :scope AND s.id = o.id)),
  (SELECT COUNT(*) FROM sources s WHERE s.scope = :scope AND s.status <> 'raw' AND s.passages <>
    (SELECT COUNT(*) FROM passages p WHERE p.scope = :scope AND p.id = s.id)),
  (SELECT COUNT(*) FROM sources s WHERE s.scope = :scope AND s.parts <>
    (SELECT COUNT(*) FROM originals o WHERE o.scope = :scope AND o.id = s.id))

-- name: texts_of_sources
SELECT origin, external_id, context_type, title, summary, keywords, tags, participants, provenance,
       thread_id
  FROM sources WHERE scope = :scope

-- name: texts_of_passages
SELECT text, speaker, role, session, label FROM passages WHERE scope = :scope

-- name: raw_originals
SELECT raw FROM originals WHERE scope = :scope
