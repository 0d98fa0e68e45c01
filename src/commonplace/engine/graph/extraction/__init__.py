"""Extraction: a source becomes assertions in one reader's graph."""
