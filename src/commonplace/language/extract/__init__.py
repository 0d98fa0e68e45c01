"""Extraction: the people, things, relations and facts that a whole source tells, by rules."""
