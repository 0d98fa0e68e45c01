-- Time travel; the notation is that of queries.sql.
--   `at`: when a passage was said; `arrived_at`: when this store received it

-- name: unchanged_then
-- Memories with one version, which are most: for them this equals model/memory/lifecycle.memory_at.
-- Forgotten and expired memories are not visible at any moment.
SELECT m.unit
  FROM memories m
  JOIN versions v ON v.scope = m.scope AND v.id = m.id AND v.version = m.version
 WHERE m.scope = :scope AND m.state = 'active'
   AND (m.ends_at IS NULL OR m.ends_at > CAST(:now AS BIGINT))
   AND (CAST(:as_of AS BIGINT) IS NULL
        OR (COALESCE(m.valid_from, m.created_at) <= CAST(:as_of AS BIGINT)
            AND (m.valid_to IS NULL OR m.valid_to > CAST(:as_of AS BIGINT))))
   AND (CAST(:known_at AS BIGINT) IS NULL
        OR (m.arrived_at <= CAST(:known_at AS BIGINT)
            AND v.recorded_at <= CAST(:known_at AS BIGINT)))
   AND NOT EXISTS (SELECT 1 FROM versions o
                    WHERE o.scope = m.scope AND o.id = m.id AND o.version <> m.version)

-- name: changed_lives
-- All others that are visible at some moment: changed or superseded since.
SELECT m.unit, v.recorded_at, #columns
  FROM memories m
  JOIN versions v ON v.scope = m.scope AND v.id = m.id AND v.version = m.version
  LEFT JOIN reads r ON r.scope = m.scope AND r.id = m.id
 WHERE m.scope = :scope AND m.state <> 'soft_deleted'
   AND (m.ends_at IS NULL OR m.ends_at > CAST(:now AS BIGINT))
   AND (m.state <> 'active'
        OR EXISTS (SELECT 1 FROM versions o
                    WHERE o.scope = m.scope AND o.id = m.id AND o.version <> m.version))
 ORDER BY m.unit

-- name: earlier_versions
-- Without the present version, which is the memory itself.
SELECT v.id, v.version, v.content, v.fields, v.recorded_at, v.invalidated_at
  FROM versions v JOIN memories m ON m.scope = v.scope AND m.id = v.id
 WHERE v.scope = :scope AND m.state <> 'soft_deleted' AND v.version <> m.version
 ORDER BY v.id, v.version

-- name: next_end
SELECT MIN(ends_at) FROM (
  SELECT MIN(m.ends_at) AS ends_at FROM memories m
   WHERE m.scope = :scope AND m.state <> 'soft_deleted' AND m.ends_at > CAST(:now AS BIGINT)
  UNION ALL
  SELECT MIN(s.ends_at) FROM sources s
   WHERE s.scope = :scope AND s.state = 'active' AND s.ends_at > CAST(:now AS BIGINT)) AS first

-- name: ended_sources
SELECT s.id FROM sources s
 WHERE s.scope = :scope AND s.state = 'active' AND s.ends_at <= CAST(:now AS BIGINT)

-- name: sources_cut_then
-- Sources with passages that were not said or not known then.
SELECT DISTINCT p.id
  FROM passages p JOIN sources s ON s.scope = p.scope AND s.id = p.id
 WHERE p.scope = :scope AND s.state = 'active'
   AND (p.at > CAST(:as_of AS BIGINT)
        OR COALESCE(p.arrived_at, s.processing_completed_at, s.created_at)
           > CAST(:known_at AS BIGINT))

-- name: passages_then
SELECT p.unit, p.id, p.number, p.speaker, p.role, p.session, p.at
  FROM passages p JOIN sources s ON s.scope = p.scope AND s.id = p.id
 WHERE p.scope = :scope AND p.id IN #list(ids) AND p.purge_at IS NULL
   AND (CAST(:as_of AS BIGINT) IS NULL OR p.at <= CAST(:as_of AS BIGINT))
   AND (CAST(:known_at AS BIGINT) IS NULL
        OR COALESCE(p.arrived_at, s.processing_completed_at, s.created_at)
           <= CAST(:known_at AS BIGINT))
 ORDER BY p.unit

-- name: index_sources_of
SELECT s.id, s.user_id, s.title, s.participants, s.tags, s.sensitivity, s.source_type,
       s.thread_id, s.state, s.external_id, 0, s.ends_at
  FROM sources s WHERE s.scope = :scope AND s.id IN #list(ids)

-- name: index_sources_open
-- What a guest may see: only the owner sees forgotten and sensitive sources. At a past moment, only
-- sources with a passage that was said and known then.
SELECT s.id, s.user_id, s.title, s.participants, s.tags, s.sensitivity, s.source_type,
       s.thread_id, s.state, s.external_id, 0, s.ends_at
  FROM sources s
 WHERE s.scope = :scope AND s.id IN #list(ids)
   AND s.state = 'active' AND s.sensitivity <> 'high'
   AND ((CAST(:as_of AS BIGINT) IS NULL AND CAST(:known_at AS BIGINT) IS NULL)
        OR EXISTS (
          SELECT 1 FROM passages p
           WHERE p.scope = s.scope AND p.id = s.id
             AND (CAST(:as_of AS BIGINT) IS NULL OR p.at <= CAST(:as_of AS BIGINT))
             AND (CAST(:known_at AS BIGINT) IS NULL
                  OR COALESCE(p.arrived_at, s.processing_completed_at, s.created_at)
                     <= CAST(:known_at AS BIGINT))))

-- name: units_of_sources_then
SELECT p.id, p.unit
  FROM passages p JOIN sources s ON s.scope = p.scope AND s.id = p.id
 WHERE p.scope = :scope AND p.id IN #list(ids) AND p.purge_at IS NULL
   AND (CAST(:as_of AS BIGINT) IS NULL OR p.at <= CAST(:as_of AS BIGINT))
   AND (CAST(:known_at AS BIGINT) IS NULL
        OR COALESCE(p.arrived_at, s.processing_completed_at, s.created_at)
           <= CAST(:known_at AS BIGINT))

-- name: terms_of_units
SELECT unit, terms, traits FROM terms WHERE scope = :scope AND unit IN #ints(units)

-- name: vectors_of_units
SELECT unit, vector FROM vectors
 WHERE scope = :scope AND generation = :generation AND unit IN #ints(units)
