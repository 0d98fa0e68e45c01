"""History: what changed, the journal's views, and reading as of an earlier moment."""
