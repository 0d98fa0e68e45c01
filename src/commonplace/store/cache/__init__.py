"""In-process caches: per-scope indexes that catch up by sequence number."""
