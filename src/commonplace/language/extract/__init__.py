"""Extraction of people, things, relations and facts from a whole source, by rules."""
