-- All statements that both databases share, by name.
--   :name        a parameter
--   IN #list(name)  is one of the elements of a parameter that is a list
--   IN #ints(name)  the same for numbers
--   #each(col)   the elements of a JSON list column, as rows t(value)
--   #pairs(col)  the members of a JSON object column, as rows t(key, value)
--   #using(index)  an index hint for SQLite, which would scan all rows of a scope
--   #columns     the columns of a memory, in the order that rows.py reads them
--   #index_columns  those that the in-process index keeps
--   #stored_columns, #stored_values, #stored_changes  a memory's fields as they are written
--   #journal_columns  the columns of a journal line, in the order that rows.py reads them
-- Every statement is bound to one owner by `scope = :scope`, or is under "maintenance".

-- name: lock_counters
UPDATE scopes
   SET revision = revision + :changes, seq = seq + 1, epoch = epoch + :vanished,
       journal = journal + :entries, units = units + :units,
       profile_numbers = profile_numbers + :profile_numbers,
       graph = graph + :graph, graph_epoch = graph_epoch + :graph_vanished,
       observed = CASE WHEN CAST(:observed AS BIGINT) = 0 THEN observed
                       WHEN observed_day = CAST(:day AS BIGINT)
                       THEN observed + CAST(:observed AS BIGINT)
                       ELSE CAST(:observed AS BIGINT) END,
       observed_day = CASE WHEN CAST(:observed AS BIGINT) = 0 THEN observed_day
                           ELSE CAST(:day AS BIGINT) END
 WHERE scope = :scope
RETURNING revision, seq, epoch, journal, units, profile_numbers, tidied_at, observed_day, observed,
          graph, graph_epoch, erasures,
          COALESCE((SELECT g.number FROM generations g WHERE g.state = 'current'), 1)

-- name: hold_scope
-- Locks the counters until the transaction ends, and moves none: caches read them.
UPDATE scopes SET revision = revision WHERE scope = :scope

-- name: open_scope
INSERT INTO scopes (scope) VALUES (:scope) ON CONFLICT (scope) DO NOTHING

-- name: counters
SELECT revision, seq, epoch, journal, units, profile_numbers, tidied_at, observed_day, observed,
       graph, graph_epoch, erasures,
       COALESCE((SELECT g.number FROM generations g WHERE g.state = 'current'), 1)
  FROM scopes WHERE scope = :scope

-- name: set_counters
UPDATE scopes
   SET revision = :revision, journal = :journal,
       profile_numbers = CASE WHEN :profile_numbers > profile_numbers
                              THEN :profile_numbers ELSE profile_numbers END
 WHERE scope = :scope

-- name: mark_tidied
UPDATE scopes SET tidied_at = :at WHERE scope = :scope

