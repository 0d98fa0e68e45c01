-- What time travel looks at; the notation is that of queries.sql.
--   a passage was said at `at`, and this store has it since `arrived_at`

-- name: lives
-- Whatever is forgotten or has ended is not seen from any moment.
SELECT m.unit, v.recorded_at, #columns
  FROM memories m
  JOIN versions v ON v.scope = m.scope AND v.id = m.id AND v.version = m.version
  LEFT JOIN reads r ON r.scope = m.scope AND r.id = m.id
 WHERE m.scope = :scope AND m.state <> 'soft_deleted'
   AND (m.ends_at IS NULL OR m.ends_at > CAST(:now AS BIGINT))
 ORDER BY m.created_at DESC, m.unit DESC

-- name: earlier_versions
-- The present one is the memory itself.
SELECT v.id, v.version, v.content, v.fields, v.recorded_at, v.invalidated_at
  FROM versions v JOIN memories m ON m.scope = v.scope AND m.id = v.id
 WHERE v.scope = :scope AND m.state <> 'soft_deleted' AND v.version <> m.version
 ORDER BY v.id, v.version

-- name: passages_then
SELECT p.unit, p.id, p.number, p.speaker, p.role, p.session, p.at
  FROM passages p JOIN sources s ON s.scope = p.scope AND s.id = p.id
 WHERE p.scope = :scope AND s.state = 'active'
   AND (CAST(:as_of AS BIGINT) IS NULL OR p.at <= CAST(:as_of AS BIGINT))
   AND (CAST(:known_at AS BIGINT) IS NULL
        OR COALESCE(p.arrived_at, s.processing_completed_at, s.created_at)
           <= CAST(:known_at AS BIGINT))
 ORDER BY p.unit

-- name: units_of_sources_then
SELECT p.id, p.unit
  FROM passages p JOIN sources s ON s.scope = p.scope AND s.id = p.id
 WHERE p.scope = :scope AND p.id IN #list(ids)
   AND (CAST(:as_of AS BIGINT) IS NULL OR p.at <= CAST(:as_of AS BIGINT))
   AND (CAST(:known_at AS BIGINT) IS NULL
        OR COALESCE(p.arrived_at, s.processing_completed_at, s.created_at)
           <= CAST(:known_at AS BIGINT))
