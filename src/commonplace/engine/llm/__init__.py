"""Calls of language models: cache, daily budget, usage. Never inside a transaction."""