-- name: insert_memory
INSERT INTO memories (scope, unit, seq, ends_at, #stored_columns)
VALUES (:scope, :unit, :seq, :ends_at, #stored_values)

-- name: update_memory
UPDATE memories
   SET seq = :seq, unit = COALESCE(CAST(:unit AS BIGINT), unit), ends_at = :ends_at, #stored_changes
 WHERE scope = :scope AND id = :id AND version = :expected_version
RETURNING id

-- name: insert_version
INSERT INTO versions (scope, id, version, content, fields, checksum, recorded_at, invalidated_at)
VALUES (:scope, :id, :version, :content, :fields, :checksum, :recorded_at, :invalidated_at)

-- name: amend_version
UPDATE versions SET fields = :fields, checksum = :checksum
 WHERE scope = :scope AND id = :id AND version = :version

-- name: close_version
UPDATE versions SET invalidated_at = :at
 WHERE scope = :scope AND id = :id AND invalidated_at IS NULL

-- name: insert_terms
INSERT INTO terms (scope, unit, terms, traits) VALUES (:scope, :unit, :terms, :traits)
ON CONFLICT (scope, unit) DO UPDATE SET terms = excluded.terms, traits = excluded.traits

-- name: insert_late_terms
INSERT INTO terms (scope, unit, terms, traits)
SELECT m.scope, m.unit, CAST(:terms AS TEXT), CAST(:traits AS BIGINT) FROM memories m
 WHERE m.scope = :scope AND m.id = :id AND m.version = :version
ON CONFLICT (scope, unit) DO UPDATE SET terms = excluded.terms, traits = excluded.traits

-- name: insert_vector
INSERT INTO vectors (scope, unit, generation, vector, checksum)
VALUES (:scope, :unit, :generation, :vector, :checksum)
ON CONFLICT (scope, unit, generation)
DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum

-- name: insert_late_vector
INSERT INTO vectors (scope, unit, generation, vector, checksum)
SELECT m.scope, m.unit, CAST(:generation AS BIGINT), CAST(:vector AS #bytes),
       CAST(:checksum AS BIGINT)
  FROM memories m
 WHERE m.scope = :scope AND m.id = :id AND m.version = :version
ON CONFLICT (scope, unit, generation)
DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum

-- name: bump_seq
UPDATE memories SET seq = :seq WHERE scope = :scope AND id IN #list(ids)

-- name: insert_link
INSERT INTO links (scope, a, b, relation, strength, created_at)
VALUES (:scope, :a, :b, :relation, :strength, :created_at)
ON CONFLICT (scope, a, b, relation) DO NOTHING

-- name: insert_journal
INSERT INTO journal (
  scope, seq, ts, revision, thread_id, actor, node, op, status, event, subject, category, old_ref,
  new_ref, similarity, meta
) VALUES (
  :scope, :seq, :ts, :revision, :thread_id, :actor, :node, :op, :status, :event, :subject,
  :category, :old_ref, :new_ref, :similarity, :meta
)

-- name: silence_journal
UPDATE journal SET category = NULL, thread_id = NULL, meta = '{}'
 WHERE scope = :scope AND subject IN #list(ids)

-- name: silence_holding
-- The entry's subject is the memory that it was held against; the thread is user text, so it is
-- redacted.
UPDATE journal SET thread_id = NULL
 WHERE scope = :scope AND op = 'hold' AND meta LIKE '%' || CAST(:id AS TEXT) || '%'

-- name: insert_receipt
INSERT INTO receipts (scope, id, at, items, found_in)
VALUES (:scope, :id, :at, :items, :found_in)

-- name: delete_terms
DELETE FROM terms
 WHERE scope = :scope
   AND unit IN (SELECT unit FROM memories WHERE scope = :scope AND id IN #list(ids))

-- name: delete_vectors
DELETE FROM vectors
 WHERE scope = :scope
   AND unit IN (SELECT unit FROM memories WHERE scope = :scope AND id IN #list(ids))

-- name: delete_versions
DELETE FROM versions WHERE scope = :scope AND id IN #list(ids)

-- name: delete_links
DELETE FROM links WHERE scope = :scope AND (a IN #list(ids) OR b IN #list(ids))

-- name: delete_reads
DELETE FROM reads WHERE scope = :scope AND id IN #list(ids)

-- name: orphan_successors
UPDATE memories SET superseded_by = NULL
 WHERE scope = :scope AND superseded_by IN #list(ids)

-- name: delete_memories
DELETE FROM memories WHERE scope = :scope AND id IN #list(ids)

-- name: clear_terms
DELETE FROM terms WHERE scope = :scope

-- name: clear_vectors
DELETE FROM vectors WHERE scope = :scope

-- name: clear_versions
DELETE FROM versions WHERE scope = :scope

-- name: clear_links
DELETE FROM links WHERE scope = :scope

-- name: clear_reads
DELETE FROM reads WHERE scope = :scope

-- name: clear_memories
DELETE FROM memories WHERE scope = :scope

-- name: clear_journal
DELETE FROM journal WHERE scope = :scope

-- name: clear_cursors
DELETE FROM cursors WHERE scope = :scope

-- name: insert_held
INSERT INTO held (scope, id, conflict, beside, merged_into, content, fields, mentioned, reason,
                  actor, held_at)
VALUES (:scope, :id, :conflict, :beside, :merged_into, :content, :fields, :mentioned, :reason,
        :actor, :held_at)
ON CONFLICT (scope, id) DO UPDATE
   SET conflict = excluded.conflict, beside = excluded.beside,
       merged_into = excluded.merged_into, reason = excluded.reason

-- name: delete_held
DELETE FROM held WHERE scope = :scope AND id IN #list(ids)

-- name: delete_held_beside
DELETE FROM held
 WHERE scope = :scope AND (beside IN #list(ids) OR merged_into IN #list(ids))

-- name: delete_held_about_nothing
-- Erasing a target closes its conflict, unless the conflict has another target.
DELETE FROM held
 WHERE scope = :scope
   AND conflict IN (SELECT m.conflict FROM memories m
                     WHERE m.scope = :scope AND m.id IN #list(ids))
   AND NOT EXISTS (SELECT 1 FROM memories m
                    WHERE m.scope = :scope AND m.conflict = held.conflict
                      AND NOT m.id IN #list(ids))

-- name: silence_held
-- A reason quotes both sides, so it is deleted with either.
UPDATE held SET reason = ''
 WHERE scope = :scope
   AND conflict IN (SELECT m.conflict FROM memories m
                     WHERE m.scope = :scope AND m.id IN #list(ids))

-- name: join_held
UPDATE held SET conflict = :conflict WHERE scope = :scope AND conflict = :absorbed

-- name: join_disputes
UPDATE memories SET conflict = :conflict WHERE scope = :scope AND conflict = :absorbed

-- name: dispute
UPDATE memories SET conflict = :conflict WHERE scope = :scope AND id IN #list(ids)

-- name: end_dispute
UPDATE memories SET conflict = NULL WHERE scope = :scope AND conflict IN #list(conflicts)

-- name: clear_held
DELETE FROM held WHERE scope = :scope

-- name: held
SELECT id, conflict, beside, merged_into, content, fields, mentioned, reason, actor, held_at
  FROM held
 WHERE scope = :scope
   AND (CAST(:any AS BIGINT) = 1 OR (id IN #list(ids) AND merged_into IS NULL)
        OR conflict IN #list(conflicts) OR beside IN #list(beside)
        OR merged_into IN #list(merged_into))
 ORDER BY held_at, id

-- name: disputed
SELECT #columns
  FROM memories m LEFT JOIN reads r ON r.scope = m.scope AND r.id = m.id
 WHERE m.scope = :scope AND m.conflict IS NOT NULL
   AND (CAST(:any AS BIGINT) = 1 OR m.conflict IN #list(conflicts))
 ORDER BY m.created_at, m.unit

-- name: citing
SELECT #columns
  FROM memories m LEFT JOIN reads r ON r.scope = m.scope AND r.id = m.id
 WHERE m.scope = :scope AND m.source_id IN #list(sources) AND m.state IN ('active', 'superseded')
 ORDER BY m.created_at, m.unit

-- name: touch
INSERT INTO reads (scope, id, last_accessed_at, access_count)
SELECT m.scope, m.id, CAST(:at AS BIGINT), CAST(:count AS BIGINT) FROM memories m
 WHERE m.scope = :scope AND m.id = :id
ON CONFLICT (scope, id) DO UPDATE
   SET access_count = reads.access_count + excluded.access_count,
       last_accessed_at = CASE WHEN excluded.last_accessed_at > reads.last_accessed_at
                               THEN excluded.last_accessed_at ELSE reads.last_accessed_at END

-- name: insert_reads
INSERT INTO reads (scope, id, last_accessed_at, access_count)
VALUES (:scope, :id, :last_accessed_at, :access_count)
ON CONFLICT (scope, id) DO NOTHING

-- name: number_journal
UPDATE scopes SET journal = journal + :entries WHERE scope = :scope
RETURNING journal, revision, erasures

-- name: move_cursor
INSERT INTO cursors (scope, agent, thread, revision) VALUES (:scope, :agent, :thread, :revision)
ON CONFLICT (scope, agent, thread) DO UPDATE
   SET revision = CASE WHEN excluded.revision > cursors.revision
                       THEN excluded.revision ELSE cursors.revision END

-- name: cursor
SELECT revision FROM cursors WHERE scope = :scope AND agent = :agent AND thread = :thread

-- name: fetch
SELECT #columns
  FROM memories m LEFT JOIN reads r ON r.scope = m.scope AND r.id = m.id
 WHERE m.scope = :scope AND m.id IN #list(ids)

-- name: page
SELECT #columns
  FROM memories m LEFT JOIN reads r ON r.scope = m.scope AND r.id = m.id
 WHERE m.scope = :scope
   AND m.state IN #list(states)
   AND (CAST(:now AS BIGINT) IS NULL OR m.ends_at IS NULL OR m.ends_at > CAST(:now AS BIGINT))
   AND (CAST(:expired_by AS BIGINT) IS NULL OR m.ends_at <= CAST(:expired_by AS BIGINT))
   AND (CAST(:purgeable_by AS BIGINT) IS NULL OR m.purge_at <= CAST(:purgeable_by AS BIGINT))
   AND (CAST(:restorable_at AS BIGINT) IS NULL OR m.purge_at > CAST(:restorable_at AS BIGINT))
   AND (CAST(:cleared AS BIGINT) = 1 OR m.sensitivity <> 'high')
   AND (CAST(:agent AS TEXT) IS NULL OR m.kind NOT IN ('rule', 'soul')
        OR m.agent_id IS NULL OR m.agent_id = CAST(:agent AS TEXT))
   AND (CAST(:sees_all AS BIGINT) = 1 OR m.category IN #list(seen_categories))
   AND (CAST(:any_kind AS BIGINT) = 1 OR m.kind IN #list(kinds))
   AND (CAST(:any_category AS BIGINT) = 1 OR m.category IN #list(categories))
   AND (CAST(:any_tag AS BIGINT) = 1
        OR EXISTS (SELECT 1 FROM #each(m.tags) WHERE t.value IN #list(tags)))
   AND (CAST(:metadata_names AS BIGINT) = 0
        OR CAST(:metadata_names AS BIGINT) = (SELECT COUNT(*) FROM #pairs(m.metadata)
                                               WHERE t.key || '=' || t.value IN #list(metadata)))
   AND (CAST(:any_successor AS BIGINT) = 1 OR m.superseded_by IN #list(superseded_by))
   AND (CAST(:agent_id AS TEXT) IS NULL OR m.agent_id = CAST(:agent_id AS TEXT))
   AND (CAST(:run_id AS TEXT) IS NULL OR m.run_id = CAST(:run_id AS TEXT))
   AND (CAST(:actor_id AS TEXT) IS NULL OR m.actor_id = CAST(:actor_id AS TEXT))
   AND (CAST(:role AS TEXT) IS NULL OR m.role = CAST(:role AS TEXT))
   AND (CAST(:facet AS TEXT) IS NULL OR m.facet = CAST(:facet AS TEXT))
   AND (CAST(:thread_id AS TEXT) IS NULL OR m.thread_id = CAST(:thread_id AS TEXT))
   AND (CAST(:source_type AS TEXT) IS NULL OR m.source_type = CAST(:source_type AS TEXT))
   AND (CAST(:source_id AS TEXT) IS NULL OR m.source_id = CAST(:source_id AS TEXT))
   AND (CAST(:pinned AS BIGINT) IS NULL OR m.pinned = CAST(:pinned AS BIGINT))
   AND (CAST(:importance_min AS BIGINT) IS NULL OR m.importance >= CAST(:importance_min AS BIGINT))
   AND (CAST(:importance_max AS BIGINT) IS NULL OR m.importance <= CAST(:importance_max AS BIGINT))
   AND (CAST(:created_after AS BIGINT) IS NULL OR m.created_at > CAST(:created_after AS BIGINT))
   AND (CAST(:created_before AS BIGINT) IS NULL OR m.created_at < CAST(:created_before AS BIGINT))
   AND (CAST(:updated_after AS BIGINT) IS NULL OR m.updated_at > CAST(:updated_after AS BIGINT))
   AND (CAST(:updated_before AS BIGINT) IS NULL OR m.updated_at < CAST(:updated_before AS BIGINT))
   AND (CAST(:without_vector AS BIGINT) = 0
        OR NOT EXISTS (SELECT 1 FROM vectors v WHERE v.scope = m.scope AND v.unit = m.unit
                          AND v.generation = COALESCE(CAST(:generation AS BIGINT),
              (SELECT g.number FROM generations g WHERE g.state = 'current'), 1)))
   AND (CAST(:volatile AS BIGINT) = 0 OR (m.stability = 'volatile' AND m.expires_at IS NULL))
   AND (CAST(:only_profile AS BIGINT) = 0 OR m.id LIKE 'profile:%')
   AND (CAST(:after AS TEXT) IS NULL
        OR (m.created_at, m.unit) < (SELECT p.created_at, p.unit FROM memories p
                                    WHERE p.scope = :scope AND p.id = CAST(:after AS TEXT)))
 ORDER BY m.created_at DESC, m.unit DESC
 LIMIT CAST(:limit AS BIGINT)

-- name: versions
SELECT id, version, content, fields, recorded_at, invalidated_at
  FROM versions WHERE scope = :scope AND id IN #list(ids) ORDER BY id, version

-- name: links
SELECT a, b, strength, created_at, relation
  FROM links WHERE scope = :scope AND a IN #list(ids)
UNION
SELECT a, b, strength, created_at, relation
  FROM links #using(links_by_b) WHERE scope = :scope AND b IN #list(ids)
 ORDER BY 3 DESC, 1, 2

-- name: journal
SELECT #journal_columns
  FROM journal j
 WHERE scope = :scope
   AND (CAST(:subject AS TEXT) IS NULL OR subject = CAST(:subject AS TEXT))
   AND (CAST(:thread_id AS TEXT) IS NULL OR thread_id = CAST(:thread_id AS TEXT))
   AND (CAST(:after_revision AS BIGINT) IS NULL OR revision > CAST(:after_revision AS BIGINT))
   AND (CAST(:after_seq AS BIGINT) IS NULL OR seq > CAST(:after_seq AS BIGINT))
   AND (CAST(:events_only AS BIGINT) = 0 OR event IS NOT NULL)
 ORDER BY seq

-- name: journal_newest
SELECT #journal_columns
  FROM journal j
 WHERE scope = :scope
   AND (CAST(:subject AS TEXT) IS NULL OR subject = CAST(:subject AS TEXT))
   AND (CAST(:thread_id AS TEXT) IS NULL OR thread_id = CAST(:thread_id AS TEXT))
   AND (CAST(:after_revision AS BIGINT) IS NULL OR revision > CAST(:after_revision AS BIGINT))
   AND (CAST(:after_seq AS BIGINT) IS NULL OR seq > CAST(:after_seq AS BIGINT))
   AND (CAST(:events_only AS BIGINT) = 0 OR event IS NOT NULL)
 ORDER BY seq DESC
 LIMIT CAST(:limit AS BIGINT)

-- name: journal_news
-- Candidate rows for a delta header: the most important items first, the rows of an item together.
-- Without links, the old side of a replacement, conversation turns and resolved conflicts. An erased
-- item has a category in its last row only.
-- model/delta decides about the rest.
SELECT #journal_columns
  FROM journal j
  LEFT JOIN memories m ON m.scope = j.scope AND m.id = j.subject
 WHERE j.scope = :scope
   AND j.revision > CAST(:after_revision AS BIGINT)
   AND j.event IS NOT NULL AND j.event <> 'LINK'
   AND NOT (j.event = 'UPDATE' AND j.op <> 'create' AND j.op <> 'hold'
            AND (j.op = 'resolve' OR j.meta LIKE '%"superseded_by":%'
                 OR j.meta LIKE '%"turns":%' OR j.meta LIKE '%"described":%'))
   AND (CAST(:cleared AS BIGINT) = 1 OR m.id IS NULL OR m.sensitivity <> 'high')
   AND (CAST(:agent AS TEXT) IS NULL OR m.id IS NULL OR m.kind NOT IN ('rule', 'soul')
        OR m.agent_id IS NULL OR m.agent_id = CAST(:agent AS TEXT))
   AND (CAST(:sees_all AS BIGINT) = 1 OR COALESCE(m.category, j.category) IS NULL
        OR COALESCE(m.category, j.category) IN #list(seen_categories))
 ORDER BY CASE WHEN j.subject LIKE 'node:%' OR j.subject LIKE 'edge:%' THEN 1 ELSE 0 END,
          COALESCE(m.importance, 2) DESC, MAX(j.revision) OVER (PARTITION BY j.subject) DESC,
          j.subject, j.seq
 LIMIT CAST(:limit AS BIGINT)

-- name: count_memories
SELECT kind, category,
       CASE WHEN state = 'active' AND ends_at <= CAST(:now AS BIGINT) THEN 'expired' ELSE state END,
       COUNT(*)
  FROM memories WHERE scope = :scope
   AND (CAST(:cleared AS BIGINT) = 1 OR sensitivity <> 'high')
   AND (CAST(:agent AS TEXT) IS NULL OR kind NOT IN ('rule', 'soul')
        OR agent_id IS NULL OR agent_id = CAST(:agent AS TEXT))
   AND (CAST(:sees_all AS BIGINT) = 1 OR category IN #list(seen_categories))
 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3

-- name: count_links
SELECT COUNT(*) FROM links l WHERE l.scope = :scope
   AND (CAST(:everything AS BIGINT) = 1 OR NOT EXISTS
     (SELECT 1 FROM memories m WHERE m.scope = :scope AND m.id IN (l.a, l.b)
         AND ((CAST(:cleared AS BIGINT) = 0 AND m.sensitivity = 'high')
              OR (m.kind IN ('rule', 'soul') AND m.agent_id <> CAST(:agent AS TEXT))
              OR (CAST(:sees_all AS BIGINT) = 0 AND NOT (m.category IN #list(seen_categories))))))

-- name: loose_ends
SELECT
  (SELECT COUNT(*) FROM memories m WHERE m.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM terms t WHERE t.scope = :scope AND t.unit = m.unit)),
  (SELECT COUNT(*) FROM memories m WHERE m.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM versions v WHERE v.scope = :scope AND v.id = m.id AND v.version = m.version
        AND v.invalidated_at IS NULL AND v.content = m.content)),
  (SELECT COUNT(*) FROM terms t WHERE t.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM memories m WHERE m.scope = :scope AND m.unit = t.unit) AND NOT EXISTS
    (SELECT 1 FROM passages p WHERE p.scope = :scope AND p.unit = t.unit)),
  (SELECT COUNT(*) FROM vectors v WHERE v.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM memories m WHERE m.scope = :scope AND m.unit = v.unit) AND NOT EXISTS
    (SELECT 1 FROM passages p WHERE p.scope = :scope AND p.unit = v.unit)),
  (SELECT COUNT(*) FROM versions v WHERE v.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM memories m WHERE m.scope = :scope AND m.id = v.id)),
  (SELECT COUNT(*) FROM links l WHERE l.scope = :scope AND (NOT EXISTS
    (SELECT 1 FROM memories m WHERE m.scope = :scope AND m.id = l.a) OR NOT EXISTS
    (SELECT 1 FROM memories m WHERE m.scope = :scope AND m.id = l.b))),
  (SELECT COUNT(*) FROM reads r WHERE r.scope = :scope AND NOT EXISTS
    (SELECT 1 FROM memories m WHERE m.scope = :scope AND m.id = r.id)),
  (SELECT COUNT(*) FROM memories m WHERE m.scope = :scope AND m.conflict IS NOT NULL
      AND NOT EXISTS
    (SELECT 1 FROM held h WHERE h.scope = :scope AND h.conflict = m.conflict)),
  (SELECT COUNT(*) FROM held h
    WHERE h.scope = :scope AND COALESCE(h.beside, h.merged_into) IS NOT NULL AND NOT EXISTS
    (SELECT 1 FROM memories m WHERE m.scope = :scope AND m.id = COALESCE(h.beside, h.merged_into)))

-- name: count_operations
SELECT (ts / 86400000000) AS day, node, op, status, COUNT(*)
  FROM journal WHERE scope = :scope
 GROUP BY 1, 2, 3, 4

-- name: index_rows_all
SELECT #index_columns
  FROM memories m
 WHERE m.scope = :scope AND m.state = 'active' ORDER BY m.unit

-- name: index_rows_since
SELECT #index_columns
  FROM memories m
 WHERE m.scope = :scope AND m.seq > :after_seq ORDER BY m.unit

-- name: index_terms_all
SELECT unit, terms, traits FROM terms WHERE scope = :scope

-- name: index_terms_since
SELECT t.unit, t.terms, t.traits FROM terms t
 WHERE t.scope = :scope
   AND t.unit IN (SELECT m.unit FROM memories m WHERE m.scope = :scope AND m.seq > :after_seq)

-- name: index_vectors_all
SELECT unit, vector FROM vectors WHERE scope = :scope AND generation = :generation

-- name: index_vectors_since
SELECT v.unit, v.vector FROM vectors v
 WHERE v.scope = :scope AND v.generation = :generation
   AND v.unit IN (SELECT m.unit FROM memories m WHERE m.scope = :scope AND m.seq > :after_seq)

-- name: count_unbuilt
SELECT COUNT(*) FROM memories m
 WHERE m.scope = :scope AND NOT EXISTS
   (SELECT 1 FROM vectors v
     WHERE v.scope = :scope AND v.unit = m.unit AND v.generation = CAST(:generation AS BIGINT))

-- name: built_up_to
UPDATE scopes SET building = :generation, built_seq = :seq WHERE scope = :scope

-- name: remove_generations
DELETE FROM vectors
 WHERE scope = :scope AND unit BETWEEN :first AND :last AND generation NOT IN
   (SELECT g.number FROM generations g WHERE g.state IN ('current', 'building'))

-- name: receipts
SELECT id, at, items, scrubbed_at, found_in FROM receipts WHERE scope = :scope ORDER BY at, id

-- name: texts_of_memories
SELECT content, summary, questions, category, tags, metadata, evidence, facet, source_type,
       source_id, job_id, agent_id, run_id, actor_id, role, thread_id
  FROM memories WHERE scope = :scope

-- name: texts_of_versions
SELECT content, fields FROM versions WHERE scope = :scope

-- name: texts_of_terms
SELECT terms FROM terms WHERE scope = :scope

-- name: texts_of_held
SELECT content, fields, reason FROM held WHERE scope = :scope

-- name: texts_of_journal
SELECT category, thread_id, meta FROM journal WHERE scope = :scope

-- maintenance: statements about the store itself, which show no row's content

-- name: all_scopes
SELECT scope FROM scopes
 WHERE CAST(:tidied_before AS BIGINT) IS NULL OR tidied_at IS NULL
    OR tidied_at < CAST(:tidied_before AS BIGINT)
 ORDER BY COALESCE(tidied_at, 0), scope

-- name: unscrubbed
SELECT scope, id FROM receipts WHERE scrubbed_at IS NULL

-- name: finish_scrub
UPDATE receipts SET scrubbed_at = :scrubbed_at WHERE scope = :scope AND id = :id

-- name: generations
SELECT number, embedder, dimension, state FROM generations ORDER BY number

-- name: begin_generation
INSERT INTO generations (number, embedder, dimension, state)
VALUES (:number, :embedder, :dimension, :state) ON CONFLICT (number) DO NOTHING

-- name: move_generations
UPDATE generations SET state = :after WHERE state = :before AND number <> :but

-- name: set_generation
UPDATE generations SET state = :state WHERE number = :number

-- name: unbuilt_scopes
SELECT scope FROM scopes
 WHERE (units > 0 OR graph > 0) AND (building <> :generation OR built_seq <> seq) ORDER BY scope

-- name: drop_caches
UPDATE scopes SET epoch = epoch + 1

-- name: put_fact
INSERT INTO store_facts (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: fact
SELECT value FROM store_facts WHERE name = :name
