"""Queries: need for a search, follow-ups, abbreviations, what a question asks for."""
