"""Storage: the port, shared SQL behaviour, and the SQLite and PostgreSQL dialects."""
