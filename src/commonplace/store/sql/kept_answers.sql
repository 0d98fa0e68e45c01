-- Answers that are kept for a day, for both databases; the notation is that of queries.sql.

-- name: claim_answer
INSERT INTO kept_answers (scope, name, request, at, state)
VALUES (:scope, :name, :request, :at, 'open')
ON CONFLICT (scope, name) DO NOTHING
RETURNING name

-- name: kept_answer
SELECT request, at, state, answer FROM kept_answers WHERE scope = :scope AND name = :name

-- name: keep_answer
-- Not where something was erased meanwhile: the answer may tell of it.
UPDATE kept_answers SET state = 'done', answer = :answer
 WHERE scope = :scope AND name = :name AND state = 'open'

-- name: keep_harmless_answer
INSERT INTO kept_answers (scope, name, request, at, state, answer)
VALUES (:scope, :name, :request, :at, 'done', :answer)
ON CONFLICT (scope, name) DO UPDATE SET state = 'done', request = :request, answer = :answer

-- name: release_answer
DELETE FROM kept_answers WHERE scope = :scope AND name = :name

-- name: silence_answers
-- The names stay, so that a request which comes again does not bring back what was erased.
UPDATE kept_answers SET state = 'silenced', request = '', answer = NULL WHERE scope = :scope

-- name: delete_old_answers
DELETE FROM kept_answers WHERE scope = :scope AND at <= :before

-- name: clear_kept_answers
DELETE FROM kept_answers WHERE scope = :scope

-- name: texts_of_kept_answers
SELECT answer FROM kept_answers WHERE scope = :scope
