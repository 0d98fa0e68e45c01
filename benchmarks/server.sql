-- What the benchmark asks a PostgreSQL server about itself.

-- maintenance

-- name: version
SHOW server_version

-- name: disk_bytes
SELECT pg_database_size(current_database())

-- name: analyse
ANALYZE

-- name: synced_commits
SELECT COALESCE(sum(fsyncs), 0) FROM pg_stat_io
 WHERE object = 'wal' AND backend_type = 'client backend'
