-- Statements about checksums, for both databases; the notation is that of queries.sql.

-- name: vectors_to_check
SELECT unit, generation, vector, checksum FROM vectors WHERE scope = :scope

-- name: graph_vectors_to_check
SELECT id, generation, vector, checksum FROM graph_vectors WHERE scope = :scope

-- name: versions_to_check
SELECT id, version, content, fields, checksum FROM versions WHERE scope = :scope

-- name: set_checksum_of_vector
UPDATE vectors SET checksum = :checksum
 WHERE scope = :scope AND unit = :unit AND generation = :generation

-- name: set_checksum_of_graph_vector
UPDATE graph_vectors SET checksum = :checksum
 WHERE scope = :scope AND id = :id AND generation = :generation

-- name: set_checksum_of_version
UPDATE versions SET checksum = :checksum
 WHERE scope = :scope AND id = :id AND version = :version

-- name: delete_damaged_vector
DELETE FROM vectors WHERE scope = :scope AND unit = :unit AND generation = :generation

-- name: delete_damaged_graph_vector
DELETE FROM graph_vectors WHERE scope = :scope AND id = :id AND generation = :generation
