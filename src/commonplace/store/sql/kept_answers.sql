-- Answers of idempotent requests, stored for a day; the notation is that of queries.sql.

-- name: claim_answer
-- While the claim is open, `answer` contains its holder. A claim that timed out without a change is
-- taken over; its previous holder has lost it.
INSERT INTO kept_answers (scope, name, request, at, state, answer)
VALUES (:scope, :name, :request, :at, 'open', :holder)
ON CONFLICT (scope, name) DO UPDATE SET at = :at, state = 'open', answer = :holder
 WHERE kept_answers.state IN ('open', 'muted')
   AND kept_answers.request = :request AND kept_answers.at <= :given_up
RETURNING name

-- name: kept_answer
SELECT request, at, state, answer FROM kept_answers WHERE scope = :scope AND name = :name

-- name: holder_of_answer
SELECT answer FROM kept_answers
 WHERE scope = :scope AND name = :name AND state <> 'silenced'

-- name: mark_applied
UPDATE kept_answers
   SET state = CASE state WHEN 'muted' THEN 'silenced' ELSE 'applied' END,
       request = CASE state WHEN 'muted' THEN '' ELSE request END,
       answer = CASE state WHEN 'muted' THEN NULL ELSE answer END
 WHERE scope = :scope AND name = :name AND answer = :holder

-- name: keep_answer
-- Not stored where something was erased meanwhile: the answer may contain it.
UPDATE kept_answers
   SET state = CASE state WHEN 'muted' THEN 'silenced' ELSE 'done' END,
       request = CASE state WHEN 'muted' THEN '' ELSE request END,
       answer = CASE state WHEN 'muted' THEN NULL ELSE :answer END
 WHERE scope = :scope AND name = :name AND answer = :holder

-- name: keep_harmless_answer
INSERT INTO kept_answers (scope, name, request, at, state, answer)
VALUES (:scope, :name, :request, :at, 'done', :answer)
ON CONFLICT (scope, name) DO UPDATE SET state = 'done', request = :request, answer = :answer

-- name: release_answer
DELETE FROM kept_answers
 WHERE scope = :scope AND name = :name AND answer = :holder AND state IN ('open', 'muted')

-- name: silence_answers
-- The rows stay, so that a repeated request does not recreate what was erased.
UPDATE kept_answers
   SET state = CASE WHEN state IN ('open', 'muted') THEN 'muted' ELSE 'silenced' END,
       request = CASE WHEN state IN ('open', 'muted') THEN request ELSE '' END,
       answer = CASE WHEN state IN ('open', 'muted') THEN answer ELSE NULL END
 WHERE scope = :scope

-- name: delete_old_answers
DELETE FROM kept_answers WHERE scope = :scope AND at <= :before

-- name: clear_kept_answers
DELETE FROM kept_answers WHERE scope = :scope

-- name: texts_of_kept_answers
SELECT answer FROM kept_answers WHERE scope = :scope
