"""Queries: need for a search, follow-ups, abbreviations, expected answer of a question."""
