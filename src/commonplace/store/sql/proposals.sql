-- name: insert_proposal
INSERT INTO proposals (scope, id, name, value, signals, reason, proposed_at, ends_at)
VALUES (:scope, :id, :name, :value, :signals, :reason, :proposed_at, :ends_at)
ON CONFLICT (scope, id) DO UPDATE SET signals = excluded.signals, reason = excluded.reason

-- name: delete_proposals
DELETE FROM proposals WHERE scope = :scope AND id IN #list(ids)

-- name: clear_proposals
DELETE FROM proposals WHERE scope = :scope

-- name: proposals
SELECT #proposal_columns
  FROM proposals WHERE scope = :scope
 ORDER BY proposed_at, id

-- name: texts_of_proposals
SELECT name, value, signals, reason FROM proposals WHERE scope = :scope

-- name: proposals_by_id
SELECT #proposal_columns
  FROM proposals WHERE scope = :scope AND id IN #list(ids)

-- name: silence_proposal
-- The entry's subject is the field; the thread is user text, so it is redacted.
UPDATE journal SET thread_id = NULL
 WHERE scope = :scope AND event = 'CONSENT' AND meta LIKE '%' || CAST(:id AS TEXT) || '%'
