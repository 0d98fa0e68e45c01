-- Statements about language models, for both databases; the notation is that of queries.sql.
--   #model_answer_columns #model_usage_columns #model_reading_columns  in the order that llm/model_calls.py reads them

-- name: model_answer
SELECT #model_answer_columns FROM model_answers a WHERE a.scope = :scope AND a.digest = :digest

-- name: model_answers
SELECT digest, answer FROM model_answers WHERE scope = :scope

-- name: keep_model_answer
INSERT INTO model_answers (scope, digest, source, prompt, model, answer, read, written, at)
VALUES (:scope, :digest, :source, :prompt, :model, :answer, :read, :written, :at)
ON CONFLICT (scope, digest) DO UPDATE
   SET source = excluded.source, answer = excluded.answer, read = excluded.read,
       written = excluded.written, at = excluded.at

-- name: delete_model_answers
DELETE FROM model_answers WHERE scope = :scope AND digest IN #list(digests)

-- name: delete_model_answers_about
DELETE FROM model_answers WHERE scope = :scope AND source IN #list(sources)

-- name: delete_model_answers_about_memories
DELETE FROM model_answers WHERE scope = :scope AND source IS NULL

-- name: delete_old_model_answers
DELETE FROM model_answers WHERE scope = :scope AND at < :before

-- name: count_erasure
UPDATE scopes SET erasures = erasures + 1 WHERE scope = :scope

-- name: model_usage
SELECT #model_usage_columns FROM model_usage u
 WHERE u.scope = :scope AND (CAST(:day AS TEXT) IS NULL OR u.day = CAST(:day AS TEXT))
 ORDER BY u.day, u.prompt, u.model

-- name: add_model_usage
INSERT INTO model_usage (
  scope, day, prompt, model, calls, cached, failed, read, written, kept, dropped
) VALUES (
  :scope, :day, :prompt, :model, :calls, :cached, :failed, :read, :written, :kept, :dropped
)
ON CONFLICT (scope, day, prompt, model) DO UPDATE
   SET calls = model_usage.calls + excluded.calls, cached = model_usage.cached + excluded.cached,
       failed = model_usage.failed + excluded.failed, read = model_usage.read + excluded.read,
       written = model_usage.written + excluded.written, kept = model_usage.kept + excluded.kept,
       dropped = model_usage.dropped + excluded.dropped

-- name: model_readings
SELECT #model_reading_columns FROM model_readings d
 WHERE d.scope = :scope AND (CAST(:any AS BIGINT) = 1 OR d.source IN #list(sources))
   AND (CAST(:all AS BIGINT) = 1 OR d.skipped <> '[]' OR d.requests <> '[]')
 ORDER BY d.source, d.source_scope

-- name: add_model_reading
INSERT INTO model_readings (
  scope, source_scope, source, passages, digest, prompt, at, heard, skipped, requests
) VALUES (
  :scope, :source_scope, :source, :passages, :digest, :prompt, :at, :heard, :skipped, :requests
)
ON CONFLICT (scope, source, source_scope) DO NOTHING
RETURNING source

-- name: move_model_reading
UPDATE model_readings
   SET passages = :passages, digest = :digest, prompt = :prompt, at = :at, heard = :heard,
       skipped = :skipped, requests = :requests
 WHERE scope = :scope AND source = :source AND source_scope = :source_scope
   AND passages = :old_passages AND digest = :old_digest AND at = :old_at
RETURNING source

-- name: delete_model_reading
DELETE FROM model_readings
 WHERE scope = :scope AND source = :source AND source_scope = :source_scope

-- name: clear_model_answers
DELETE FROM model_answers WHERE scope = :scope

-- name: clear_model_usage
DELETE FROM model_usage WHERE scope = :scope

-- name: clear_model_readings
DELETE FROM model_readings WHERE scope = :scope

-- name: texts_of_model_answers
SELECT answer FROM model_answers WHERE scope = :scope

-- name: texts_of_model_readings
SELECT requests FROM model_readings WHERE scope = :scope
