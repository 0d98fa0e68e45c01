-- name: key
SELECT #key_columns, digest FROM keys WHERE scope = :scope AND id = :id

-- name: keys
SELECT #key_columns, digest FROM keys WHERE scope = :scope ORDER BY created_at, id

-- name: insert_key
INSERT INTO keys (scope, #key_columns, digest)
VALUES (:scope, :id, :label, :agent, :read_only, :cleared, :may_resolve, :team, :service,
        :users, :created_at, :expires_at, :revoked_at, :last_used_at, :digest)

-- name: any_admin_key
SELECT id FROM keys WHERE scope = :scope AND service = 0 LIMIT 1

-- name: end_key
-- Optimistic lock: of two concurrent changes the second finds a different expiry, and fails.
UPDATE keys SET expires_at = :expires_at, revoked_at = :revoked_at
 WHERE scope = :scope AND id = :id AND revoked_at IS NULL
   AND COALESCE(expires_at, -1) = CAST(:ended_before AS BIGINT)
RETURNING id

-- name: mark_key_used
UPDATE keys SET last_used_at = :day
 WHERE scope = :scope AND id = :id AND COALESCE(last_used_at, -1) < CAST(:day AS BIGINT)

-- name: clear_keys
DELETE FROM keys WHERE scope = :scope

-- name: texts_of_keys
SELECT label, agent, team FROM keys WHERE scope = :scope
