-- Statements about what an erasure leaves nowhere, for both databases; the notation is that of
-- queries.sql.

-- name: texts_of_items
SELECT content FROM versions WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT content FROM held WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT text FROM passages WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT content FROM graph_notes WHERE scope = :scope AND id IN #list(ids)

-- name: names_of_items
SELECT title FROM sources WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT name FROM nodes WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT aliases FROM nodes WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT description FROM nodes WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT description FROM edges WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT name FROM artifacts WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT name FROM storylines WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT description FROM storylines WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT name FROM macros WHERE scope = :scope AND id IN #list(ids)
UNION ALL
SELECT description FROM macros WHERE scope = :scope AND id IN #list(ids)

-- name: threads_of_items
SELECT thread_id FROM memories
 WHERE scope = :scope AND id IN #list(ids) AND thread_id IS NOT NULL
UNION
SELECT thread_id FROM sources
 WHERE scope = :scope AND id IN #list(ids) AND thread_id IS NOT NULL

-- name: threads_there
SELECT thread_id FROM memories WHERE scope = :scope AND thread_id IN #list(threads)
UNION
SELECT thread_id FROM sources WHERE scope = :scope AND thread_id IN #list(threads)

-- name: silence_threads
UPDATE journal SET thread_id = NULL WHERE scope = :scope AND thread_id IN #list(threads)

-- name: delete_cursors_of_threads
DELETE FROM cursors WHERE scope = :scope AND thread IN #list(threads)

-- name: delete_searches_of_threads
DELETE FROM recall_log WHERE scope = :scope AND thread IN #list(threads)

-- name: questions
SELECT id, asked FROM recall_log WHERE scope = :scope

-- name: delete_searches
DELETE FROM recall_log WHERE scope = :scope AND id IN #list(ids)
