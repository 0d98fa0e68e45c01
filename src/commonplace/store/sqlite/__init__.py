"""SQLite: only what differs from the shared behaviour."""
