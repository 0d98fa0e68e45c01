-- Statements that only PostgreSQL needs. None of them touches a row of any user.

-- maintenance

-- name: begin_reading
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY

-- name: begin_writing
BEGIN

-- name: take_on
SELECT set_config('role', :role, true), set_config('commonplace.scope', :scope, true),
       set_config('lock_timeout', :wait, true),
       CASE WHEN CAST(:writes AS BOOLEAN) THEN CAST(pg_current_xact_id() AS TEXT) END

-- name: enter
-- For a transaction that changes several scopes, such as a team and its new member.
SELECT set_config('commonplace.scope', :scope, true)

-- name: outcome
SELECT pg_xact_status(CAST(CAST(:transaction AS TEXT) AS xid8))

-- name: advisory_lock
-- Until the transaction ends.
SELECT pg_advisory_xact_lock(CAST(:key AS BIGINT))

-- name: has_migrations
SELECT to_regclass('migrations')

-- name: schema
SELECT MAX(number) FROM migrations

-- name: create_migrations
CREATE TABLE IF NOT EXISTS migrations (
  number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL
)

-- name: record_migration
INSERT INTO migrations (number, name, applied_at) VALUES (:number, :name, :at)

-- name: hold_writers
-- Waits for running writers, and blocks new ones until this transaction ends.
LOCK TABLE scopes IN SHARE ROW EXCLUSIVE MODE

-- name: owns_tables
SELECT pg_has_role(current_user, relowner, 'USAGE')
  FROM pg_class WHERE oid = to_regclass('memories')

-- name: wait_for_locks
SELECT set_config('lock_timeout', :wait, false)

-- name: this_moment
SELECT CAST(CAST(pg_current_xact_id() AS xid) AS text)

-- name: vacuum
VACUUM (FULL) memories, versions, terms, vectors, links, reads, journal, cursors, held, proposals,
  sources, originals, passages, jobs, recall_log, recall_hits, keys, kept_answers,
  teams, memberships, shares,
  nodes, node_tellings, edges, edge_tellings, graph_notes, marks, graph_vectors, artifacts,
  storylines, macros, extractions, model_answers, model_usage, model_readings,
  sleep_runs, sleep_changes, fingerprints

-- name: unseen_since
-- VACUUM FULL keeps dead rows that an open transaction may still read, and freezes all others. So
-- relfrozenxid shows whether all rows that were dead at a moment are removed.
SELECT bool_and(age(relfrozenxid) <= age(CAST(CAST(:moment AS TEXT) AS xid)))
  FROM pg_class
 WHERE relkind = 'r'
   AND (oid IN (to_regclass('cursors'), to_regclass('held'), to_regclass('jobs'),
               to_regclass('proposals'), to_regclass('keys'),
               to_regclass('kept_answers'), to_regclass('teams'),
               to_regclass('memberships'), to_regclass('shares'),
               to_regclass('graph_notes'), to_regclass('artifacts'),
               to_regclass('storylines'), to_regclass('macros'),
               to_regclass('extractions'), to_regclass('marks'),
               to_regclass('model_answers'), to_regclass('model_usage'),
               to_regclass('model_readings'),
               to_regclass('sleep_runs'), to_regclass('sleep_changes'),
               to_regclass('fingerprints'))
        OR oid IN (SELECT inhrelid FROM pg_inherits
                    WHERE inhparent IN (to_regclass('memories'), to_regclass('versions'),
                                        to_regclass('terms'), to_regclass('vectors'),
                                        to_regclass('links'), to_regclass('reads'),
                                        to_regclass('journal'), to_regclass('sources'),
                                        to_regclass('originals'), to_regclass('passages'),
                                        to_regclass('recall_log'), to_regclass('recall_hits'),
                                        to_regclass('nodes'), to_regclass('node_tellings'),
                                        to_regclass('edges'), to_regclass('edge_tellings'),
                                        to_regclass('graph_vectors'))))

-- name: database_size
SELECT pg_database_size(current_database())
