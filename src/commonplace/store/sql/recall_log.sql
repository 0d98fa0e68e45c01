-- Statements about the recall log, for both databases; the notation is that of queries.sql.

-- name: last_turn
SELECT COALESCE(MAX(turn), 0) FROM recall_log WHERE scope = :scope AND thread = :thread

-- name: searches_in_turn
SELECT COUNT(*) FROM recall_log WHERE scope = :scope AND thread = :thread AND turn = :turn

-- name: items_there
SELECT id FROM memories WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT id FROM sources WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT id FROM nodes WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT id FROM edges WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT id FROM artifacts WHERE scope = :scope AND id IN #list(ids)

-- name: insert_search
INSERT INTO recall_log (scope, id, at, thread, turn, place, agent, verb, asked)
VALUES (:scope, :id, :at, :thread, :turn, :place, :agent, :verb, :asked)

-- name: insert_hit
INSERT INTO recall_hits (scope, id, place, item, number, score, why, parts)
VALUES (:scope, :id, :place, :item, :number, :score, :why, :parts)

-- name: searches
SELECT id, thread, turn, agent, at, verb, asked
  FROM recall_log
 WHERE scope = :scope
   AND (CAST(:thread AS TEXT) IS NULL OR thread = CAST(:thread AS TEXT))
   AND (CAST(:turn AS BIGINT) IS NULL OR turn = CAST(:turn AS BIGINT))
   AND (CAST(:agent AS TEXT) IS NULL OR agent = CAST(:agent AS TEXT))
   AND (CAST(:newest_turn AS BIGINT) = 0 OR turn =
     (SELECT MAX(l.turn) FROM recall_log l
       WHERE l.scope = :scope
         AND (CAST(:thread AS TEXT) IS NULL OR l.thread = CAST(:thread AS TEXT))
         AND (CAST(:agent AS TEXT) IS NULL OR l.agent = CAST(:agent AS TEXT))))
 ORDER BY at, thread, turn, place

-- name: hits_of_searches
SELECT id, item, number, score, why, parts
  FROM recall_hits WHERE scope = :scope AND id IN #list(ids) ORDER BY id, place

-- name: delete_searches_about
-- Deletes searches that found or quote an erased item: both would disclose it.
DELETE FROM recall_log
 WHERE scope = :scope
   AND (id IN (SELECT h.id FROM recall_hits h WHERE h.scope = :scope AND h.item IN #list(ids))
        OR EXISTS (SELECT 1 FROM versions v
                    WHERE v.scope = :scope AND v.id IN #list(ids)
                      AND REPLACE(recall_log.asked, v.content, '') <> recall_log.asked)
        OR EXISTS (SELECT 1 FROM held w
                    WHERE w.scope = :scope AND w.id IN #list(ids)
                      AND REPLACE(recall_log.asked, w.content, '') <> recall_log.asked)
        OR EXISTS (SELECT 1 FROM passages p
                    WHERE p.scope = :scope AND p.id IN #list(ids)
                      AND REPLACE(recall_log.asked, p.text, '') <> recall_log.asked))

-- name: delete_searches_about_passages
DELETE FROM recall_log
 WHERE scope = :scope
   AND (id IN (SELECT h.id FROM recall_hits h
                WHERE h.scope = :scope AND h.item = :id AND h.number IN #ints(numbers))
        OR EXISTS (SELECT 1 FROM passages p
                    WHERE p.scope = :scope AND p.id = :id AND p.number IN #ints(numbers)
                      AND REPLACE(recall_log.asked, p.text, '') <> recall_log.asked))

-- name: delete_hits_of_passages
DELETE FROM recall_hits WHERE scope = :scope AND item = :id AND number IN #ints(numbers)

-- name: delete_hits_of
DELETE FROM recall_hits WHERE scope = :scope AND item IN #list(ids)

-- name: delete_old_searches
DELETE FROM recall_log WHERE scope = :scope AND at < :before

-- name: delete_stray_hits
DELETE FROM recall_hits
 WHERE scope = :scope
   AND NOT EXISTS (SELECT 1 FROM recall_log l
                    WHERE l.scope = :scope AND l.id = recall_hits.id)

-- name: clear_recall_log
DELETE FROM recall_log WHERE scope = :scope

-- name: clear_recall_hits
DELETE FROM recall_hits WHERE scope = :scope

-- name: texts_of_recall_log
SELECT thread, agent, asked FROM recall_log WHERE scope = :scope
