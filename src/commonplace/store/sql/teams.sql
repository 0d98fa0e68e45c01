-- Teams, memberships and shares. The last two have a row in the scope of each side.

-- name: team
SELECT id, name, created_by, created_at, retention_days FROM teams WHERE scope = :scope

-- name: put_team
INSERT INTO teams (scope, id, name, created_by, created_at, retention_days)
VALUES (:scope, :id, :name, :created_by, :created_at, :retention_days)
ON CONFLICT (scope) DO UPDATE
   SET name = excluded.name, retention_days = excluded.retention_days

-- name: memberships
SELECT other, role, standing, invited_by, since, is_primary, is_active
  FROM memberships WHERE scope = :scope ORDER BY since, other

-- name: is_member
SELECT other FROM memberships
 WHERE scope = :scope AND other = :other AND standing = 'member'

-- name: put_membership
INSERT INTO memberships (scope, other, role, standing, invited_by, since, is_primary, is_active)
VALUES (:scope, :other, :role, :standing, :invited_by, :since, :is_primary, :is_active)
ON CONFLICT (scope, other) DO UPDATE
   SET role = excluded.role, standing = excluded.standing, invited_by = excluded.invited_by,
       since = excluded.since, is_primary = excluded.is_primary, is_active = excluded.is_active

-- name: drop_membership
DELETE FROM memberships WHERE scope = :scope AND other = :other

-- name: shares
SELECT other, source_id, granted_by, granted_at, standing, is_given
  FROM shares WHERE scope = :scope ORDER BY granted_at, source_id, other

-- name: put_share
INSERT INTO shares (scope, other, source_id, granted_by, granted_at, standing, is_given)
VALUES (:scope, :other, :source_id, :granted_by, :granted_at, :standing, :is_given)
ON CONFLICT (scope, source_id, other) DO UPDATE
   SET granted_by = excluded.granted_by, granted_at = excluded.granted_at,
       standing = excluded.standing

-- name: drop_share
DELETE FROM shares WHERE scope = :scope AND source_id = :source_id AND other = :other

-- name: drop_shares_of
-- Removing a source removes its shares.
DELETE FROM shares WHERE scope = :scope AND source_id IN #list(ids)

-- name: clear_teams
DELETE FROM teams WHERE scope = :scope

-- name: clear_memberships
DELETE FROM memberships WHERE scope = :scope

-- name: clear_shares
DELETE FROM shares WHERE scope = :scope

-- name: texts_of_teams
SELECT name, created_by FROM teams WHERE scope = :scope

-- name: texts_of_memberships
SELECT other, invited_by FROM memberships WHERE scope = :scope

-- name: texts_of_shares
SELECT other, granted_by FROM shares WHERE scope = :scope
