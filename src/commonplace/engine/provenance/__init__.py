"""Provenance: which sources and people support a memory or a profile field."""
