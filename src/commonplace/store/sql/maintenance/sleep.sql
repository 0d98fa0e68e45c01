-- Statements about runs of sleep, for both databases; the notation is that of queries.sql.
--   #sleep_run_columns #sleep_change_columns  in the order that maintenance/sleep.py reads them

-- name: sleep_runs
SELECT #sleep_run_columns FROM sleep_runs s
 WHERE s.scope = :scope
   AND (CAST(:id AS TEXT) IS NULL OR s.id = CAST(:id AS TEXT))
   AND (CAST(:schedule AS TEXT) IS NULL OR s.schedule = CAST(:schedule AS TEXT))
   AND (CAST(:state AS TEXT) IS NULL OR s.state = CAST(:state AS TEXT))
   AND (CAST(:due_at AS BIGINT) IS NULL OR s.due_at = CAST(:due_at AS BIGINT))
 ORDER BY s.started_at DESC, s.id DESC
 LIMIT CAST(:limit AS BIGINT)

-- name: add_sleep_run
INSERT INTO sleep_runs (
  scope, id, schedule, due_at, tasks, state, started_at, finished_at, undone_at, live_at_start,
  ended, position, results
) VALUES (
  :scope, :id, :schedule, :due_at, :tasks, :state, :started_at, :finished_at, :undone_at,
  :live_at_start, :ended, :position, :results
)
ON CONFLICT DO NOTHING
RETURNING id

-- name: move_sleep_run
UPDATE sleep_runs
   SET state = :state, finished_at = :finished_at, undone_at = :undone_at,
       live_at_start = :live_at_start, ended = :ended, position = :position, results = :results
 WHERE scope = :scope AND id = :id AND state = :old_state AND ended = :old_ended
   AND position = :old_position AND results = :old_results
   AND COALESCE(undone_at, -1) = COALESCE(CAST(:old_undone_at AS BIGINT), -1)
RETURNING id

-- name: sleep_changes
SELECT #sleep_change_columns FROM sleep_changes c
 WHERE c.scope = :scope AND c.run = :run
 ORDER BY c.number, c.kind, c.subject

-- name: insert_sleep_change
INSERT INTO sleep_changes (
  scope, run, number, kind, subject, task, why, before, after_ref, can_be_undone, at
) VALUES (
  :scope, :run, :number, :kind, :subject, :task, :why, :before, :after_ref, :can_be_undone, :at
)

-- name: mark_undone
UPDATE sleep_changes SET before = NULL, can_be_undone = 0, after_ref = :after_ref
 WHERE scope = :scope AND run = :run AND number = :number

-- name: forget_undo_of_items
UPDATE sleep_changes SET before = NULL, can_be_undone = 0
 WHERE scope = :scope AND subject IN #list(ids)

-- name: forget_undo_of_kinds
UPDATE sleep_changes SET before = NULL, can_be_undone = 0
 WHERE scope = :scope AND kind IN #list(kinds) AND before IS NOT NULL

-- name: forget_undo_of_change
UPDATE sleep_changes SET before = NULL, can_be_undone = 0
 WHERE scope = :scope AND run = :run AND number = :number AND kind = :kind AND subject = :subject

-- name: undo_data
SELECT run, number, kind, subject, before FROM sleep_changes
 WHERE scope = :scope AND before IS NOT NULL

-- name: delete_old_sleep_changes
DELETE FROM sleep_changes WHERE scope = :scope AND at < :before

-- name: fingerprints
SELECT a, b, score, checked_at FROM fingerprints WHERE scope = :scope ORDER BY a, b, score

-- name: keep_fingerprint
INSERT INTO fingerprints (scope, a, b, score, checked_at)
VALUES (:scope, :a, :b, :score, :checked_at)
ON CONFLICT (scope, a, b, score) DO UPDATE SET checked_at = excluded.checked_at

-- name: delete_old_fingerprints
DELETE FROM fingerprints WHERE scope = :scope AND checked_at < :before

-- name: delete_fingerprints_of
DELETE FROM fingerprints WHERE scope = :scope AND (a IN #list(ids) OR b IN #list(ids))

-- name: clear_sleep_runs
DELETE FROM sleep_runs WHERE scope = :scope

-- name: clear_sleep_changes
DELETE FROM sleep_changes WHERE scope = :scope

-- name: clear_fingerprints
DELETE FROM fingerprints WHERE scope = :scope

-- name: texts_of_sleep_changes
SELECT before, why FROM sleep_changes WHERE scope = :scope
