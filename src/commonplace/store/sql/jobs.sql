-- Job queue. As in queries.sql every statement is bound to one owner, or is under "maintenance": those
-- are for workers looking for due jobs, and show kinds, ids and times of every owner's jobs.
--   #job_columns  the columns of a job, in the order that jobs.py reads them
--   #skip_locked  skips jobs that another worker is claiming

-- name: enqueue_job
-- If queued already: adds nothing. Running: runs again afterwards. Dead: is queued again.
INSERT INTO jobs (scope, id, kind, key, payload, state, due_at, tries, max_tries, lease, again,
                  created_at, updated_at)
VALUES (:scope, :id, :kind, :key, :payload, 'queued', :due_at, 0, :max_tries, 0, 0,
        :created_at, :updated_at)
ON CONFLICT (scope, kind, key) DO UPDATE
   SET again = CASE WHEN jobs.state = 'running' THEN 1 ELSE 0 END,
       tries = CASE WHEN jobs.state = 'running' THEN jobs.tries ELSE 0 END,
       due_at = CASE WHEN jobs.state = 'running' THEN jobs.due_at ELSE excluded.due_at END,
       state = CASE WHEN jobs.state = 'running' THEN jobs.state ELSE excluded.state END,
       payload = excluded.payload, max_tries = excluded.max_tries,
       updated_at = excluded.updated_at
 WHERE jobs.state <> 'queued'

-- name: finish_job
DELETE FROM jobs
 WHERE scope = :scope AND id = :id AND lease = :lease AND state = 'running' AND again = 0
RETURNING id

-- name: begin_job_anew
UPDATE jobs
   SET state = 'queued', due_at = :now, tries = 0, again = 0, worker = NULL, error_code = NULL,
       error = NULL, updated_at = :now
 WHERE scope = :scope AND id = :id AND lease = :lease AND state = 'running' AND again = 1
RETURNING id

-- name: hold_job
UPDATE jobs SET due_at = :until
 WHERE scope = :scope AND id = :id AND lease = :lease AND state = 'running'
RETURNING id

-- name: fail_job
-- Enqueued again while it ran: the new work has not been tried yet, so the tries start at 0.
UPDATE jobs
   SET state = CASE WHEN again = 0 AND CAST(:due_at AS BIGINT) IS NULL THEN 'dead'
                    ELSE 'queued' END,
       due_at = CASE WHEN again = 1 THEN :now ELSE CAST(:due_at AS BIGINT) END,
       tries = CASE WHEN again = 1 THEN 0 ELSE tries END,
       again = 0, error_code = :code, error = :told, updated_at = :now
 WHERE scope = :scope AND id = :id AND lease = :lease AND state = 'running'
RETURNING id

-- name: retry_job
UPDATE jobs
   SET state = 'queued', due_at = :now, tries = 0, error_code = NULL, error = NULL,
       updated_at = :now
 WHERE scope = :scope AND id = :id AND state <> 'running'

-- name: drop_job
DELETE FROM jobs WHERE scope = :scope AND id = :id RETURNING id

-- name: withdraw_jobs
DELETE FROM jobs WHERE scope = :scope AND key IN #list(keys)

-- name: clear_jobs
DELETE FROM jobs WHERE scope = :scope

-- name: jobs
SELECT #job_columns
  FROM jobs
 WHERE scope = :scope
   AND (CAST(:any_id AS BIGINT) = 1 OR id IN #list(ids))
   AND (CAST(:any_kind AS BIGINT) = 1 OR kind IN #list(kinds))
   AND (CAST(:any_key AS BIGINT) = 1 OR key IN #list(keys))
   AND (CAST(:any_state AS BIGINT) = 1 OR state IN #list(states))
 ORDER BY CASE WHEN due_at IS NULL THEN 1 ELSE 0 END, due_at, created_at, id
 LIMIT CAST(:limit AS BIGINT)

-- name: texts_of_jobs
SELECT key, payload, error FROM jobs WHERE scope = :scope

-- maintenance: what a worker does before it knows the owner of its job

-- name: bury_jobs
-- Their lease expired on the last try. Jobs enqueued again meanwhile still have all their tries.
WITH lost (owner, job) AS (
  SELECT scope, id FROM jobs
   WHERE due_at <= :now AND state = 'running' AND tries >= max_tries AND again = 0
     #skip_locked
)
UPDATE jobs
   SET state = 'dead', due_at = NULL, error_code = :code, error = :told, updated_at = :now
  FROM lost WHERE scope = lost.owner AND id = lost.job

-- name: claim_job
-- in_order: kinds of which a user's jobs run one after the other, the longest due first. later: a kind
-- of job that waits while a job of the kind `earlier`, of the same user, runs or is due. Not only on
-- the same key: else a job would overtake one that waits.
-- reserved: kinds that are claimed for the owners in reserved_for only.
WITH next (owner, job) AS (
  SELECT scope, id FROM jobs
   WHERE due_at <= :now
     AND (CAST(:any_kind AS BIGINT) = 1 OR kind IN #list(kinds))
     AND (CAST(:of AS TEXT) IS NULL OR scope = CAST(:of AS TEXT))
     AND (NOT (kind IN #list(reserved)) OR scope IN #list(reserved_for))
     AND NOT (kind IN #list(in_order) AND EXISTS (
           SELECT 1 FROM jobs AS before
            WHERE before.scope = jobs.scope AND before.kind = jobs.kind
              AND before.state = 'running' AND before.due_at > :now))
     AND NOT (kind = :later AND EXISTS (
           SELECT 1 FROM jobs AS before
            WHERE before.scope = jobs.scope AND before.kind = :earlier
              AND (before.state = 'running' OR before.due_at <= :now)))
   ORDER BY due_at, scope, id
   LIMIT 1 #skip_locked
)
UPDATE jobs
   SET state = 'running', due_at = :until, lease = lease + 1,
       tries = CASE WHEN again = 1 THEN 1 ELSE tries + 1 END, again = 0,
       worker = :worker, updated_at = :now
  FROM next WHERE scope = next.owner AND id = next.job
RETURNING #job_columns

-- name: claim_this_job
-- For a caller that waits for it: before it is due, but not while another worker holds it, or one that
-- comes before it.
UPDATE jobs
   SET state = 'running', due_at = :until, lease = lease + 1,
       tries = CASE WHEN again = 1 THEN 1 ELSE tries + 1 END, again = 0,
       worker = :worker, updated_at = :now
 WHERE scope = :of AND id = :id AND (state = 'queued' OR due_at <= :now)
   AND NOT (kind IN #list(in_order) AND EXISTS (
         SELECT 1 FROM jobs AS before
          WHERE before.scope = jobs.scope AND before.kind = jobs.kind AND before.id <> jobs.id
            AND before.state = 'running' AND before.due_at > :now))
RETURNING #job_columns

-- name: next_due
SELECT MIN(due_at) FROM jobs
 WHERE due_at IS NOT NULL AND (CAST(:any_kind AS BIGINT) = 1 OR kind IN #list(kinds))
   AND (NOT (kind IN #list(reserved)) OR scope IN #list(reserved_for))
